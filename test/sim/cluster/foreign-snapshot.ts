/** The foreign data in the Northbound database, as its owners last left it. */
import { OWNER_KEY, VENDOR, VENDOR_KEY } from '../../../src/nb/ownership.ts';
import type { ForeignCell, ForeignSnapshot, WholeRow } from '../../../src/invariants/foreign-rows.ts';
import { foreignSnapshot, SHARED, WEAK } from '../../../src/invariants/foreign-rows.ts';
import type { Uuid, Value } from '../../../src/ovsdb/index.ts';
import type { RowDifference, SimulatedDatabase, StoredRow } from '../../../src/ovsdb/simulated/database.ts';

const KILNS: readonly string[] = ['external_ids', ...SHARED];

export class ForeignBaseline {
  /** Rows and cells, named as `foreignSnapshot` does, as text. */
  readonly before = new Map<string, string>();
  readonly #database: SimulatedDatabase;

  constructor(database: SimulatedDatabase) {
    this.#database = database;
  }

  /** A user, or another program, left these rows in this state. */
  rowsChanged(differences: readonly RowDifference[]): void {
    const parents = [...this.#parentsOf(new Set(differences.map(({ uuid }) => uuid)))];
    const now = this.now(withMembers([...differences, ...parents]));
    for (const { table, uuid } of [...differences, ...parents]) {
      const row = `${table}/${uuid}`;
      for (const key of [row, ...SHARED.map((column) => `${row} ${column}`)]) {
        const text = now.get(key);
        if (text === undefined) this.before.delete(key);
        else this.before.set(key, text);
      }
    }
  }

  /** Kiln may delete a row of its own, and foreign members in it go with it; a row made again has the same UUID. */
  rowChangedByKiln({ table, uuid, after }: RowDifference): void {
    if (after === undefined) for (const column of SHARED) this.before.delete(`${table}/${uuid} ${column}`);
  }

  /**
   * Rows that are foreign, so that Kiln does not adopt them.
   * @param among only these rows, with the rows that they refer to
   */
  now(among?: ReadonlySet<Uuid>): ForeignSnapshot {
    const tables = new Map<string, WholeRow[]>();
    for (const name of this.#database.schema.tables.keys()) {
      const rows: WholeRow[] = [];
      for (const [uuid, row] of this.#rows(name, among)) {
        const ids = row['external_ids'];
        const isKilns = ids instanceof Map && (ids as ReadonlyMap<string, string>).get(VENDOR_KEY) === VENDOR;
        const cells: Record<string, ForeignCell> = { _uuid: uuid };
        // Of one of our rows: its ownership keys, and the columns where other programs may have members.
        for (const column of isKilns ? KILNS : Object.keys(row)) if (row[column] !== undefined) cells[column] = cellOf(row[column]);
        // A row of ours that lost its row owner is not foreign: Kiln adopts and collects it.
        if (isKilns) cells['external_ids'] = { [OWNER_KEY]: '', ...(cells['external_ids'] as Readonly<Record<string, ForeignCell>>) };
        rows.push(cells);
      }
      tables.set(name, rows);
    }
    return foreignSnapshot(tables);
  }

  /** Rows that have one of these in a shared column, or refer to it weakly: the snapshot shows whether a member is ours. */
  *#parentsOf(rows: ReadonlySet<Uuid>): Iterable<{ readonly table: string; readonly uuid: Uuid; readonly after: StoredRow }> {
    for (const [table, { columns }] of this.#database.schema.tables) {
      const referring = [...SHARED, ...WEAK].filter((column) => columns.has(column));
      if (referring.length === 0) continue;
      for (const [uuid, row] of this.#database.rows(table))
        if (referring.some((column) => isAnyIn(rows, row[column]))) yield { table, uuid, after: row };
    }
  }

  *#rows(table: string, among: ReadonlySet<Uuid> | undefined): Iterable<readonly [Uuid, StoredRow]> {
    if (among === undefined) return yield* this.#database.rows(table);
    for (const uuid of among) {
      const row = this.#database.row(table, uuid);
      if (row !== undefined) yield [uuid, row];
    }
  }
}

/** Rows that changed, and the members of their columns: the snapshot shows which of these are ours. */
function withMembers(differences: readonly Pick<RowDifference, 'uuid' | 'after'>[]): ReadonlySet<Uuid> {
  const rows = new Set(differences.map(({ uuid }) => uuid));
  for (const { after = {} } of differences)
    for (const [column, value] of Object.entries(after)) {
      if (value instanceof Set) for (const member of value) rows.add(member as Uuid);
      else if (WEAK.includes(column) && value !== null) rows.add(value as Uuid);
    }
  return rows;
}

/** Looks for the rows in the members when those are many: the rows that changed are few. */
function isAnyIn(rows: ReadonlySet<Uuid>, members: Value | undefined): boolean {
  if (!(members instanceof Set)) return typeof members === 'string' && rows.has(members as Uuid);
  for (const uuid of rows) if ((members as ReadonlySet<unknown>).has(uuid)) return true;
  return false;
}

function cellOf(value: Value): ForeignCell {
  if (value instanceof Set) return [...(value as ReadonlySet<string>)].toSorted();
  if (value instanceof Map) return Object.fromEntries([...(value as ReadonlyMap<string, string>)].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return (value ?? []) as ForeignCell;
}
