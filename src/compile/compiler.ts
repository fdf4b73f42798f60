/**
 * Runs the rules: one computation for each object a rule is over, run again only when something it read changed.
 */
import { Computation } from '../world/reactor.ts';
import type { World } from '../world/world.ts';
import type { Domain } from '../world/domain.ts';
import { Desired } from './desired.ts';
import type { Output } from './output.ts';

export interface Rule {
  readonly name: string;
  /** The keys this rule runs for: those of a table, some of them, or pairs of two. */
  readonly over: (world: World) => Domain;
  /** Pure: reads of `world` are remembered. Returns what should exist because of `key`. */
  readonly run: (world: World, key: string) => readonly Output[];
}

export interface RuleFailure {
  readonly rule: string;
  readonly key: string;
  readonly error: unknown;
}

const NOTHING: readonly Output[] = [];

export class Compiler {
  readonly desired = new Desired();
  readonly world: World;
  readonly #failed: (failure: RuleFailure) => void;
  readonly #recovered: () => void;
  /** By rule, by key. */
  readonly #runs = new Map<Rule, ReadonlyMap<string, Computation<unknown>>>();
  /** Rules that fail, by the key of the object they fail for. */
  readonly #failing = new Map<string, Set<string>>();

  /**
   * @param failed told when a rule throws (a bug); what it said last stays wanted, other objects go on
   * @param recovered told when a rule that failed for an object no longer does
   */
  constructor(world: World, rules: readonly Rule[], failed: (failure: RuleFailure) => void, recovered: () => void = () => undefined) {
    this.world = world;
    this.#failed = failed;
    this.#recovered = recovered;
    for (const rule of rules) this.#start(rule);
  }

  /**
   * Whether a rule fails for an object: then nobody knows what of it is not wanted. A process that starts anew has no last outputs
   * to go by.
   * @param owner owner text, `<kind>/<namespace>/<name>`
   */
  failsFor(owner: string): boolean {
    if (this.#failing.size === 0) return false;
    const key = owner.slice(owner.indexOf('/') + 1);
    return this.#failing.has(key.startsWith('/') ? key.slice(1) : key);
  }

  /** Runs a rule for a key now, where that is due: before its turn comes. */
  runNow(rule: Rule, key: string): void {
    this.#runs.get(rule)?.get(key)?.refresh();
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

  #start(rule: Rule): void {
    const running = new Map<string, RuleRun>();
    this.#runs.set(rule, running);
    const begin = (key: string): void => {
      const run = new RuleRun(this, rule, key);
      running.set(key, run);
      this.world.reactor.enqueue(run);
    };
    const end = (key: string): void => {
      running.get(key)?.end();
      running.delete(key);
    };
    rule.over(this.world).watch({ enter: begin, leave: end });
  }

  /** What a rule says of a key. One that throws says what it said before. */
  outputsOf(rule: Rule, key: string, before: readonly Output[]): readonly Output[] {
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

  /** It does not fail for this key, or is not run for it any more. */
  worksAgain(rule: Rule, key: string): void {
    if (this.#failing.size > 0) this.#note(rule.name, key, false);
  }
}

/** One rule for one key, as long as the key is in the rule's domain. Its value is what it says, with what it said before kept where equal. */
class RuleRun extends Computation<readonly Output[]> {
  readonly #compiler: Compiler;
  readonly #rule: Rule;
  readonly #key: string;
  #ended = false;

  constructor(compiler: Compiler, rule: Rule, key: string) {
    super(compiler.world.reactor);
    this.#compiler = compiler;
    this.#rule = rule;
    this.#key = key;
  }

  protected override run(): readonly Output[] {
    return this.#compiler.outputsOf(this.#rule, this.#key, this.peek() ?? NOTHING);
  }

  protected override changed(outputs: readonly Output[], before: readonly Output[] | undefined): readonly Output[] {
    return this.#ended ? outputs : this.#compiler.desired.replace(before ?? NOTHING, outputs);
  }

  end(): void {
    this.#ended = true;
    this.dispose();
    this.#compiler.worksAgain(this.#rule, this.#key);
    this.#compiler.desired.replace(this.peek() ?? NOTHING, NOTHING);
  }
}
