import { decodeMembers, decodePairs, decodeValue, defaultValue, emptyMap, emptySet } from './decode.ts';
import type { ColumnChange } from './row-change.ts';
import type { ColumnSchema } from './schema.ts';
import type { Uuid } from './uuid.ts';
import type { Atom, Value } from './value.ts';

/** A row that the replica may change. */
export interface MutableRow {
  _uuid: Uuid;
  [column: string]: Value;
}

export type JsonRow = Readonly<Record<string, unknown>>;

/**
 * A row from its wire form; columns that are left out have their default. The columns' order is fixed, so that all rows of a table share a
 * shape.
 */
export function decodeRow(uuid: Uuid, columns: Iterable<ColumnSchema>, json: JsonRow): MutableRow {
  const row: MutableRow = { _uuid: uuid };
  for (const column of columns) {
    const value = json[column.name];
    row[column.name] = value === undefined ? defaultValue(column) : decodeValue(column, value);
  }
  return row;
}

/**
 * Applies a column's difference as update2 and update3 write it (ovsdb-server(7) section 4.1.14): the new value of a column that
 * holds at most one; else the members that are in one of the two sets only, or the pairs that are new, gone or have a new value.
 */
export function applyDifference(row: MutableRow, column: ColumnSchema, json: unknown): ColumnChange | undefined {
  if (column.max === 1) return replaceValue(row, column.name, decodeValue(column, json));
  if (column.kind === 'map') return toggleMapPairs(row, column.name, decodePairs(column, json));
  return toggleMembers(row, column.name, decodeMembers(column.key, json));
}

/** Gives a column a new value, keeping its set or map and changing that in place. */
export function replaceValue(row: MutableRow, name: string, next: Value): ColumnChange | undefined {
  const value = row[name];
  if (next instanceof Set && (value === undefined || value instanceof Set)) {
    const old: ReadonlySet<Atom> = value ?? emptySet;
    row[name] = old;
    return toggleMembers(row, name, differingMembers(old, next as ReadonlySet<Atom>));
  }
  if (next instanceof Map && (value === undefined || value instanceof Map)) {
    const old: ReadonlyMap<Atom, Atom> = value ?? emptyMap;
    row[name] = old;
    return toggleMapPairs(row, name, differingPairs(old, next as ReadonlyMap<Atom, Atom>));
  }
  if (value === next) return undefined;
  row[name] = next;
  return { before: value ?? null };
}

function toggleMembers(row: MutableRow, name: string, members: readonly Atom[]): ColumnChange | undefined {
  if (members.length === 0) return undefined;
  const set = row[name] === emptySet ? new Set<Atom>() : (row[name] as Set<Atom>);
  row[name] = set;
  const added = new Set<Atom>();
  const removed = new Set<Atom>();
  for (const member of members) {
    if (set.delete(member)) {
      removed.add(member);
    } else {
      added.add(member);
      set.add(member);
    }
  }
  return { added, removed };
}

function toggleMapPairs(row: MutableRow, name: string, pairs: readonly (readonly [Atom, Atom])[]): ColumnChange | undefined {
  if (pairs.length === 0) return undefined;
  const map = row[name] === emptyMap ? new Map<Atom, Atom>() : (row[name] as Map<Atom, Atom>);
  row[name] = map;
  const added = new Map<Atom, Atom>();
  const removed = new Map<Atom, Atom>();
  for (const [key, value] of pairs) {
    const old = map.get(key);
    if (old !== undefined) removed.set(key, old);
    if (old === value) {
      map.delete(key);
    } else {
      added.set(key, value);
      map.set(key, value);
    }
  }
  return { added, removed };
}

function differingMembers(old: ReadonlySet<Atom>, next: ReadonlySet<Atom>): Atom[] {
  return [...[...old].filter((member) => !next.has(member)), ...[...next].filter((member) => !old.has(member))];
}

/** The difference of two maps in the form of update2. */
function differingPairs(old: ReadonlyMap<Atom, Atom>, next: ReadonlyMap<Atom, Atom>): [Atom, Atom][] {
  const gone = [...old].filter(([key]) => !next.has(key));
  const other = [...next].filter(([key, value]) => old.get(key) !== value);
  return [...gone, ...other];
}
