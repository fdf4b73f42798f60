/**
 * One indexed table of observed objects. Reads made while a rule runs are remembered per entry and per index bucket;
 * a change disturbs exactly the rules that read that entry or a bucket whose membership changed.
 */
import type { Reactor } from './reactor.ts';
import type { Source } from './reactor.ts';
import { KeyedSource } from './reactor.ts';

const NOTHING: ReadonlySet<string> = new Set();

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

export class Table<T> implements ReadTable<T> {
  readonly name: string;
  readonly #reactor: Reactor;
  readonly #rows = new Map<string, T>();
  readonly #keys = new Set<string>();
  readonly #indexes: ReadonlyMap<string, { readonly of: IndexFunction<T>; readonly buckets: Map<string, Set<string>> }>;
  readonly #sources = new Map<string, Source>();
  readonly #listeners: TableListener<T>[] = [];

  constructor(reactor: Reactor, name: string, indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    this.#reactor = reactor;
    this.name = name;
    this.#indexes = new Map(Object.entries(indexes).map(([index, of]) => [index, { of, buckets: new Map<string, Set<string>>() }]));
  }

  get(key: string): T | undefined {
    this.#read('=' + key);
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  bucket(index: string, value: string): ReadonlySet<string> {
    this.#read(index + '=' + value);
    return this.#index(index).buckets.get(value) ?? NOTHING;
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
    this.#read('*');
    return this.#keys;
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
    return this.#index(index).buckets.get(value) ?? NOTHING;
  }

  set(key: string, object: T): void {
    const before = this.#rows.get(key);
    if (before === object) return;
    this.#rows.set(key, object);
    for (const [name, { of, buckets }] of this.#indexes)
      this.#refile(name, buckets, key, before === undefined ? [] : of(before), of(object));
    if (before === undefined) {
      this.#keys.add(key);
      this.#touch('*');
    }
    this.#touch('=' + key);
    for (const listener of this.#listeners) listener(key, object, before);
  }

  delete(key: string): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#rows.delete(key);
    this.#keys.delete(key);
    for (const [name, { of, buckets }] of this.#indexes) this.#refile(name, buckets, key, of(before), []);
    this.#touch('*');
    this.#touch('=' + key);
    for (const listener of this.#listeners) listener(key, undefined, before);
  }

  /** Called after each change, in order of registration, outside of any rule. */
  onChange(listener: TableListener<T>): void {
    this.#listeners.push(listener);
  }

  #index(name: string): { readonly of: IndexFunction<T>; readonly buckets: Map<string, Set<string>> } {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`table ${this.name} has no index ${name}`);
    return index;
  }

  #refile(index: string, buckets: Map<string, Set<string>>, key: string, before: readonly string[], after: readonly string[]): void {
    for (const value of before) {
      if (after.includes(value)) continue;
      const bucket = buckets.get(value);
      bucket?.delete(key);
      if (bucket?.size === 0) buckets.delete(value);
      this.#touch(index + '=' + value);
    }
    for (const value of after) {
      if (before.includes(value)) continue;
      let bucket = buckets.get(value);
      if (bucket === undefined) buckets.set(value, (bucket = new Set()));
      bucket.add(key);
      this.#touch(index + '=' + value);
    }
  }

  #read(what: string): void {
    if (!this.#reactor.tracking) return;
    this.#reactor.track(this.#sources.get(what) ?? new KeyedSource(this.#sources, what));
  }

  #touch(what: string): void {
    const source = this.#sources.get(what);
    if (source !== undefined) this.#reactor.touch(source);
  }
}
