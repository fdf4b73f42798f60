import { equals, rowIs, type Condition } from './condition.ts';
import type { Uuid } from './uuid.ts';
import type { InputRow, InputValue } from './value.ts';

/** `<mutator>` of RFC 7047 section 5.1. */
export type Mutator = '+=' | '-=' | '*=' | '/=' | '%=' | 'insert' | 'delete';

export interface Mutation {
  readonly column: string;
  readonly mutator: Mutator;
  /** For a `delete` from a map, a set or list stands for keys whatever their values. */
  readonly value: InputValue;
}

/** The operations of RFC 7047 section 5.2, with values as rows hold them. */
export type Operation =
  | { readonly op: 'insert'; readonly table: string; readonly row: InputRow; readonly uuid?: Uuid; readonly uuidName?: string }
  | { readonly op: 'select'; readonly table: string; readonly where: readonly Condition[]; readonly columns?: readonly string[] }
  | { readonly op: 'update'; readonly table: string; readonly where: readonly Condition[]; readonly row: InputRow }
  | { readonly op: 'mutate'; readonly table: string; readonly where: readonly Condition[]; readonly mutations: readonly Mutation[] }
  | { readonly op: 'delete'; readonly table: string; readonly where: readonly Condition[] }
  | {
      readonly op: 'wait';
      readonly table: string;
      readonly where: readonly Condition[];
      readonly columns: readonly string[];
      readonly until: '==' | '!=';
      readonly rows: readonly InputRow[];
      /** Milliseconds the server waits for it; 0 fails at once with OVSDB_TIMED_OUT. */
      readonly timeoutMs: number;
    }
  | { readonly op: 'comment'; readonly comment: string }
  | { readonly op: 'assert'; readonly lock: string }
  | { readonly op: 'abort' };

/**
 * @param uuid the new row's UUID, of the caller's choice (Open vSwitch 2.13 and later): a repetition fails with
 * OVSDB_DUPLICATE_UUID and cannot make a second row
 */
export function insert(table: string, row: InputRow, uuid?: Uuid): Operation {
  return uuid === undefined ? { op: 'insert', table, row } : { op: 'insert', table, row, uuid };
}

/** An insert whose row other operations of the transaction name by `uuidName` where they would give a UUID. */
export function insertNamed(table: string, row: InputRow, uuidName: string): Operation {
  return { op: 'insert', table, row, uuidName };
}

export function update(table: string, where: Uuid | readonly Condition[], row: InputRow): Operation {
  return { op: 'update', table, where: whereOf(where), row };
}

export function mutate(table: string, where: Uuid | readonly Condition[], mutations: readonly Mutation[]): Operation {
  return { op: 'mutate', table, where: whereOf(where), mutations };
}

/** Adds members to a set, or pairs to a map. A key that a map has already keeps its value: see {@link mapSet}. */
export function mutateInsert(table: string, where: Uuid | readonly Condition[], column: string, value: InputValue): Operation {
  return mutate(table, where, [{ column, mutator: 'insert', value }]);
}

/** Removes members from a set, or from a map: pairs that are equal, or, given a set or list, keys whatever their values. */
export function mutateDelete(table: string, where: Uuid | readonly Condition[], column: string, value: InputValue): Operation {
  return mutate(table, where, [{ column, mutator: 'delete', value }]);
}

/** Gives keys of a map their values, new or not, and leaves the other keys alone. */
export function mapSet(
  table: string,
  where: Uuid | readonly Condition[],
  column: string,
  pairs: Readonly<Record<string, string>>,
): Operation {
  return mutate(table, where, [
    { column, mutator: 'delete', value: Object.keys(pairs) },
    { column, mutator: 'insert', value: pairs },
  ]);
}

export function deleteRows(table: string, where: Uuid | readonly Condition[]): Operation {
  return { op: 'delete', table, where: whereOf(where) };
}

export function select(table: string, where: readonly Condition[] = [], columns?: readonly string[]): Operation {
  return columns === undefined ? { op: 'select', table, where } : { op: 'select', table, where, columns };
}

/**
 * The transaction succeeds only if the rows that `where` finds are exactly these.
 *
 * @param timeoutMs how long the server waits for that; at once by default
 */
export function waitFor(table: string, where: Uuid | readonly Condition[], rows: readonly InputRow[], timeoutMs = 0): Operation {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return { op: 'wait', table, where: whereOf(where), columns, until: '==', rows, timeoutMs };
}

/** The transaction succeeds only if the row exists and fulfils the conditions. */
export function waitForRow(table: string, uuid: Uuid, conditions: readonly Condition[] = []): Operation {
  return waitFor(table, [rowIs(uuid), ...conditions], [{ _uuid: uuid }]);
}

/** The transaction succeeds only if no row of the table has this value. */
export function waitForNone(table: string, column: string, value: InputValue): Operation {
  return { op: 'wait', table, where: [equals(column, value)], columns: ['_uuid'], until: '==', rows: [], timeoutMs: 0 };
}

/** A comment for the server's log of transactions. */
export function comment(text: string): Operation {
  return { op: 'comment', comment: text };
}

/** The transaction succeeds only if this session owns the lock. */
export function assertLock(lock: string): Operation {
  return { op: 'assert', lock };
}

/** The transaction changes nothing: for asking whether the operations before it would succeed. */
export function abort(): Operation {
  return { op: 'abort' };
}

function whereOf(where: Uuid | readonly Condition[]): readonly Condition[] {
  return typeof where === 'string' ? [rowIs(where)] : where;
}
