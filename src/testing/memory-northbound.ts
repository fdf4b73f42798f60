/**
 * A Northbound database in memory, for tests of rules and diff: takes the diff's edits and answers with the changes a replica
 * would report. Rows that nothing refers to go, weak references to rows that went go too, as in OVSDB.
 */
import type { Edit } from '../diff/edits.ts';
import { tableSpec, TABLES } from '../nb/tables.ts';
import type { Replica, Row, RowChange, Uuid } from '../ovsdb/index.ts';

type Atom = string | number | boolean;
type Cell = Atom | null | Set<Atom> | Map<Atom, Atom>;
type MemoryRow = { _uuid: Uuid; [column: string]: Cell };

export class MemoryNorthbound implements Replica {
  readonly status = 'synced';
  readonly generation = 1;
  /** Rows that the transaction touched, as they were; undefined for those that were not there. */
  readonly #before = new Map<Uuid, { readonly table: string; readonly row: MemoryRow | undefined }>();
  readonly #tables = new Map<string, Map<Uuid, MemoryRow>>(TABLES.map(({ table }) => [table, new Map()]));

  table(name: string): Map<Uuid, Row> {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`no table ${name}`);
    return table;
  }

  index(): never {
    throw new Error('the memory database has no indexes');
  }

  memberIndex(): never {
    throw new Error('the memory database has no indexes');
  }

  /** Carries edits out, as one transaction. */
  apply(edits: readonly Edit[]): RowChange[] {
    this.#before.clear();
    for (const edit of edits) this.#edit(edit);
    this.#collect();
    return this.#changes();
  }

  /** Puts a row in as somebody else would. */
  insert(
    table: string,
    uuid: string,
    columns: Readonly<Record<string, unknown>>,
    parent?: { readonly table: string; readonly uuid: string; readonly column: string },
  ): RowChange[] {
    const edits: Edit[] = [{ kind: 'insert', table, uuid: uuid as Uuid, row: columns as never }];
    if (parent !== undefined)
      edits.push({ kind: 'member', table: parent.table, uuid: parent.uuid as Uuid, column: parent.column, add: true, value: uuid });
    return this.apply(edits);
  }

  #edit(edit: Edit): void {
    const rows = this.#tables.get(edit.table) as Map<Uuid, MemoryRow>;
    this.#touch(edit.table, edit.uuid);
    if (edit.kind === 'insert') {
      if (rows.has(edit.uuid)) throw new Error(`duplicate uuid in ${edit.table}: ${JSON.stringify(edit.row)}`);
      rows.set(edit.uuid, blankRow(edit.table, edit.uuid));
    }
    const row = rows.get(edit.uuid);
    if (row === undefined) throw new Error(`${edit.kind} of a ${edit.table} row that is not there: ${edit.uuid}`);
    if (edit.kind === 'insert' || edit.kind === 'update') {
      for (const [column, value] of Object.entries(edit.row)) row[column] = cellOf(edit.table, column, value);
    } else if (edit.kind === 'delete') {
      rows.delete(edit.uuid);
    } else if (edit.kind === 'member') {
      const cell = row[edit.column];
      if (!(cell instanceof Set)) throw new Error(`${edit.table}.${edit.column} is no set`);
      if (edit.add) cell.add(edit.value);
      else cell.delete(edit.value);
    } else if (edit.kind === 'keys') {
      const cell = row[edit.column];
      if (!(cell instanceof Map)) throw new Error(`${edit.table}.${edit.column} is no map`);
      for (const [key, value] of Object.entries(edit.set)) cell.set(key, value);
      for (const key of edit.remove) cell.delete(key);
    }
  }

  /** Rows of non-root tables live while a parent refers to them; references to what went are dropped. */
  #collect(): void {
    for (let gone = 1; gone > 0;) {
      gone = 0;
      for (const { table, parents } of TABLES) {
        if (parents.length === 0) continue;
        const rows = this.#tables.get(table) as Map<Uuid, MemoryRow>;
        for (const uuid of rows.keys()) {
          if (parents.some((parent) => this.#refers(parent.table, parent.column, uuid))) continue;
          this.#touch(table, uuid);
          rows.delete(uuid);
          gone++;
        }
      }
    }
    const all = new Set<Atom>([...this.#tables.values()].flatMap((rows) => [...rows.keys()]));
    for (const [table, rows] of this.#tables) {
      for (const row of rows.values()) {
        for (const [column, mode] of Object.entries(tableSpec(table).columns)) {
          const cell = row[column];
          if (mode === 'refs' && cell instanceof Set) this.#dropDead(table, row, cell, all);
        }
      }
    }
  }

  #refers(table: string, column: string, uuid: Uuid): boolean {
    for (const row of this.#tables.get(table)?.values() ?? []) {
      const cell = row[column];
      if (cell instanceof Set && cell.has(uuid)) return true;
    }
    return false;
  }

  #dropDead(table: string, row: MemoryRow, cell: Set<Atom>, all: ReadonlySet<Atom>): void {
    for (const uuid of cell) {
      if (all.has(uuid)) continue;
      this.#touch(table, row._uuid);
      cell.delete(uuid);
    }
  }

  #touch(table: string, uuid: Uuid): void {
    if (this.#before.has(uuid)) return;
    const row = this.#tables.get(table)?.get(uuid);
    this.#before.set(uuid, { table, row: row === undefined ? undefined : structuredClone(row) });
  }

  #changes(): RowChange[] {
    const changes: RowChange[] = [];
    for (const [uuid, { table, row: was }] of this.#before) {
      const row = this.#tables.get(table)?.get(uuid);
      if (row === undefined) {
        if (was !== undefined) changes.push({ table, uuid, kind: 'delete', row: was });
      } else if (was === undefined) changes.push({ table, uuid, kind: 'insert', row });
      else {
        const changed = changedColumns(was, row);
        if (changed.size > 0) changes.push({ table, uuid, kind: 'modify', row, changed });
      }
    }
    return changes;
  }
}

function blankRow(table: string, uuid: Uuid): MemoryRow {
  const row: MemoryRow = { _uuid: uuid };
  const { columns, unstated } = tableSpec(table);
  for (const [column, mode] of Object.entries(columns)) {
    const plain = unstated[column];
    row[column] =
      typeof plain === 'boolean' || typeof plain === 'number'
        ? plain
        : mode === 'refs' || mode === 'elements' || SETS.has(column)
          ? new Set()
          : mode === 'map' || Array.isArray(mode)
            ? new Map()
            : null;
  }
  return row;
}

/** Columns kept as a whole that are sets in the schema. */
const SETS: ReadonlySet<string> = new Set(['networks', 'addresses', 'port_security', 'nexthops', 'ipv6_prefix']);

function cellOf(table: string, column: string, value: unknown): Cell {
  const mode = tableSpec(table).columns[column];
  if (mode === undefined) throw new Error(`column ${table}.${column} is not registered`);
  if (mode === 'map' || Array.isArray(mode))
    return value instanceof Map ? new Map(value as Map<Atom, Atom>) : new Map(Object.entries(value as Record<string, Atom>));
  if (mode === 'refs' || mode === 'elements' || SETS.has(column))
    return new Set(value === null ? [] : Array.isArray(value) ? (value as Atom[]) : [value as Atom]);
  if (Array.isArray(value) || (typeof value === 'object' && value !== null))
    throw new Error(`${table}.${column} takes one value, not ${JSON.stringify(value)}`);
  return value as Atom | null;
}

function changedColumns(was: MemoryRow, is: MemoryRow): NonNullable<RowChange['changed']> {
  const changed = new Map<string, NonNullable<RowChange['changed']> extends ReadonlyMap<string, infer C> ? C : never>();
  for (const column of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const before = was[column] ?? null;
    const after = is[column] ?? null;
    if (before instanceof Set && after instanceof Set) {
      const added = new Set([...after].filter((atom) => !before.has(atom)));
      const removed = new Set([...before].filter((atom) => !after.has(atom)));
      if (added.size + removed.size > 0) changed.set(column, { added, removed });
    } else if (before instanceof Map && after instanceof Map) {
      const added = new Map([...after].filter(([key, value]) => before.get(key) !== value));
      const removed = new Map([...before].filter(([key, value]) => after.get(key) !== value));
      if (added.size + removed.size > 0) changed.set(column, { added, removed });
    } else if (before !== after) changed.set(column, { before: before as Atom | null });
  }
  return changed;
}
