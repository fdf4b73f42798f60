/** Whether a row of the database is as a journaled one was. Pure. */
import type { Row, TableSchema } from '../ovsdb/index.ts';
import type { JsonRow, JsonValue } from './journal.ts';
import { isSame } from './row-json.ts';

/** Compares what does not refer to rows: these have other UUIDs by now. */
export function hasContents(row: Row, json: JsonRow, table: TableSchema | undefined): boolean {
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
