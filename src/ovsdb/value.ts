import type { Uuid } from './uuid.ts';

/** One atom. Integers beyond 2^53 lose their last digits, as in any JSON of JavaScript. A UUID is a {@link Uuid}. */
export type Atom = string | number | boolean;

/**
 * A column's value as rows hold it; which of the shapes it is follows from the column's type alone (see `ColumnKind`).
 * Sets and maps are live: they change in place as updates come in.
 */
export type Value = Atom | null | ReadonlySet<Atom> | ReadonlyMap<Atom, Atom>;

/** A row: its UUID and the requested columns. */
export interface Row {
  readonly _uuid: Uuid;
  readonly [column: string]: Value;
}

/** A value as operations take it: also a list for a set, and a plain object for a map with text as keys. */
export type InputValue = Value | readonly Atom[] | Readonly<Record<string, Atom>>;

/** Columns of a row as operations take them. Columns that are undefined are left out. */
export type InputRow = Readonly<Record<string, InputValue | undefined>>;

/** Equality of two values of one column: sets and maps by their contents. */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof Set && b instanceof Set) {
    if (a.size !== b.size) return false;
    for (const atom of a) if (!b.has(atom)) return false;
    return true;
  }
  if (a instanceof Map && b instanceof Map) {
    if (a.size !== b.size) return false;
    for (const [key, value] of a) if (b.get(key) !== value) return false;
    return true;
  }
  return false;
}
