/** The changes of a transaction in the form of a monitor's updates: `<table-updates2>` of ovsdb-server(7) section 4.1.14. */
import { defaultValue } from '../decode.ts';
import { encodeValue } from '../encode.ts';
import type { ColumnSchema } from '../schema.ts';
import type { Atom, Value } from '../value.ts';
import { equalValues } from '../value.ts';
import type { RowDifference } from './database.ts';

/** By table, by row. */
export type WrittenUpdates = Record<string, Record<string, unknown>>;

/** @param columns the monitored columns, by table */
export function updatesOf(columns: ReadonlyMap<string, readonly ColumnSchema[]>, differences: readonly RowDifference[]): WrittenUpdates {
  const updates: WrittenUpdates = {};
  for (const { table, uuid, before, after } of differences) {
    const monitored = columns.get(table);
    if (monitored === undefined || (before === undefined && after === undefined)) continue;
    let update: Record<string, unknown> | undefined;
    if (before === undefined) update = { insert: written(monitored, after!) };
    else if (after === undefined) update = { delete: null };
    else {
      const changed = monitored.filter(({ name }) => !equalValues(before[name]!, after[name]!));
      if (changed.length > 0)
        update = {
          modify: Object.fromEntries(changed.map((column) => [column.name, difference(column, before[column.name]!, after[column.name]!)])),
        };
    }
    if (update !== undefined) (updates[table] ??= {})[uuid] = update;
  }
  return updates;
}

/** Columns with their default value are omitted. */
export function written(columns: readonly ColumnSchema[], row: Readonly<Record<string, Value>>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const column of columns) {
    const value = row[column.name]!;
    if (!equalValues(value, defaultValue(column))) shown[column.name] = encodeValue(column, value);
  }
  return shown;
}

/** ovsdb-server(7) section 4.1.14. */
function difference(column: ColumnSchema, before: Value, after: Value): unknown {
  if (column.max === 1) return encodeValue(column, after);
  if (column.kind === 'map') {
    const [old, next] = [before as ReadonlyMap<Atom, Atom>, after as ReadonlyMap<Atom, Atom>];
    const gone = [...old].filter(([key]) => !next.has(key));
    const other = [...next].filter(([key, value]) => old.get(key) !== value);
    return encodeValue(column, new Map([...gone, ...other]));
  }
  const [old, next] = [before as ReadonlySet<Atom>, after as ReadonlySet<Atom>];
  return encodeValue(column, new Set([...[...old].filter((atom) => !next.has(atom)), ...[...next].filter((atom) => !old.has(atom))]));
}
