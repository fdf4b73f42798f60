/**
 * The Northbound database as `ovsdb-client dump` prints it: every table and column, read by a program that is not Kiln's.
 */

/** A set is an array unless it has one member, a map an object, a reference its UUID. As in RFC 7047, section 5.1. */
export type Cell = string | number | boolean | readonly Cell[] | { readonly [key: string]: Cell };

export type DumpedRow = Readonly<Record<string, Cell>>;

/** Rows by table. */
export type NorthboundDump = ReadonlyMap<string, readonly DumpedRow[]>;

interface PrintedTable {
  readonly caption: string;
  readonly headings: readonly string[];
  readonly data: readonly (readonly unknown[])[];
}

/** @param printed of `ovsdb-client --format=json dump`: one JSON object a table */
export function parseDump(printed: string): NorthboundDump {
  const tables = new Map<string, DumpedRow[]>();
  for (const line of printed.split('\n')) {
    if (line.trim() === '') continue;
    const { caption, headings, data } = JSON.parse(line) as PrintedTable;
    const name = caption.replace(/ table$/, '');
    tables.set(
      name,
      data.map((row) => Object.fromEntries(headings.map((heading, index) => [heading, cellOf(row[index])]))),
    );
  }
  return tables;
}

function cellOf(value: unknown): Cell {
  if (!Array.isArray(value)) return value as Cell;
  const [kind, content] = value as [string, unknown];
  switch (kind) {
    case 'uuid':
      return String(content);
    case 'set':
      return (content as unknown[]).map(cellOf).toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
    case 'map': {
      const entries = (content as [unknown, unknown][]).map(([key, one]) => [String(cellOf(key)), cellOf(one)] as const);
      return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    }
    default:
      throw new Error(`an unknown notation in the dump: ${JSON.stringify(value)}`);
  }
}

/** The members of a set. */
export function members(cell: Cell | undefined): readonly string[] {
  if (cell === undefined) return [];
  return Array.isArray(cell) ? cell.map(String) : [typeof cell === 'object' ? JSON.stringify(cell) : String(cell)];
}

/** A map's entries; empty for a missing column. */
export function entries(cell: Cell | undefined): Readonly<Record<string, string>> {
  if (cell === undefined || typeof cell !== 'object' || Array.isArray(cell)) return {};
  return cell as Readonly<Record<string, string>>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Every row with all its columns, where a UUID is replaced by the contents of its row: two dumps are the same, UUIDs aside, if these are. */
export function withoutUuids(dump: NorthboundDump): readonly string[] {
  const names = new Map<string, string>();
  const plain = (cell: Cell, name: (uuid: string) => string): Cell => {
    if (typeof cell === 'string') return UUID.test(cell) ? name(cell) : cell;
    if (typeof cell !== 'object') return cell;
    if (!Array.isArray(cell)) return Object.fromEntries(Object.entries(cell).map(([key, value]) => [key, plain(value, name)]));
    const named = (cell as readonly Cell[]).map((one) => plain(one, name));
    return named.toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
  };
  const contents = (row: DumpedRow, name: (uuid: string) => string): string =>
    JSON.stringify(Object.entries(row).flatMap(([column, cell]) => (column.startsWith('_') ? [] : [[column, plain(cell, name)]])));
  for (const [table, rows] of dump) for (const row of rows) names.set(String(row['_uuid']), `${table} ${contents(row, () => '')}`);
  return [...dump]
    .flatMap(([table, rows]) => rows.map((row) => `${table} ${contents(row, (uuid) => names.get(uuid) ?? 'gone')}`))
    .toSorted();
}
