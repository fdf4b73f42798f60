/**
 * Dependency-tracked incremental computation.
 *
 * A `Source` is anything that can be read and can change: a table entry, an index bucket, a row, the result of a query.
 * A `Computation` is a function of sources. While it runs, what it reads is remembered; it runs again only when one of
 * those changed, and its readers are disturbed only when its value differs. So the cost of a change follows the change.
 *
 * Computations run lowest first (by height over the sources), so that one change usually runs each of them once. A read of
 * a computation that is due runs it at once, hence a reader never sees a stale value.
 */
import { equal } from './equal.ts';
import { Reading } from './reading.ts';

/** A computation as its sources and the reactor see it. */
export interface Reader {
  readonly height: number;
  /** What it read, or once read, has changed. */
  disturb(source: Source): void;
  refresh(): void;
}

/** Up to here a list is searched rather than a set kept: sources are very many, and a set costs 200 bytes and more. */
const FEW_READERS = 8;

function isList(readers: unknown): readers is readonly Reader[] {
  return Array.isArray(readers);
}

/** Readers are one, a list of exact length (one that grows by itself reserves room for sixteen more), or a set. */
export class Source {
  #readers: Reader | readonly Reader[] | ReadonlySet<Reader> | undefined;

  get height(): number {
    return 0;
  }

  get isRead(): boolean {
    return this.#readers !== undefined;
  }

  addReader(reader: Reader): void {
    const readers = this.#readers;
    if (readers === undefined) this.#readers = reader;
    else if (readers instanceof Set) readers.add(reader);
    else if (!isList(readers)) this.#readers = readers === reader ? reader : [readers as Reader, reader];
    else if (!readers.includes(reader)) this.#readers = readers.length < FEW_READERS ? [...readers, reader] : new Set([...readers, reader]);
  }

  removeReader(reader: Reader): void {
    const readers = this.#readers;
    if (readers instanceof Set) {
      readers.delete(reader);
      if (readers.size > 0) return;
    } else if (isList(readers)) {
      if (!readers.includes(reader)) return;
      const left = readers.filter((one) => one !== reader);
      this.#readers = left.length > 1 ? left : left[0];
      return;
    } else if (readers !== reader) return;
    this.#readers = undefined;
    this.abandoned();
  }

  disturbReaders(): void {
    const readers = this.#readers;
    if (readers instanceof Set || isList(readers)) for (const reader of readers) (reader as Reader).disturb(this);
    else (readers as Reader | undefined)?.disturb(this);
  }

  /** The last reader has left: whoever made the source may forget it. */
  protected abandoned(): void {}
}

/** A source that is kept in a map while somebody reads it. */
export class KeyedSource extends Source {
  readonly #home: Map<string, Source>;
  readonly #key: string;

  constructor(home: Map<string, Source>, key: string) {
    super();
    this.#home = home;
    this.#key = key;
    home.set(key, this);
  }

  protected override abandoned(): void {
    if (this.#home.get(this.#key) === this) this.#home.delete(this.#key);
  }
}

const NO_SOURCES: readonly Source[] = [];

/**
 * What `run` says of the sources it reads. There are several for each pod: a subclass keeps what it is about in fields, since closures
 * would cost more than the rest.
 */
export abstract class Computation<V> extends Source implements Reader {
  readonly #reactor: Reactor;
  #sources: readonly Source[] = NO_SOURCES;
  #value: V | undefined;
  #failure: { readonly error: unknown } | undefined;
  #height = 1;
  /** What it has read so far, while it runs. */
  #state: 'due' | 'fresh' | 'disposed' | Reading = 'due';

  constructor(reactor: Reactor) {
    super();
    this.#reactor = reactor;
    reactor.computations++;
  }

  protected abstract run(): V;

  /** Called with a value that differs. @returns what is kept of it */
  protected changed(value: V, before: V | undefined): V {
    void before;
    return value;
  }

  override get height(): number {
    return this.#height;
  }

  /** The value as of now; runs first when something it read has changed. */
  get(): V {
    if (typeof this.#state === 'object') throw new Error('a query reads its own result');
    this.refresh();
    this.#reactor.track(this);
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#value as V;
  }

  /** The value of the last run, not tracked; undefined when it never ran. */
  peek(): V | undefined {
    return this.#value;
  }

  /**
   * While it runs, a computation that it has read may turn out to be outdated by one further below that was due and is read only later: what
   * it made of the old value is not to stay.
   */
  disturb(source: Source): void {
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
    reading.leaveOthers();
    this.#conclude(outcome);
    if (!reading.outdated) return;
    this.#state = 'due';
    this.#reactor.enqueue(this);
  }

  /** A failure is kept like a value: readers get it thrown until a source changes. */
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

  /** Leaves the graph for good. */
  dispose(): void {
    if (this.#state === 'disposed') return;
    this.#state = 'disposed';
    this.#reactor.computations--;
    const before = this.#sources;
    this.#sources = NO_SOURCES;
    for (const source of before) source.removeReader(this);
  }
}

/** Of a function, for those that are few. */
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

/** How often computations may run for each that there is, within one turn: rules that follow each other come to rest after a few. */
const MOST_RUNS = 100;

export class Reactor {
  readonly #stack: Reading[] = [];
  readonly #levels: Reader[][] = [];
  #pending = 0;
  /** No level below this one has anything due. */
  #lowest = 0;
  /** How often computations ran: the measure of incremental cost, for tests and metrics. */
  runs = 0;
  /** How many there are. */
  computations = 0;

  /** Notes that the running computation (if any) read `source`. */
  track(source: Source): void {
    this.#stack.at(-1)?.take(source);
  }

  get tracking(): boolean {
    return this.#stack.length > 0;
  }

  /** Marks all readers of `source` as due. */
  touch(source: Source): void {
    source.disturbReaders();
  }

  enqueue(computation: Reader): void {
    const { height } = computation;
    (this.#levels[height] ??= []).push(computation);
    if (height < this.#lowest) this.#lowest = height;
    this.#pending++;
  }

  /** What is read from now on is taken by this run, until it leaves. */
  enter(run: Reading): void {
    this.#stack.push(run);
    this.runs++;
  }

  leave(): void {
    this.#stack.pop();
  }

  /**
   * Runs what is due until nothing is or `enough()` says to yield (asked between computations).
   * @returns true when nothing is due any more
   * @throws where rules go round in a circle, each undoing what another one has found: who never yields would not come back
   */
  settle(enough: () => boolean = () => false): boolean {
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

  get quiet(): boolean {
    return this.#pending === 0;
  }
}
