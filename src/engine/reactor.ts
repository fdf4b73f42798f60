/**
 * Dependency-tracked incremental computation.
 *
 * A `Source` (`source.ts`) is anything that can be read and can change: a table entry, an index bucket, a row, the result of a query.
 * A `Computation` is a pure function of sources, and is itself a source of its value.
 *
 * Guarantees:
 * - While a computation runs, the reactor records each source that it reads. It runs again only when one of these changed.
 * - Its readers are invalidated only when its value differs (`equal`). So the cost of a change follows the change, not the cluster.
 * - A read never returns a stale value: reading a computation that is due runs it at once.
 * - A function that throws keeps its error like a value: each reader gets it thrown. It runs again when a source that it read changes,
 *   and not before: there is no retry by time.
 *
 * Order: the lowest first, by height above the sources. So one change usually runs each computation once. A computation of which a
 * source changed while it ran, runs again.
 */
import { equal } from './equal.ts';
import { Reading } from './reading.ts';
import { type Reader, Source } from './source.ts';

const NO_SOURCES: readonly Source[] = [];

/**
 * The cached value of `run`, a pure function of the sources that it reads. `run` must read only tracked values: a change of anything else
 * does not run it again. There are several computations for each pod, so a subclass keeps its arguments in fields: a closure would take
 * more memory than the rest.
 */
export abstract class Computation<V> extends Source implements Reader {
  readonly #reactor: Reactor;
  #sources: readonly Source[] = NO_SOURCES;
  #value: V | undefined;
  #failure: { readonly error: unknown } | undefined;
  #height = 1;
  /** A `Reading` while it runs. */
  #state: 'due' | 'fresh' | 'disposed' | Reading = 'due';

  constructor(reactor: Reactor) {
    super();
    this.#reactor = reactor;
    reactor.computations++;
  }

  protected abstract run(): V;

  /** Called with a value that differs from the last one. @returns the value to store */
  protected changed(value: V, before: V | undefined): V {
    void before;
    return value;
  }

  override get height(): number {
    return this.#height;
  }

  /** The current value, tracked. Runs first if a source has changed. @throws the error of the last run, if that threw */
  get(): V {
    if (typeof this.#state === 'object') throw new Error('a query reads its own result');
    this.refresh();
    this.#reactor.track(this);
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#value as V;
  }

  /** The value of the last run, untracked; undefined before the first run. */
  peek(): V | undefined {
    return this.#value;
  }

  /** If a source that this run has read changes before the run ends, the computation runs again. */
  invalidate(source: Source): void {
    const state = this.#state;
    if (typeof state === 'object' && state.has(source)) state.outdated = true;
    if (state !== 'fresh') return;
    this.#state = 'due';
    this.#reactor.enqueue(this);
  }

  refresh(): void {
    if (this.#state !== 'due') return;
    const reading = new Reading(this, this.#sources);
    this.#state = reading;
    let outcome: { readonly value: V } | { readonly error: unknown };
    this.#reactor.enter(reading);
    try {
      outcome = { value: this.run() };
    } catch (error) {
      outcome = { error };
    } finally {
      this.#reactor.leave();
    }
    this.#state = 'fresh';
    this.#sources = reading.sources;
    let height = 0;
    for (const source of this.#sources) height = Math.max(height, source.height);
    this.#height = height + 1;
    reading.removeFromUnread();
    this.#conclude(outcome);
    if (!reading.outdated) return;
    this.#state = 'due';
    this.#reactor.enqueue(this);
  }

  /** An error is stored like a value: readers get it thrown until a source changes. */
  #conclude(outcome: { readonly value: V } | { readonly error: unknown }): void {
    const failed = this.#failure !== undefined;
    if ('error' in outcome) {
      this.#failure = outcome;
      if (!failed) this.#reactor.touch(this);
      return;
    }
    this.#failure = undefined;
    if (!failed && equal(this.#value, outcome.value)) return;
    this.#value = this.changed(outcome.value, this.#value);
    this.#reactor.touch(this);
  }

  /** Removes it from the graph for good. */
  dispose(): void {
    if (this.#state === 'disposed') return;
    this.#state = 'disposed';
    this.#reactor.computations--;
    const before = this.#sources;
    this.#sources = NO_SOURCES;
    for (const source of before) source.removeReader(this);
  }
}

/** A computation of a closure. Only for the few: see the cost above. */
export class Computed<V> extends Computation<V> {
  readonly #of: () => V;

  constructor(reactor: Reactor, of: () => V) {
    super(reactor);
    this.#of = of;
  }

  protected override run(): V {
    return this.#of();
  }
}

/** Limit of runs per existing computation and turn. Rules that depend on each other need a few runs each. */
const MOST_RUNS = 100;

/**
 * The queue of due computations, and the stack of running ones. Single-threaded and synchronous; it never runs a computation by itself,
 * only in `runDue`, or when one is read.
 *
 * Cost: one queue entry for each invalidated computation. `runDue` takes time in proportion to the computations that are due.
 */
export class Reactor {
  readonly #stack: Reading[] = [];
  readonly #levels: Reader[][] = [];
  #pending = 0;
  /** No level below this one has a due computation. */
  #lowest = 0;
  /** How often computations ran: the measure of incremental cost, for tests and metrics. */
  runs = 0;
  /** How many computations exist. */
  computations = 0;

  /** Records that the running computation, if there is one, read `source`. */
  track(source: Source): void {
    this.#stack.at(-1)?.take(source);
  }

  get tracking(): boolean {
    return this.#stack.length > 0;
  }

  /** Marks all readers of `source` as due. */
  touch(source: Source): void {
    source.invalidateReaders();
  }

  enqueue(computation: Reader): void {
    const { height } = computation;
    (this.#levels[height] ??= []).push(computation);
    if (height < this.#lowest) this.#lowest = height;
    this.#pending++;
  }

  /** Records each read for this run, until `leave`. */
  enter(run: Reading): void {
    this.#stack.push(run);
    this.runs++;
  }

  leave(): void {
    this.#stack.pop();
  }

  /**
   * Runs due computations until none is left, or until `enough()` returns true (called between computations).
   * @returns true if no computation is due any longer
   * @throws if rules run in a circle, each invalidating the other: without this limit the process would hang
   */
  runDue(enough: () => boolean = () => false): boolean {
    const begun = this.runs;
    const most = begun + MOST_RUNS * (this.computations + 1_000);
    while (this.#lowest < this.#levels.length) {
      const computation = this.#levels[this.#lowest]?.pop();
      if (computation === undefined) {
        this.#lowest++;
        continue;
      }
      this.#pending--;
      computation.refresh();
      if (this.runs > most)
        throw new Error(`rules go round in a circle: ${this.computations} computations ran ${this.runs - begun} times in one turn`);
      if (enough()) return this.#pending === 0;
    }
    return this.#pending === 0;
  }

  /** No computation is due. */
  get isIdle(): boolean {
    return this.#pending === 0;
  }
}
