import { decodeValue } from './decode.ts';
import { OvsdbError } from './errors.ts';
import { applyDifference, decodeRow, replaceValue, type JsonRow, type MutableRow } from './mutable-row.ts';
import type { ColumnChange, RowChange } from './row-change.ts';
import type { MaintainedIndex } from './row-index.ts';
import type { ColumnSchema } from './schema.ts';
import type { Uuid } from './uuid.ts';

/** The rows of one table and its indexes. Each method appends what really changed to `changes`. */
export class TableReplica {
  readonly name: string;
  readonly rows = new Map<Uuid, MutableRow>();
  readonly indexes = new Map<string, MaintainedIndex>();
  #columns: ReadonlyMap<string, ColumnSchema> = new Map();

  constructor(name: string) {
    this.name = name;
  }

  /** Sets the columns that are monitored from now on, and drops the rows' values of all others. The contents have to be loaded next. */
  configure(columns: ReadonlyMap<string, ColumnSchema>): void {
    const gone = [...this.#columns.keys()].filter((column) => !columns.has(column));
    this.#columns = columns;
    if (gone.length === 0) return;
    for (const row of this.rows.values()) {
      this.#changing(row, () => {
        const changed = new Map<string, ColumnChange>();
        for (const column of gone) {
          changed.set(column, { before: row[column] ?? null });
          delete row[column];
        }
        return changed;
      });
    }
  }

  addIndex(name: string, index: MaintainedIndex): void {
    this.indexes.set(name, index);
    for (const row of this.rows.values()) index.added(row);
  }

  decode(uuid: Uuid, json: JsonRow): MutableRow {
    return decodeRow(uuid, this.#columns.values(), json);
  }

  /** Makes the table hold exactly these rows. */
  load(contents: ReadonlyMap<Uuid, MutableRow>, changes: RowChange[]): void {
    for (const uuid of [...this.rows.keys()]) if (!contents.has(uuid)) this.delete(uuid, changes);
    for (const [uuid, next] of contents) {
      const row = this.rows.get(uuid);
      if (row === undefined) {
        this.#add(next, changes);
        continue;
      }
      this.#modify(row, changes, function* () {
        for (const column of Object.keys(next)) yield [column, replaceValue(row, column, next[column]!)];
      });
    }
  }

  insert(uuid: Uuid, json: JsonRow, changes: RowChange[]): void {
    if (this.rows.has(uuid)) throw this.#inconsistent('inserted', uuid, 'is there already');
    this.#add(this.decode(uuid, json), changes);
  }

  delete(uuid: Uuid, changes: RowChange[]): void {
    const row = this.rows.get(uuid);
    if (row === undefined) throw this.#inconsistent('deleted', uuid, 'is not there');
    this.rows.delete(uuid);
    for (const index of this.indexes.values()) index.removed(row);
    changes.push({ table: this.name, uuid, kind: 'delete', row });
  }

  /** @param difference the columns that changed, as update2 and update3 write them */
  modify(uuid: Uuid, difference: JsonRow, changes: RowChange[]): void {
    const { row, columns } = this.#find(uuid, difference);
    this.#modify(row, changes, function* () {
      for (const column of columns) yield [column.name, applyDifference(row, column, difference[column.name])];
    });
  }

  /** @param next whole values of columns, as `update` writes them (RFC 7047 section 4.1.6) */
  replace(uuid: Uuid, next: JsonRow, changes: RowChange[]): void {
    const { row, columns } = this.#find(uuid, next);
    this.#modify(row, changes, function* () {
      for (const column of columns) yield [column.name, replaceValue(row, column.name, decodeValue(column, next[column.name]))];
    });
  }

  #find(uuid: Uuid, json: JsonRow): { row: MutableRow; columns: ColumnSchema[] } {
    const row = this.rows.get(uuid);
    if (row === undefined) throw this.#inconsistent('changed', uuid, 'is not there');
    const columns = Object.keys(json).map((name) => {
      const column = this.#columns.get(name);
      if (column === undefined) throw new OvsdbError('OVSDB_PROTOCOL', `an update names ${this.name}.${name}, which is not monitored`);
      return column;
    });
    return { row, columns };
  }

  #add(row: MutableRow, changes: RowChange[]): void {
    this.rows.set(row._uuid, row);
    for (const index of this.indexes.values()) index.added(row);
    changes.push({ table: this.name, uuid: row._uuid, kind: 'insert', row });
  }

  #modify(row: MutableRow, changes: RowChange[], apply: () => Iterable<[string, ColumnChange | undefined]>): void {
    const changed = this.#changing(row, () => {
      const columns = new Map<string, ColumnChange>();
      for (const [column, change] of apply()) if (change !== undefined) columns.set(column, change);
      return columns;
    });
    if (changed.size > 0) changes.push({ table: this.name, uuid: row._uuid, kind: 'modify', row, changed });
  }

  #changing(row: MutableRow, change: () => Map<string, ColumnChange>): Map<string, ColumnChange> {
    const indexes = Array.from(this.indexes.values(), (index) => index.changing(row));
    const changed = change();
    for (const update of indexes) update(changed);
    return changed;
  }

  #inconsistent(verb: string, uuid: Uuid, why: string): OvsdbError {
    return new OvsdbError('OVSDB_INCONSISTENT', `the server ${verb} row ${uuid} of ${this.name}, which ${why}`);
  }
}
