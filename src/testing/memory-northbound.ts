/**
 * The simulated Northbound database (`ovsdb/testing/simulated`) for tests of rules and diff: without connections and time. Edits become the
 * same operations as in the writer, and their changes come back through a replica like a session's.
 */
import { readFileSync } from 'node:fs';
import { buildTransaction } from '../commit/transaction.ts';
import type { Edit } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';
import { monitoredColumns, tableSpec } from '../nb/tables.ts';
import type { InputRow, Replica, Row, RowChange, Uuid } from '../ovsdb/index.ts';
import { ReplicaStore } from '../ovsdb/replica.ts';
import { parseSchema } from '../ovsdb/schema.ts';
import type { ColumnSchema } from '../ovsdb/schema.ts';
import { northboundSchemaFile } from '../ovsdb/testing/ovsdb-server-process.ts';
import { SimulatedDatabase } from '../ovsdb/testing/simulated/database.ts';
import { execute } from '../ovsdb/testing/simulated/transaction.ts';
import { updatesOf } from '../ovsdb/testing/simulated/updates.ts';
import { encodeOperations } from '../ovsdb/transaction.ts';

const schema = parseSchema(newer(JSON.parse(readFileSync(northboundSchemaFile, 'utf8')) as SchemaJson));
const columns: ReadonlyMap<string, ReadonlyMap<string, ColumnSchema>> = new Map(
  Object.entries(monitoredColumns()).map(([table, names]) => [
    table,
    new Map([...(schema.tables.get(table)?.columns ?? [])].filter(([name]) => names.includes(name))),
  ]),
);
const monitored: ReadonlyMap<string, readonly ColumnSchema[]> = new Map([...columns].map(([table, of]) => [table, [...of.values()]]));

export class MemoryNorthbound implements Replica {
  readonly status = 'synced';
  readonly generation = 1;
  readonly #database = new SimulatedDatabase(schema);
  readonly #replica = new ReplicaStore([...columns.keys()]);

  constructor() {
    this.#replica.configure(columns);
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

  /** Applies edits as one transaction. @throws Error if the transaction fails */
  apply(edits: readonly Edit[]): RowChange[] {
    const { operations } = buildTransaction([{ id: '' as RowId, edits }], []);
    const execution = execute(this.#database, encodeOperations(schema, operations), chooseNone);
    if (!execution.ok) throw new Error(`the transaction failed: ${JSON.stringify(execution.results)} for ${JSON.stringify(edits)}`);
    const changes: RowChange[] = [];
    this.#replica.apply({ notation: 'v2', tables: updatesOf(monitored, execution.differences) }, changes);
    return changes;
  }

  /** Inserts a row as another program would. */
  insert(
    table: string,
    uuid: string,
    row: Readonly<Record<string, unknown>>,
    parent?: { readonly table: string; readonly uuid: string; readonly column: string },
  ): RowChange[] {
    const edits: Edit[] = [{ kind: 'insert', table, uuid: uuid as Uuid, row: row as InputRow }];
    if (parent !== undefined)
      edits.push({ kind: 'member', table: parent.table, uuid: parent.uuid as Uuid, column: parent.column, add: true, value: uuid });
    return this.apply(edits);
  }

  /** Removes a row as a user with ovn-nbctl would: from its parent, or by itself without one. */
  remove(table: string, uuid: Uuid): RowChange[] {
    const out = tableSpec(table).parents.flatMap((parent) =>
      [...this.table(parent.table).values()].flatMap((row): Edit[] => {
        const members = row[parent.column];
        const holds = members instanceof Set && members.has(uuid);
        return holds ? [{ kind: 'member', table: parent.table, uuid: row._uuid, column: parent.column, add: false, value: uuid }] : [];
      }),
    );
    return this.apply(out.length > 0 ? out : [{ kind: 'delete', table, uuid }]);
  }
}

interface SchemaJson {
  readonly tables: Readonly<Record<string, { readonly columns: Record<string, unknown> }>>;
}

/** Adds two columns that rules write and Debian's OVN lacks (OVN 25.03 has them): the writer leaves them out, not the rules. */
function newer(schemaJson: SchemaJson): SchemaJson {
  const { ACL, Load_Balancer } = schemaJson.tables;
  if (ACL !== undefined) ACL.columns['tier'] ??= { type: { key: { type: 'integer', minInteger: 0, maxInteger: 3 } } };
  if (Load_Balancer !== undefined) Load_Balancer.columns['selection_fields'] = { type: { key: 'string', min: 0, max: 'unlimited' } };
  return schemaJson;
}

function chooseNone(): never {
  throw new Error('each insert has a UUID of its own');
}
