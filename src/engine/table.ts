/**
 * One indexed table of observed objects.
 *
 * Guarantees: a read of a running rule is tracked per entry and per index bucket. A change invalidates exactly the rules that read that
 * entry, or a bucket with changed members. Objects are immutable: `set` with the same object changes nothing, and a change is a new object.
 *
 * Cost: `get` and `bucket` take constant time, `select` sorts its bucket, a change takes time in proportion to the index values of the
 * object and the readers that it invalidates. An entry that does not exist costs memory only while a rule reads it. An index of `lazy` is
 * built when it is first used: until then it costs nothing.
 */
import type { Reactor } from './reactor.ts';
import { KeyedSource, Source, SourceMap } from './source.ts';
import { bucketOf, putInto, takeOut } from './bucket.ts';
import type { Watcher } from './watcher.ts';

const NO_VALUES: readonly string[] = [];

/** The values of an index that an object is filed under. */
export type IndexFunction<T> = (object: T) => readonly string[];

export type Indexes<T> = Readonly<Record<string, IndexFunction<T>>>;

export type TableListener<T> = (key: string, after: T | undefined, before: T | undefined) => void;

/** A table as rules see it: read-only. */
export interface ReadTable<T> {
  readonly name: string;
  get(key: string): T | undefined;
  has(key: string): boolean;
  /** Keys filed under a value of an index. A live set: do not keep it beyond the run. */
  bucket(index: string, value: string): ReadonlySet<string>;
  /** The objects of a bucket, in key order. */
  select(index: string, value: string): readonly T[];
  /** All keys. A rule that reads this runs again whenever an object is added or deleted: for small tables only. */
  keys(): ReadonlySet<string>;
}

/** Most values have one key: that is stored without a Set. */
interface Index<T> {
  readonly of: IndexFunction<T>;
  /** False until it is used. */
  built: boolean;
  readonly buckets: Map<string, string | Set<string>>;
  /** By value. */
  readonly watchers: Map<string, Set<Watcher>>;
  /** By value. */
  readonly sources: SourceMap;
}

class Slots<T> extends Map<string, Slot<T>> {
  height = 0;
}

class WholeTable extends Source {
  #height = 0;

  override get height(): number {
    return this.#height;
  }

  rise(height: number): void {
    this.#height = height;
  }
}

/** A key of the table: its object, or none while a rule waits for one, and the readers. One map for both, since there are very many. */
class Slot<T> extends Source {
  readonly #home: Slots<T>;
  readonly #key: string;
  object: T | undefined;

  constructor(home: Slots<T>, key: string, object: T | undefined) {
    super();
    this.#home = home;
    this.#key = key;
    this.object = object;
  }

  override get height(): number {
    return this.#home.height;
  }

  protected override onUnread(): void {
    if (this.object === undefined && this.#home.get(this.#key) === this) this.#home.delete(this.#key);
  }
}

export class Table<T> implements ReadTable<T> {
  readonly name: string;
  readonly #reactor: Reactor;
  readonly #slots = new Slots<T>();
  #size = 0;
  /** Kept up from the first call of `keys()` on, which rules make for small tables only. */
  #keys: Set<string> | undefined;
  readonly #indexes: ReadonlyMap<string, Index<T>>;
  readonly #all = new WholeTable();
  readonly #listeners: TableListener<T>[] = [];

  /** @param lazy indexes that are built when they are first used: until then they cost nothing */
  constructor(reactor: Reactor, name: string, indexes: Indexes<T> = {}, lazy: Indexes<T> = {}) {
    this.#reactor = reactor;
    this.name = name;
    const indexed = (of: IndexFunction<T>, built: boolean): Index<T> => ({
      of,
      built,
      buckets: new Map(),
      watchers: new Map(),
      sources: new SourceMap(),
    });
    this.#indexes = new Map([
      ...Object.entries(indexes).map(([index, of]) => [index, indexed(of, true)] as const),
      ...Object.entries(lazy).map(([index, of]) => [index, indexed(of, false)] as const),
    ]);
  }

  /** Readers of the table run after computations of a lower height: those that fill it. */
  rise(height: number): void {
    if (height <= this.#slots.height) return;
    this.#all.rise(height);
    this.#slots.height = height;
    for (const { sources } of this.#indexes.values()) sources.height = height;
  }

  get height(): number {
    return this.#slots.height;
  }

  get(key: string): T | undefined {
    let slot = this.#slots.get(key);
    if (this.#reactor.tracking) this.#reactor.track((slot ??= this.#slotFor(key, undefined)));
    return slot?.object;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  bucket(index: string, value: string): ReadonlySet<string> {
    const { buckets, sources } = this.#index(index);
    this.#read(sources, value);
    return bucketOf(buckets.get(value));
  }

  select(index: string, value: string): readonly T[] {
    const found: T[] = [];
    for (const key of [...this.bucket(index, value)].toSorted()) {
      const object = this.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  keys(): ReadonlySet<string> {
    this.#reactor.track(this.#all);
    return (this.#keys ??= new Set(Array.from(this.entries(), ([key]) => key)));
  }

  /** Number of objects, untracked. */
  get size(): number {
    return this.#size;
  }

  /** Entries, untracked: for callers outside of rules. */
  *entries(): Generator<[string, T]> {
    for (const [key, { object }] of this.#slots) if (object !== undefined) yield [key, object];
  }

  peek(key: string): T | undefined {
    return this.#slots.get(key)?.object;
  }

  peekBucket(index: string, value: string): ReadonlySet<string> {
    return bucketOf(this.#index(index).buckets.get(value));
  }

  /** The values of an index that an object is filed under. */
  valuesOf(index: string, object: T): readonly string[] {
    return this.#index(index).of(object);
  }

  set(key: string, object: T): void {
    const slot = this.#slots.get(key);
    const before = slot?.object;
    if (before === object) return;
    if (slot === undefined) this.#slotFor(key, object);
    else slot.object = object;
    for (const index of this.#indexes.values())
      if (index.built) this.#refile(index, key, before === undefined ? NO_VALUES : index.of(before), index.of(object));
    if (before === undefined) {
      this.#size++;
      this.#keys?.add(key);
      this.#reactor.touch(this.#all);
    }
    if (slot !== undefined) this.#reactor.touch(slot);
    for (const listener of this.#listeners) listener(key, object, before);
  }

  delete(key: string): void {
    const slot = this.#slots.get(key);
    const before = slot?.object;
    if (slot === undefined || before === undefined) return;
    slot.object = undefined;
    if (!slot.isRead) this.#slots.delete(key);
    this.#size--;
    this.#keys?.delete(key);
    for (const index of this.#indexes.values()) if (index.built) this.#refile(index, key, index.of(before), NO_VALUES);
    this.#reactor.touch(this.#all);
    this.#reactor.touch(slot);
    for (const listener of this.#listeners) listener(key, undefined, before);
  }

  /** Announces the keys of a bucket, then each that enters or leaves it, outside of any rule. @returns ends it */
  watchBucket(name: string, value: string, watcher: Watcher): () => void {
    const { buckets, watchers } = this.#index(name);
    for (const key of bucketOf(buckets.get(value))) watcher.enter(key);
    const present = watchers.get(value);
    if (present === undefined) watchers.set(value, new Set([watcher]));
    else present.add(watcher);
    return () => {
      const rest = watchers.get(value);
      rest?.delete(watcher);
      if (rest?.size === 0) watchers.delete(value);
    };
  }

  /** The listener is called after each change, in order of registration, outside of any rule. */
  onChange(listener: TableListener<T>): void {
    this.#listeners.push(listener);
  }

  /** All readers run again. */
  touchReaders(): void {
    this.#reactor.touch(this.#all);
    for (const slot of this.#slots.values()) this.#reactor.touch(slot);
    for (const { sources } of this.#indexes.values()) for (const source of sources.values()) this.#reactor.touch(source);
  }

  #slotFor(key: string, object: T | undefined): Slot<T> {
    const slot = new Slot<T>(this.#slots, key, object);
    this.#slots.set(key, slot);
    return slot;
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`table ${this.name} has no index ${name}`);
    if (index.built) return index;
    index.built = true;
    for (const [key, object] of this.entries()) for (const value of index.of(object)) putInto(index.buckets, value, key);
    return index;
  }

  #refile({ buckets, sources, watchers }: Index<T>, key: string, before: readonly string[], after: readonly string[]): void {
    for (const value of before) {
      if (after.includes(value)) continue;
      takeOut(buckets, value, key);
      this.#touch(sources, value);
      if (watchers.size > 0) for (const watcher of watchers.get(value) ?? []) watcher.leave(key);
    }
    for (const value of after) {
      if (before.includes(value)) continue;
      putInto(buckets, value, key);
      this.#touch(sources, value);
      if (watchers.size > 0) for (const watcher of watchers.get(value) ?? []) watcher.enter(key);
    }
  }

  #read(sources: SourceMap, key: string): void {
    if (!this.#reactor.tracking) return;
    this.#reactor.track(sources.get(key) ?? new KeyedSource(sources, key));
  }

  #touch(sources: ReadonlyMap<string, Source>, key: string): void {
    const source = sources.get(key);
    if (source !== undefined) this.#reactor.touch(source);
  }
}
