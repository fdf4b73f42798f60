/** A derived table: rules fill it, and others read it. */
import type { Domain } from './domain.ts';
import { Computation } from './reactor.ts';
import type { Reactor } from './reactor.ts';
import type { Source } from './source.ts';
import type { Indexes, ReadTable, TableListener } from './table.ts';
import { Table } from './table.ts';
import type { Watcher } from './watcher.ts';

/**
 * Defines an indexed table by a pure function of the World that runs for each key of a domain and returns the entry, or undefined for none.
 *
 * Guarantees: `entry` runs again only when a source that it read has changed; readers of the table run again only if an entry that they
 * read differs, or a bucket that they read has other keys. A read never returns a stale entry. If `entry` throws (a bug), the last entry
 * stays, and each reader of the table gets the error until it succeeds again. A table whose entries read the table itself is an error.
 *
 * Cost: one computation and one entry for each key, from the first use of the table on. An index costs nothing before its first use.
 */
export interface TableDefinition<World, T> {
  /** For error messages and profiles. */
  readonly name: string;
  /** Index of the definition among all definitions. */
  readonly index: number;
  readonly over: (world: World) => Domain;
  readonly entry: (world: World, key: string) => T | undefined;
  readonly indexes: Indexes<T>;
}

/** What a derived table needs of the World. */
export interface TableHost {
  readonly reactor: Reactor;
}

export class DerivedTable<T> implements ReadTable<T> {
  readonly name: string;
  readonly #world: TableHost;
  readonly #table: Table<T>;
  readonly #entryOf: (key: string) => T | undefined;
  readonly #runs = new Map<string, EntryRun<T>>();
  readonly #due = new Set<EntryRun<T>>();
  readonly #failures = new Map<string, unknown>();
  #refreshing = false;

  constructor(world: TableHost, { name, over, entry, indexes }: TableDefinition<never, T>) {
    this.name = name;
    this.#world = world;
    this.#table = new Table<T>(world.reactor, name, {}, indexes);
    this.#entryOf = (key) => entry(world as never, key);
    over(world as never).watch({ enter: (key) => this.#enter(key), leave: (key) => this.#leave(key) });
  }

  get(key: string): T | undefined {
    this.#runs.get(key)?.refresh();
    return this.#sound(this.#table.get(key));
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  bucket(index: string, value: string): ReadonlySet<string> {
    return this.#sound(this.#fresh().bucket(index, value));
  }

  select(index: string, value: string): readonly T[] {
    return this.#sound(this.#fresh().select(index, value));
  }

  keys(): ReadonlySet<string> {
    return this.#sound(this.#fresh().keys());
  }

  /** As it was last computed, untracked. */
  peek(key: string): T | undefined {
    return this.#table.peek(key);
  }

  /** As it was last computed, untracked. */
  peekBucket(index: string, value: string): ReadonlySet<string> {
    return this.#table.peekBucket(index, value);
  }

  /** Entries as they were last computed, untracked. */
  entries(): Generator<[string, T]> {
    return this.#table.entries();
  }

  watchBucket(index: string, value: string, watcher: Watcher): () => void {
    this.refresh();
    return this.#table.watchBucket(index, value, watcher);
  }

  /** The listener is called after each change of an entry, as it is computed. */
  onChange(listener: TableListener<T>): void {
    this.#table.onChange(listener);
  }

  get height(): number {
    return this.#table.height;
  }

  /** Runs what is due. */
  refresh(): void {
    if (this.#refreshing) throw new Error(`the table ${this.name} reads itself`);
    this.#refreshing = true;
    try {
      for (const run of this.#due) run.refresh();
    } finally {
      this.#refreshing = false;
    }
  }

  #fresh(): Table<T> {
    this.refresh();
    return this.#table;
  }

  /** The value that was read; after the read, so that the reader runs again once no entry throws. */
  #sound<V>(read: V): V {
    for (const error of this.#failures.values()) throw error;
    return read;
  }

  #enter(key: string): void {
    const run = new EntryRun<T>(this.#world.reactor, this, key);
    this.#runs.set(key, run);
    this.#due.add(run);
    this.#world.reactor.enqueue(run);
  }

  #leave(key: string): void {
    const run = this.#runs.get(key);
    if (run === undefined) return;
    this.#runs.delete(key);
    this.#due.delete(run);
    this.#failures.delete(key);
    run.dispose();
    this.#table.delete(key);
  }

  /** Called by the computation of an entry. @returns the last entry if it throws */
  run(run: EntryRun<T>, key: string): T | undefined {
    this.#due.delete(run);
    try {
      const entry = this.#entryOf(key);
      if (this.#failures.delete(key)) this.#table.touchReaders();
      return entry;
    } catch (error) {
      const isFirst = this.#failures.size === 0;
      this.#failures.set(key, error);
      if (isFirst) this.#table.touchReaders();
      return run.peek();
    }
  }

  take(key: string, entry: T | undefined): void {
    if (entry === undefined) this.#table.delete(key);
    else this.#table.set(key, entry);
  }

  isDue(run: EntryRun<T>): void {
    this.#due.add(run);
  }

  rise(height: number): void {
    this.#table.rise(height);
  }
}

/** The entry of one key. */
class EntryRun<T> extends Computation<T | undefined> {
  readonly #table: DerivedTable<T>;
  readonly #key: string;

  constructor(reactor: Reactor, table: DerivedTable<T>, key: string) {
    super(reactor);
    this.#table = table;
    this.#key = key;
  }

  protected override run(): T | undefined {
    return this.#table.run(this, this.#key);
  }

  protected override changed(entry: T | undefined): T | undefined {
    this.#table.take(this.#key, entry);
    return entry;
  }

  override refresh(): void {
    super.refresh();
    this.#table.rise(this.height);
  }

  override invalidate(source: Source): void {
    super.invalidate(source);
    this.#table.isDue(this);
  }
}
