/**
 * A Northbound database in memory, without connections and time. Edits become the same operations as in the writer, and their changes come
 * back through a replica like a session's.
 */
import { buildTransaction } from '../commit/transaction.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import type { Edit } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';
import { monitoredColumns } from '../nb/tables.ts';
import type { Replica, Row, RowChange, Uuid } from '../ovsdb/index.ts';
import { ReplicaStore } from '../ovsdb/replica.ts';
import type { BaseType, ColumnSchema, DatabaseSchema, TableSchema } from '../ovsdb/schema.ts';
import { SimulatedDatabase } from '../ovsdb/simulated/database.ts';
import { execute } from '../ovsdb/simulated/transaction.ts';
import { updatesOf } from '../ovsdb/simulated/updates.ts';
import { encodeOperations } from '../ovsdb/transaction.ts';

export class MemoryNorthbound implements Replica {
  readonly status = 'synced';
  readonly generation = 1;
  readonly #schema: DatabaseSchema;
  readonly #database: SimulatedDatabase;
  readonly #replica: ReplicaStore;
  readonly #monitored: ReadonlyMap<string, readonly ColumnSchema[]>;

  /** @param schema of the server; only what Kiln reads of it is kept */
  constructor(schema: DatabaseSchema) {
    this.#schema = readPart(schema);
    this.#database = new SimulatedDatabase(this.#schema);
    const tables = [...this.#schema.tables];
    this.#monitored = new Map(tables.map(([table, { columns }]) => [table, [...columns.values()]]));
    // A table that the server lacks is empty.
    this.#replica = new ReplicaStore(Object.keys(monitoredColumns()));
    this.#replica.configure(new Map(tables.map(([table, { columns }]) => [table, columns])));
  }

  table(name: string): ReadonlyMap<Uuid, Row> {
    return this.#replica.table(name);
  }

  index(...of: Parameters<Replica['index']>): ReturnType<Replica['index']> {
    return this.#replica.index(...of);
  }

  memberIndex(...of: Parameters<Replica['memberIndex']>): ReturnType<Replica['memberIndex']> {
    return this.#replica.memberIndex(...of);
  }

  /** What this schema can hold: the diff omits the rest. */
  get holds(): Pick<DiffContext, 'canHold' | 'allows'> {
    const column = (table: string, name: string): ColumnSchema | undefined => this.#schema.tables.get(table)?.columns.get(name);
    return {
      canHold: (table, name) => column(table, name) !== undefined,
      allows: (table, name, atom) => column(table, name)?.key.enum?.has(atom) ?? true,
    };
  }

  /** Takes over the rows of another replica, which must not change any more. */
  load(other: Replica): RowChange[] {
    const draft = this.#database.draft();
    for (const table of this.#schema.tables.keys()) for (const [uuid, { _uuid, ...row }] of other.table(table)) draft.set(table, uuid, row);
    return this.#taken(this.#database.commit(draft));
  }

  /** Applies edits as one transaction. @throws Error if the transaction fails */
  apply(edits: readonly Edit[]): RowChange[] {
    const { operations } = buildTransaction([{ id: '' as RowId, edits }], []);
    const execution = execute(this.#database, encodeOperations(this.#schema, operations), chooseNone);
    if (!execution.ok) throw new Error(`the transaction failed: ${JSON.stringify(execution.results)} for ${JSON.stringify(edits)}`);
    return this.#taken(execution.differences);
  }

  #taken(differences: Parameters<typeof updatesOf>[1]): RowChange[] {
    const changes: RowChange[] = [];
    this.#replica.apply({ notation: 'v2', tables: updatesOf(this.#monitored, differences) }, changes);
    return changes;
  }
}

/** The tables and columns that Kiln reads. References to tables that it does not read are plain UUIDs. */
function readPart(schema: DatabaseSchema): DatabaseSchema {
  const read = monitoredColumns();
  const known = (type: BaseType): BaseType => {
    const { refTable, refType: _, ...rest } = type;
    return refTable === undefined || (read[refTable] !== undefined && schema.tables.has(refTable)) ? type : rest;
  };
  const tables = Object.entries(read).flatMap(([name, columns]): [string, TableSchema][] => {
    const table = schema.tables.get(name);
    if (table === undefined) return [];
    const kept = [...table.columns].filter(([column]) => columns.includes(column));
    const part = kept.map(([column, one]): [string, ColumnSchema] => [
      column,
      { ...one, key: known(one.key), ...(one.value === undefined ? {} : { value: known(one.value) }) },
    ]);
    const indexes = table.indexes.filter((index) => index.every((column) => columns.includes(column)));
    return [[name, { ...table, indexes, columns: new Map(part) }]];
  });
  return { ...schema, tables: new Map(tables) };
}

function chooseNone(): never {
  throw new Error('each insert has a UUID of its own');
}
