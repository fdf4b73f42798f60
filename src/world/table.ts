/**
 * One indexed table of observed objects. Reads made while a rule runs are remembered per entry and per index bucket;
 * a change disturbs exactly the rules that read that entry or a bucket whose membership changed.
 */
import type { Reactor } from './reactor.ts';
import { KeyedSource, Source } from './reactor.ts';
import { bucketOf, putInto, takeOut } from './bucket.ts';

/** Says which values of an index an object is filed under. */
export type IndexFunction<T> = (object: T) => readonly string[];

export type TableListener<T> = (key: string, after: T | undefined, before: T | undefined) => void;

/** What a rule may do with a table: look. */
export interface ReadTable<T> {
  readonly name: string;
  get(key: string): T | undefined;
  has(key: string): boolean;
  /** Keys filed under a value of an index. Live: do not keep it beyond the run. */
  bucket(index: string, value: string): ReadonlySet<string>;
  /** The objects of a bucket, in key order. */
  select(index: string, value: string): readonly T[];
  /** All keys. A rule that reads this runs whenever any object comes or goes: for small tables only. */
  keys(): ReadonlySet<string>;
}

/** Most values have one key: that is held bare, and a Set only where there are more. */
interface Index<T> {
  readonly of: IndexFunction<T>;
  readonly buckets: Map<string, string | Set<string>>;
  /** By value. */
  readonly sources: Map<string, Source>;
}

export class Table<T> implements ReadTable<T> {
  readonly name: string;
  readonly #reactor: Reactor;
  readonly #rows = new Map<string, T>();
  /** Kept once somebody asked for all keys, which rules do of small tables only. */
  #keys: Set<string> | undefined;
  readonly #indexes: ReadonlyMap<string, Index<T>>;
  /** By key of the entry that is read. */
  readonly #sources = new Map<string, Source>();
  readonly #all = new Source();
  readonly #listeners: TableListener<T>[] = [];

  constructor(reactor: Reactor, name: string, indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    this.#reactor = reactor;
    this.name = name;
    this.#indexes = new Map(Object.entries(indexes).map(([index, of]) => [index, { of, buckets: new Map(), sources: new Map() }]));
  }

  get(key: string): T | undefined {
    this.#read(this.#sources, key);
    return this.#rows.get(key);
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
    return (this.#keys ??= new Set(this.#rows.keys()));
  }

  /** Number of objects, not tracked. */
  get size(): number {
    return this.#rows.size;
  }

  /** Entries without tracking: for those outside of rules. */
  entries(): IterableIterator<[string, T]> {
    return this.#rows.entries();
  }

  peek(key: string): T | undefined {
    return this.#rows.get(key);
  }

  peekBucket(index: string, value: string): ReadonlySet<string> {
    return bucketOf(this.#index(index).buckets.get(value));
  }

  /** The values of an index that an object is filed under. */
  valuesOf(index: string, object: T): readonly string[] {
    return this.#index(index).of(object);
  }

  set(key: string, object: T): void {
    const before = this.#rows.get(key);
    if (before === object) return;
    this.#rows.set(key, object);
    for (const index of this.#indexes.values()) this.#refile(index, key, before === undefined ? [] : index.of(before), index.of(object));
    if (before === undefined) {
      this.#keys?.add(key);
      this.#reactor.touch(this.#all);
    }
    this.#touch(this.#sources, key);
    for (const listener of this.#listeners) listener(key, object, before);
  }

  delete(key: string): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#rows.delete(key);
    this.#keys?.delete(key);
    for (const index of this.#indexes.values()) this.#refile(index, key, index.of(before), []);
    this.#reactor.touch(this.#all);
    this.#touch(this.#sources, key);
    for (const listener of this.#listeners) listener(key, undefined, before);
  }

  /** Called after each change, in order of registration, outside of any rule. */
  onChange(listener: TableListener<T>): void {
    this.#listeners.push(listener);
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`table ${this.name} has no index ${name}`);
    return index;
  }

  #refile({ buckets, sources }: Index<T>, key: string, before: readonly string[], after: readonly string[]): void {
    for (const value of before) {
      if (after.includes(value)) continue;
      takeOut(buckets, value, key);
      this.#touch(sources, value);
    }
    for (const value of after) {
      if (before.includes(value)) continue;
      putInto(buckets, value, key);
      this.#touch(sources, value);
    }
  }

  #read(sources: Map<string, Source>, key: string): void {
    if (!this.#reactor.tracking) return;
    this.#reactor.track(sources.get(key) ?? new KeyedSource(sources, key));
  }

  #touch(sources: ReadonlyMap<string, Source>, key: string): void {
    const source = sources.get(key);
    if (source !== undefined) this.#reactor.touch(source);
  }
}
