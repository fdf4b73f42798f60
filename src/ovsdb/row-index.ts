import type { ColumnChange } from './row-change.ts';
import type { Atom, Row, Value } from './value.ts';

/** Rows by a key of the caller's choice; updated with every change. */
export interface ReplicaIndex {
  /** Any one row with the key. */
  first(key: string): Row | undefined;
  all(key: string): readonly Row[];
  count(key: string): number;
  keys(): Iterable<string>;
}

/** The keys of a row; undefined for a row that the index leaves out. */
export type KeyOf = (row: Row) => string | readonly string[] | undefined;

/** Most keys have one row: it is stored as it is, and a Set only for several rows. */
class Buckets implements ReplicaIndex {
  readonly #buckets = new Map<string, Row | Set<Row>>();

  first(key: string): Row | undefined {
    const bucket = this.#buckets.get(key);
    return bucket instanceof Set ? bucket.values().next().value : bucket;
  }

  all(key: string): readonly Row[] {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return [];
    return bucket instanceof Set ? [...bucket] : [bucket];
  }

  count(key: string): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return 0;
    return bucket instanceof Set ? bucket.size : 1;
  }

  keys(): Iterable<string> {
    return this.#buckets.keys();
  }

  put(key: string, row: Row): void {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined || bucket === row) this.#buckets.set(key, row);
    else if (bucket instanceof Set) bucket.add(row);
    else this.#buckets.set(key, new Set([bucket, row]));
  }

  take(key: string, row: Row): void {
    const bucket = this.#buckets.get(key);
    if (bucket === row) this.#buckets.delete(key);
    if (!(bucket instanceof Set)) return;
    bucket.delete(row);
    if (bucket.size === 1) this.#buckets.set(key, bucket.values().next().value!);
  }
}

/** What a table calls to update an index. Rows change in place, so keys are read before and after a change. */
export interface MaintainedIndex {
  readonly index: ReplicaIndex;
  added(row: Row): void;
  removed(row: Row): void;
  /** To be called before a row changes; the returned function, after the change. */
  changing(row: Row): (changed: ReadonlyMap<string, ColumnChange>) => void;
}

export function keyIndex(keyOf: KeyOf): MaintainedIndex {
  const buckets = new Buckets();
  const keysOf = (row: Row): readonly string[] => {
    const keys = keyOf(row);
    return keys === undefined ? [] : typeof keys === 'string' ? [keys] : keys;
  };
  return {
    index: buckets,
    added: (row) => keysOf(row).forEach((key) => buckets.put(key, row)),
    removed: (row) => keysOf(row).forEach((key) => buckets.take(key, row)),
    changing(row) {
      const before = keysOf(row);
      return () => {
        const after = keysOf(row);
        if (before.length === after.length && before.every((key, at) => key === after[at])) return;
        for (const key of before) buckets.take(key, row);
        for (const key of after) buckets.put(key, row);
      };
    },
  };
}

/** By the members of one column (the keys of a map): which switch has this port. One member's change costs one step. */
export function memberIndex(column: string): MaintainedIndex {
  const buckets = new Buckets();
  return {
    index: buckets,
    added: (row) => members(row[column]).forEach((member) => buckets.put(String(member), row)),
    removed: (row) => members(row[column]).forEach((member) => buckets.take(String(member), row)),
    changing: (row) => (changed) => {
      const change = changed.get(column);
      if (change === undefined) return;
      for (const member of members(change.added === undefined ? change.before : change.removed)) buckets.take(String(member), row);
      for (const member of members(change.added === undefined ? row[column] : change.added)) buckets.put(String(member), row);
    },
  };
}

function members(value: Value | undefined): readonly Atom[] {
  if (value === null || value === undefined) return [];
  if (value instanceof Set || value instanceof Map) return [...(value as ReadonlySet<Atom>).keys()];
  return [value as Atom];
}
