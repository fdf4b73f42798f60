/**
 * Keys of NB_Global, a row that all programs share. Beside each key that Kiln sets, external_ids record the value that it set. Only a value
 * that is still as recorded is Kiln's to change and to remove: any other is another program's.
 */
import { rowId } from './row-id.ts';

export const GLOBAL_ROW = rowId('NB_Global', '');

/** The columns with keys of Kiln. */
export const GLOBAL_COLUMNS = ['options', 'external_ids'] as const;
export type GlobalColumn = (typeof GLOBAL_COLUMNS)[number];

const RECORD = 'kiln.io/set.';

/** The key of external_ids with the value that Kiln set. */
export function recordKey(column: GlobalColumn, key: string): string {
  return `${RECORD}${column}.${key}`;
}

/** The row, with both columns. */
type Columns = { readonly [column: string]: unknown };

export interface GlobalKey {
  readonly column: GlobalColumn;
  readonly key: string;
}

/** The key that a record is about; undefined for any other key of external_ids. */
export function recordedKey(record: string): GlobalKey | undefined {
  for (const column of GLOBAL_COLUMNS) {
    const prefix = recordKey(column, '');
    if (record.startsWith(prefix)) return { column, key: record.slice(prefix.length) };
  }
  return undefined;
}

export interface HeldKey {
  /** Absent: the key is not set. */
  readonly value: string | undefined;
  /** The value that Kiln set, as recorded. */
  readonly recorded: string | undefined;
  /** Another program set it, or changed what Kiln had set. */
  readonly isForeign: boolean;
}

export function heldKey(row: Columns, { column, key }: GlobalKey): HeldKey {
  const value = textIn(row[column], key);
  const recorded = textIn(row['external_ids'], recordKey(column, key));
  return { value, recorded, isForeign: value !== undefined && value !== recorded };
}

/** All keys that Kiln set, and has a record of. */
export function recordedKeys(row: Columns): readonly GlobalKey[] {
  const held = row['external_ids'];
  return held instanceof Map ? Array.from(held.keys(), (key) => recordedKey(String(key))).filter((key) => key !== undefined) : [];
}

function textIn(map: unknown, key: string): string | undefined {
  const value: unknown = map instanceof Map ? map.get(key) : undefined;
  return value === undefined ? undefined : String(value);
}

/** Keys that Kiln set and may take back, and keys of its kind with another program's value, as `key=value`. */
export function keysOfRow(
  row: Columns,
  columns: Readonly<Record<GlobalColumn, readonly string[]>>,
): {
  readonly own: readonly string[];
  readonly foreign: readonly string[];
} {
  const held = GLOBAL_COLUMNS.flatMap((column) => columns[column].map((key) => ({ key, ...heldKey(row, { column, key }) })));
  const texts = (isForeign: boolean): readonly string[] =>
    held.flatMap((one) => (one.value !== undefined && one.isForeign === isForeign ? [`${one.key}=${one.value}`] : []));
  return { own: texts(false), foreign: texts(true) };
}
