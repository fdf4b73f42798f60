/** Whether a row of the database is as a journaled one was. Pure. */
import { LET_GO_KEY, UNEXPLAINED_KEY } from '../nb/ownership.ts';
import type { Row, TableSchema } from '../ovsdb/index.ts';
import type { JsonRow, JsonValue } from './journal.ts';
import { isSame } from './row-json.ts';

/** Compares what does not refer to rows: these have other UUIDs by now. */
export function hasContents(present: Row, journaled: JsonRow, table: TableSchema | undefined): boolean {
  const [row, json] = [withoutNotes(present), notesLeftOut(journaled)];
  const columns = new Set([...Object.keys(json), ...Object.keys(row)]);
  for (const column of columns) {
    const value = row[column];
    if (column === '_uuid' || table?.columns.get(column)?.key.refTable !== undefined) continue;
    if (value === undefined && json[column] !== undefined) continue;
    if (!isSame(json[column] ?? defaultOf(value), value)) return false;
  }
  return true;
}

/** The journal leaves out empty texts; of a scalar that is never empty it has the value. */
function defaultOf(value: Row[string] | undefined): JsonValue {
  return value === '' ? '' : null;
}

/** What says about a row that nothing explains it, and that it was let go, is no part of its contents. */
const NOTES: readonly string[] = [LET_GO_KEY, UNEXPLAINED_KEY];

function withoutNotes(row: Row): Row {
  const held = row['external_ids'];
  if (!(held instanceof Map) || !NOTES.some((key) => held.has(key))) return row;
  return { ...row, external_ids: new Map([...held].filter(([key]) => !NOTES.includes(String(key)))) };
}

function notesLeftOut(row: JsonRow): JsonRow {
  const { external_ids: held } = row;
  if (typeof held !== 'object' || held === null || !NOTES.some((key) => key in held)) return row;
  return { ...row, external_ids: Object.fromEntries(Object.entries(held).filter(([key]) => !NOTES.includes(key))) };
}
