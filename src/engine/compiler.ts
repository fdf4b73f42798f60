/** The engine of the rules: one computation for each key of a rule's domain. */
import { Computation } from './reactor.ts';
import type { Reactor } from './reactor.ts';
import type { Domain } from './domain.ts';
import type { AnyOutput, Outputs } from './outputs.ts';

/**
 * A rule: a pure function of the World that runs once for each key of its domain and returns outputs.
 *
 * Guarantees:
 * - It runs when its key enters the domain, and again only after a source that it read has changed. When the key leaves, its outputs are
 *   withdrawn.
 * - One run sees one state of the World, since it is synchronous, and no query returns a stale value. Between two runs the World may
 *   change.
 * - Outputs equal to those of its last run have no effect.
 * - If it throws (a bug), its last outputs stay in effect for that key, other keys and rules go on, and nothing that belongs to the object
 *   is collected. It runs again when a source changes.
 *
 * A rule must not depend on the order of rules, on time except for `world.deadlines`, or on anything outside of the World.
 *
 * Cost: a run for each change of what it reads. So it reads projections (queries) rather than whole objects, and no `keys()` of a large
 * table.
 */
export interface Rule<W, O extends AnyOutput> {
  /** For logs, metrics and ownership keys. */
  readonly name: string;
  /** The keys of a table, some of them, or pairs of two tables. */
  readonly over: (world: W) => Domain;
  /** Returns the outputs for `key`; reads of `world` are tracked. */
  readonly run: (world: W, key: string) => readonly O[];
  /** While the list that takes longest is still read: the key to run for, of an object of its kind (`listedLast`) that came. */
  readonly early?: (world: W, listed: string) => string | undefined;
}

export interface RuleFailure {
  readonly rule: string;
  readonly key: string;
  readonly error: unknown;
}

const NOTHING: readonly never[] = [];

/** What the engine needs of a World. */
interface Reactive {
  readonly reactor: Reactor;
}

/**
 * Runs rules over a World, and hands their outputs to the desired state. It knows neither the tables of the World nor the kinds of outputs.
 */
export class Compiler<W extends Reactive, O extends AnyOutput> {
  readonly world: W;
  readonly #outputs: Outputs<O>;
  readonly #failed: (failure: RuleFailure) => void;
  readonly #recovered: () => void;
  /** By rule, by key. */
  readonly #runs = new Map<Rule<W, O>, ReadonlyMap<string, Computation<unknown>>>();
  /** Names of failing rules, by the key of the object that they fail for. */
  readonly #failing = new Map<string, Set<string>>();

  /**
   * @param outputs the desired state: gets what the rules emit
   * @param failed called when a rule throws (a bug): its last outputs stay in effect, other objects go on
   * @param recovered called when a rule that failed for an object succeeds again
   */
  constructor(
    world: W,
    outputs: Outputs<O>,
    rules: readonly Rule<W, O>[],
    failed: (failure: RuleFailure) => void,
    recovered: () => void = () => undefined,
  ) {
    this.world = world;
    this.#outputs = outputs;
    this.#failed = failed;
    this.#recovered = recovered;
    for (const rule of rules) this.#start(rule);
  }

  /**
   * Whether a rule fails for an object: then nothing of the object may be collected, since its desired state is unknown. After a restart
   * there are no last outputs.
   * @param owner owner text, `<kind>/<namespace>/<name>`
   */
  failsFor(owner: string): boolean {
    if (this.#failing.size === 0) return false;
    const key = owner.slice(owner.indexOf('/') + 1);
    return this.#failing.has(key.startsWith('/') ? key.slice(1) : key);
  }

  /** Runs rules for an object of the list that takes longest, if they are due, before their turn. */
  runEarly(listed: string): void {
    for (const [{ early }, runs] of this.#runs) {
      const key = early?.(this.world, listed);
      if (key !== undefined) runs.get(key)?.refresh();
    }
  }

  #note(rule: string, key: string, fails: boolean): void {
    // The key of a pair names both of its objects.
    for (const part of key.split('\n')) {
      const rules = this.#failing.get(part);
      if (fails) {
        if (rules === undefined) this.#failing.set(part, new Set([rule]));
        else rules.add(rule);
      } else if (rules?.delete(rule) === true) {
        if (rules.size === 0) this.#failing.delete(part);
        this.#recovered();
      }
    }
  }

  #start(rule: Rule<W, O>): void {
    const running = new Map<string, RuleRun<W, O>>();
    this.#runs.set(rule, running);
    const begin = (key: string): void => {
      const run = new RuleRun<W, O>(this, rule, key);
      running.set(key, run);
      this.world.reactor.enqueue(run);
    };
    const end = (key: string): void => {
      running.get(key)?.end();
      running.delete(key);
    };
    rule.over(this.world).watch({ enter: begin, leave: end });
  }

  /** Runs a rule for a key. @returns its outputs; those of its last run if it throws */
  outputsOf(rule: Rule<W, O>, key: string, before: readonly O[]): readonly O[] {
    try {
      const outputs = rule.run(this.world, key);
      this.worksAgain(rule, key);
      return outputs;
    } catch (error) {
      this.#note(rule.name, key, true);
      this.#failed({ rule: rule.name, key, error });
      return before;
    }
  }

  /** The outputs of a rule for a key have changed. @returns those in effect: equal ones stay the same objects */
  replace(before: readonly O[], after: readonly O[]): readonly O[] {
    return this.#outputs.replace(before, after);
  }

  /** A rule succeeded for a key, or no longer runs for it. */
  worksAgain(rule: Rule<W, O>, key: string): void {
    if (this.#failing.size > 0) this.#note(rule.name, key, false);
  }
}

/** One rule for one key, as long as the key is in the rule's domain. Its value is the outputs; equal ones of the last run are kept. */
class RuleRun<W extends Reactive, O extends AnyOutput> extends Computation<readonly O[]> {
  readonly #compiler: Compiler<W, O>;
  readonly #rule: Rule<W, O>;
  readonly #key: string;
  #ended = false;

  constructor(compiler: Compiler<W, O>, rule: Rule<W, O>, key: string) {
    super(compiler.world.reactor);
    this.#compiler = compiler;
    this.#rule = rule;
    this.#key = key;
  }

  protected override run(): readonly O[] {
    return this.#compiler.outputsOf(this.#rule, this.#key, this.peek() ?? NOTHING);
  }

  protected override changed(outputs: readonly O[], before: readonly O[] | undefined): readonly O[] {
    return this.#ended ? outputs : this.#compiler.replace(before ?? NOTHING, outputs);
  }

  end(): void {
    this.#ended = true;
    this.dispose();
    this.#compiler.worksAgain(this.#rule, this.#key);
    this.#compiler.replace(this.peek() ?? NOTHING, NOTHING);
  }
}
