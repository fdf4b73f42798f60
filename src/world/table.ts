/**
 * One indexed table of observed objects. Reads made while a rule runs are remembered per entry and per index bucket;
 * a change disturbs exactly the rules that read that entry or a bucket whose membership changed.
 */
import type { Reactor } from './reactor.ts';
import { KeyedSource, Source } from './reactor.ts';
import { bucketOf, putInto, takeOut } from './bucket.ts';

const NO_VALUES: readonly string[] = [];

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

/** An object of the table, or the place of one that somebody looked for, with who read it. In one map: there are very many. */
class Place<T> extends Source {
  readonly #home: Map<string, Place<T>>;
  readonly #key: string;
  object: T | undefined;

  constructor(home: Map<string, Place<T>>, key: string, object: T | undefined) {
    super();
    this.#home = home;
    this.#key = key;
    this.object = object;
  }

  protected override abandoned(): void {
    if (this.object === undefined && this.#home.get(this.#key) === this) this.#home.delete(this.#key);
  }
}

export class Table<T> implements ReadTable<T> {
  readonly name: string;
  readonly #reactor: Reactor;
  readonly #places = new Map<string, Place<T>>();
  #size = 0;
  /** Kept once somebody asked for all keys, which rules do of small tables only. */
  #keys: Set<string> | undefined;
  readonly #indexes: ReadonlyMap<string, Index<T>>;
  readonly #all = new Source();
  readonly #listeners: TableListener<T>[] = [];

  constructor(reactor: Reactor, name: string, indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    this.#reactor = reactor;
    this.name = name;
    this.#indexes = new Map(Object.entries(indexes).map(([index, of]) => [index, { of, buckets: new Map(), sources: new Map() }]));
  }

  get(key: string): T | undefined {
    let place = this.#places.get(key);
    if (this.#reactor.tracking) this.#reactor.track((place ??= this.#placeFor(key, undefined)));
    return place?.object;
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

  /** Number of objects, not tracked. */
  get size(): number {
    return this.#size;
  }

  /** Entries without tracking: for those outside of rules. */
  *entries(): Generator<[string, T]> {
    for (const [key, { object }] of this.#places) if (object !== undefined) yield [key, object];
  }

  peek(key: string): T | undefined {
    return this.#places.get(key)?.object;
  }

  peekBucket(index: string, value: string): ReadonlySet<string> {
    return bucketOf(this.#index(index).buckets.get(value));
  }

  /** The values of an index that an object is filed under. */
  valuesOf(index: string, object: T): readonly string[] {
    return this.#index(index).of(object);
  }

  set(key: string, object: T): void {
    const place = this.#places.get(key);
    const before = place?.object;
    if (before === object) return;
    if (place === undefined) this.#placeFor(key, object);
    else place.object = object;
    for (const index of this.#indexes.values())
      this.#refile(index, key, before === undefined ? NO_VALUES : index.of(before), index.of(object));
    if (before === undefined) {
      this.#size++;
      this.#keys?.add(key);
      this.#reactor.touch(this.#all);
    }
    if (place !== undefined) this.#reactor.touch(place);
    for (const listener of this.#listeners) listener(key, object, before);
  }

  delete(key: string): void {
    const place = this.#places.get(key);
    const before = place?.object;
    if (place === undefined || before === undefined) return;
    place.object = undefined;
    if (!place.isRead) this.#places.delete(key);
    this.#size--;
    this.#keys?.delete(key);
    for (const index of this.#indexes.values()) this.#refile(index, key, index.of(before), NO_VALUES);
    this.#reactor.touch(this.#all);
    this.#reactor.touch(place);
    for (const listener of this.#listeners) listener(key, undefined, before);
  }

  /** Called after each change, in order of registration, outside of any rule. */
  onChange(listener: TableListener<T>): void {
    this.#listeners.push(listener);
  }

  #placeFor(key: string, object: T | undefined): Place<T> {
    const place = new Place<T>(this.#places, key, object);
    this.#places.set(key, place);
    return place;
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
