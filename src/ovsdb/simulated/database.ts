/**
 * The rows of a database and the effects of a commit: strong references must resolve, unreferenced rows are collected, weak references to
 * deleted rows are removed, unique indexes and maximum table sizes are checked (RFC 7047 sections 3.2 and 4.1.3, and transaction.c of
 * ovsdb-server).
 */
import type { BaseType, ColumnSchema, DatabaseSchema, TableSchema } from '../schema.ts';
import type { Uuid } from '../uuid.ts';
import type { Atom, Value } from '../value.ts';
import { equalValues } from '../value.ts';
import { OperationError } from './constraints.ts';

/** A row as it is stored: never changed in place. */
export type StoredRow = Readonly<Record<string, Value>>;

export interface RowDifference {
  readonly table: string;
  readonly uuid: Uuid;
  readonly before: StoredRow | undefined;
  readonly after: StoredRow | undefined;
}

interface Reference {
  readonly target: Uuid;
  readonly refTable: string;
  readonly column: string;
}

/** The rows as an open transaction has changed them. */
export class Draft {
  readonly #database: SimulatedDatabase;
  readonly changed = new Map<Uuid, { readonly table: string; after: StoredRow | undefined }>();

  constructor(database: SimulatedDatabase) {
    this.#database = database;
  }

  get(table: string, uuid: Uuid): StoredRow | undefined {
    const changed = this.changed.get(uuid);
    return changed === undefined || changed.table !== table ? this.#database.row(table, uuid) : changed.after;
  }

  set(table: string, uuid: Uuid, after: StoredRow | undefined): void {
    const changed = this.changed.get(uuid);
    if (changed === undefined) this.changed.set(uuid, { table, after });
    else changed.after = after;
  }

  *rows(table: string): Generator<[Uuid, StoredRow]> {
    for (const [uuid, row] of this.#database.rows(table)) {
      const changed = this.changed.get(uuid);
      if (changed === undefined) yield [uuid, row];
      else if (changed.after !== undefined) yield [uuid, changed.after];
    }
    for (const [uuid, { table: of, after }] of this.changed) {
      if (of === table && after !== undefined && this.#database.row(table, uuid) === undefined) yield [uuid, after];
    }
  }
}

export class SimulatedDatabase {
  readonly schema: DatabaseSchema;
  readonly #tables = new Map<string, Map<Uuid, StoredRow>>();
  /** By row: the number of strong references to it. */
  readonly #strong = new Map<Uuid, number>();
  /** By row: the rows with a weak reference to it. */
  readonly #weak = new Map<Uuid, Map<Uuid, string>>();
  /** By table and index: the text of the indexed values to its row. */
  readonly #unique = new Map<string, Map<string, Uuid>>();
  readonly #references: ReadonlyMap<string, readonly ColumnSchema[]>;

  constructor(schema: DatabaseSchema) {
    this.schema = schema;
    for (const [name, table] of schema.tables) {
      this.#tables.set(name, new Map());
      for (const at of table.indexes.keys()) this.#unique.set(`${name} ${at}`, new Map());
    }
    const refers = ({ key, value }: ColumnSchema): boolean => key.refTable !== undefined || value?.refTable !== undefined;
    this.#references = new Map([...schema.tables].map(([name, { columns }]) => [name, [...columns.values()].filter(refers)]));
  }

  rows(table: string): ReadonlyMap<Uuid, StoredRow> {
    return this.#tables.get(table) as ReadonlyMap<Uuid, StoredRow>;
  }

  row(table: string, uuid: Uuid): StoredRow | undefined {
    return this.#tables.get(table)?.get(uuid);
  }

  draft(): Draft {
    return new Draft(this);
  }

  /** Commits the draft, or changes nothing. @throws {OperationError} */
  commit(draft: Draft): readonly RowDifference[] {
    const counts = new Map<Uuid, number>();
    this.#countReferences(draft, counts);
    this.#collect(draft, counts);
    this.#dropWeak(draft);
    this.#checkTables(draft);
    const differences = this.#differences(draft);
    this.#checkIndexes(differences);
    for (const difference of differences) this.#store(difference);
    for (const [uuid, by] of counts) {
      const count = (this.#strong.get(uuid) ?? 0) + by;
      if (count === 0) this.#strong.delete(uuid);
      else this.#strong.set(uuid, count);
    }
    return differences;
  }

  #countReferences(draft: Draft, counts: Map<Uuid, number>): void {
    for (const [uuid, { table, after }] of draft.changed) {
      this.#count(table, this.row(table, uuid), -1, counts);
      for (const reference of this.#count(table, after, 1, counts)) {
        if (draft.get(reference.refTable, reference.target) === undefined)
          throw new OperationError(
            'referential integrity violation',
            `Table ${table} column ${reference.column} row ${uuid} references nonexistent row ${reference.target} in table ${reference.refTable}.`,
          );
      }
    }
    for (const [uuid, { table, after }] of draft.changed) {
      const left = (this.#strong.get(uuid) ?? 0) + (counts.get(uuid) ?? 0);
      if (after === undefined && left > 0)
        throw new OperationError(
          'referential integrity violation',
          `cannot delete ${table} row ${uuid} because of ${left} remaining reference(s)`,
        );
    }
  }

  #count(table: string, row: StoredRow | undefined, by: number, counts: Map<Uuid, number>): readonly Reference[] {
    if (row === undefined) return [];
    const references = this.#referencesOf(table, row, 'strong');
    for (const { target } of references) counts.set(target, (counts.get(target) ?? 0) + by);
    return references;
  }

  /** A row of a non-root table is collected when no row refers to it. */
  #collect(draft: Draft, counts: Map<Uuid, number>): void {
    const isRoot = (table: string): boolean => (this.schema.tables.get(table) as TableSchema).isRoot;
    const candidates: [string, Uuid][] = [];
    for (const [uuid, { table }] of draft.changed) {
      if (!isRoot(table)) candidates.push([table, uuid]);
      for (const { refTable, target } of this.#lost(table, this.row(table, uuid)))
        if (!isRoot(refTable)) candidates.push([refTable, target]);
    }
    for (let next = candidates.pop(); next !== undefined; next = candidates.pop()) {
      const [table, uuid] = next;
      const row = draft.get(table, uuid);
      if (row === undefined || (this.#strong.get(uuid) ?? 0) + (counts.get(uuid) ?? 0) > 0) continue;
      draft.set(table, uuid, undefined);
      for (const { refTable, target } of this.#count(table, row, -1, counts)) if (!isRoot(refTable)) candidates.push([refTable, target]);
    }
  }

  #lost(table: string, before: StoredRow | undefined): readonly Reference[] {
    return before === undefined ? [] : this.#referencesOf(table, before, 'strong');
  }

  /** Removes weak references to missing rows from their columns. */
  #dropWeak(draft: Draft): void {
    const concerned = new Map<Uuid, string>();
    for (const [uuid, { table, after }] of draft.changed) {
      if (after !== undefined) concerned.set(uuid, table);
      else for (const [referrer, of] of this.#weak.get(uuid) ?? []) concerned.set(referrer, of);
    }
    for (const [uuid, table] of concerned) {
      const row = draft.get(table, uuid);
      if (row === undefined) continue;
      for (const column of this.#references.get(table) ?? []) {
        const kept = this.#withoutDangling(draft, table, uuid, column, draft.get(table, uuid)?.[column.name] ?? null);
        if (kept !== undefined) draft.set(table, uuid, { ...(draft.get(table, uuid) as StoredRow), [column.name]: kept });
      }
    }
  }

  #withoutDangling(draft: Draft, table: string, uuid: Uuid, column: ColumnSchema, value: Value): Value | undefined {
    const dangles = (type: BaseType | undefined, atom: Atom): boolean =>
      type?.refTable !== undefined && type.refType === 'weak' && draft.get(type.refTable, atom as Uuid) === undefined;
    const fail = (): never => {
      throw new OperationError(
        'constraint violation',
        `Deletion of weak reference(s) to deleted (or never-existing) rows from column "${column.name}" in "${table}" row ${uuid} caused this column to become empty, but constraints on this column disallow an empty column.`,
      );
    };
    if (value instanceof Set) {
      const kept = new Set([...(value as ReadonlySet<Atom>)].filter((atom) => !dangles(column.key, atom)));
      if (kept.size === value.size) return undefined;
      return kept.size < column.min ? fail() : kept;
    }
    if (value instanceof Map) {
      const pairs = [...(value as ReadonlyMap<Atom, Atom>)];
      const kept = new Map(pairs.filter(([key, member]) => !dangles(column.key, key) && !dangles(column.value, member)));
      return kept.size === value.size ? undefined : kept;
    }
    if (value === null || !dangles(column.key, value as Atom)) return undefined;
    return column.min > 0 ? fail() : null;
  }

  #checkTables(draft: Draft): void {
    const grown = new Map<string, number>();
    for (const [uuid, { table, after }] of draft.changed) {
      const by = (after === undefined ? 0 : 1) - (this.row(table, uuid) === undefined ? 0 : 1);
      grown.set(table, (grown.get(table) ?? 0) + by);
    }
    for (const [table, by] of grown) {
      const { maxRows } = this.schema.tables.get(table) as TableSchema;
      const rows = this.rows(table).size + by;
      if (by > 0 && rows > maxRows)
        throw new OperationError(
          'constraint violation',
          `transaction causes "${table}" table to contain ${rows} rows, greater than the schema-defined limit of ${maxRows} row(s)`,
        );
    }
  }

  #differences(draft: Draft): RowDifference[] {
    const differences: RowDifference[] = [];
    for (const [uuid, { table, after }] of draft.changed) {
      const before = this.row(table, uuid);
      if (before === undefined && after === undefined) continue;
      if (before !== undefined && after !== undefined && Object.keys(after).every((name) => equalValues(before[name]!, after[name]!)))
        continue;
      differences.push({ table, uuid, before, after });
    }
    return differences;
  }

  #checkIndexes(differences: readonly RowDifference[]): void {
    const freed = new Set<string>();
    const taken = new Map<string, Uuid>();
    for (const { table, before } of differences)
      if (before !== undefined) for (const key of this.#indexKeys(table, before)) freed.add(key.join(' '));
    for (const { table, uuid, after } of differences) {
      if (after === undefined) continue;
      for (const [index, text] of this.#indexKeys(table, after)) {
        const key = `${index} ${text}`;
        const holder = taken.get(key) ?? (freed.has(key) ? undefined : this.#unique.get(index)?.get(text));
        if (holder !== undefined && holder !== uuid)
          throw new OperationError(
            'constraint violation',
            `Transaction causes multiple rows in "${table}" table to have identical values (${text}) for index on column(s).  First row, with UUID ${holder}.  Second row, with UUID ${uuid}.`,
          );
        taken.set(key, uuid);
      }
    }
  }

  #indexKeys(table: string, row: StoredRow): [index: string, text: string][] {
    const { indexes } = this.schema.tables.get(table) as TableSchema;
    return indexes.map((columns, at) => [`${table} ${at}`, JSON.stringify(columns.map((name) => plain(row[name] ?? null)))]);
  }

  #store({ table, uuid, before, after }: RowDifference): void {
    if (before !== undefined) {
      for (const [index, text] of this.#indexKeys(table, before)) {
        const holders = this.#unique.get(index);
        if (holders?.get(text) === uuid) holders.delete(text);
      }
      for (const { target } of this.#referencesOf(table, before, 'weak')) this.#weak.get(target)?.delete(uuid);
    }
    if (after === undefined) {
      this.#tables.get(table)?.delete(uuid);
      this.#weak.delete(uuid);
      return;
    }
    this.#tables.get(table)?.set(uuid, after);
    for (const [index, text] of this.#indexKeys(table, after)) this.#unique.get(index)?.set(text, uuid);
    for (const { target } of this.#referencesOf(table, after, 'weak')) {
      let referrers = this.#weak.get(target);
      if (referrers === undefined) this.#weak.set(target, (referrers = new Map<Uuid, string>()));
      referrers.set(uuid, table);
    }
  }

  #referencesOf(table: string, row: StoredRow, strength: 'strong' | 'weak'): readonly Reference[] {
    const found: Reference[] = [];
    for (const column of this.#references.get(table) ?? []) {
      const value = row[column.name] ?? null;
      const take = (type: BaseType | undefined, atom: Atom): void => {
        if (type?.refTable !== undefined && type.refType === strength)
          found.push({ target: atom as Uuid, refTable: type.refTable, column: column.name });
      };
      if (value instanceof Set) for (const atom of value as ReadonlySet<Atom>) take(column.key, atom);
      else if (value instanceof Map) {
        for (const [key, member] of value as ReadonlyMap<Atom, Atom>) {
          take(column.key, key);
          take(column.value, member);
        }
      } else if (value !== null) take(column.key, value as Atom);
    }
    return found;
  }
}

/** The same text for equal values. */
export function plain(value: Value): unknown {
  if (value instanceof Set) return [...(value as ReadonlySet<Atom>)].toSorted(byText);
  if (value instanceof Map) return [...(value as ReadonlyMap<Atom, Atom>)].toSorted(([a], [b]) => byText(a, b));
  return value;
}

function byText(a: Atom, b: Atom): number {
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}
