/**
 * Whether the replica shows the changes of a transaction. A server sends a client's own changes before the reply (ovsdb-server(7)). If it
 * reports success and the changes do not arrive, it did not commit, or its monitor is dead.
 */
import type { Condition } from './condition.ts';
import { encodeRow, encodeValue } from './encode.ts';
import type { Operation } from './operation.ts';
import type { Replica } from './replica.ts';
import type { DatabaseSchema, TableSchema } from './schema.ts';
import type { OperationResult } from './transaction.ts';
import type { Uuid } from './uuid.ts';
import type { InputValue, Row } from './value.ts';

/** The replica to compare with: some tables, and some columns of each. */
export interface Shown {
  readonly schema: DatabaseSchema;
  readonly row: (table: string, uuid: Uuid) => Row | undefined;
  readonly isMonitored: (table: string) => boolean;
}

/**
 * @param quiet no update arrived since the transaction was sent: so no other client's change can explain a difference
 * @returns the first certain change that the replica lacks, in words; undefined: the replica has all
 */
export function missingEffect(
  operations: readonly Operation[],
  results: readonly OperationResult[],
  shown: Shown,
  quiet: boolean,
): string | undefined {
  const inserted = new Set(results.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid as string])));
  const deleting = new Set(operations.flatMap((operation) => (operation.op === 'delete' ? [operation.table] : [])));
  for (const [index, operation] of operations.entries()) {
    const result = results[index];
    if (result === undefined || !('table' in operation) || !shown.isMonitored(operation.table)) continue;
    const table = shown.schema.tables.get(operation.table);
    if (table === undefined) continue;
    const what = effectMissing(operation, result, table, shown, quiet, deleting, inserted);
    if (what !== undefined) return what;
  }
  return undefined;
}

function effectMissing(
  operation: Operation,
  { uuid, count = 0 }: OperationResult,
  table: TableSchema,
  shown: Shown,
  quiet: boolean,
  deleting: ReadonlySet<string>,
  inserted: ReadonlySet<string>,
): string | undefined {
  switch (operation.op) {
    case 'insert':
      // A row that no other one refers to does not outlive its transaction, unless its table is a root.
      if (!table.isRoot || uuid === undefined || deleting.has(operation.table)) return undefined;
      return shown.row(operation.table, uuid) === undefined ? `row ${uuid} of ${operation.table}, inserted` : undefined;
    case 'delete': {
      const named = namedRow(operation.where);
      if (count === 0 || named === undefined) return undefined;
      return shown.row(operation.table, named) === undefined ? undefined : `row ${named} of ${operation.table}, deleted`;
    }
    case 'update': {
      const named = namedRow(operation.where);
      if (!quiet || count === 0 || named === undefined || deleting.has(operation.table)) return undefined;
      const row = shown.row(operation.table, named);
      if (row === undefined) return undefined;
      const written = encodeRow(table, operation.row) as Readonly<Record<string, unknown>>;
      const column = Object.keys(written).find((name) => {
        const schema = table.columns.get(name);
        const value = row[name];
        if (schema === undefined || value === undefined || JSON.stringify(written[name]).includes('"named-uuid"')) return false;
        return canonical(written[name]) !== canonical(encodeValue(schema, value));
      });
      return column === undefined ? undefined : `${column} of row ${named} of ${operation.table}, updated`;
    }
    case 'mutate': {
      const named = namedRow(operation.where);
      const row = count === 0 || named === undefined ? undefined : shown.row(operation.table, named);
      if (row === undefined) return undefined;
      for (const { column, mutator, value } of operation.mutations) {
        const shows = row[column];
        if (mutator !== 'insert' || !(shows instanceof Set)) continue;
        const added = membersOf(value).find((member) => inserted.has(member) && !shows.has(member));
        if (added !== undefined) return `${added} in ${column} of row ${named} of ${operation.table}`;
      }
      return undefined;
    }
    default:
      return undefined;
  }
}

function membersOf(value: InputValue): readonly string[] {
  if (typeof value === 'string') return [value];
  return value instanceof Set || Array.isArray(value)
    ? Array.from(value as Iterable<unknown>).filter((one): one is string => typeof one === 'string')
    : [];
}

function namedRow(where: readonly Condition[]): Uuid | undefined {
  return where.flatMap(({ column, value }) => (column === '_uuid' && typeof value === 'string' ? [value as Uuid] : []))[0];
}

/** Sets and maps have no order; a set of one member may be written without its brackets. */
function canonical(json: unknown): string {
  const [kind, members] = Array.isArray(json) ? (json as readonly unknown[]) : [];
  if ((kind !== 'set' && kind !== 'map') || !Array.isArray(members)) return JSON.stringify(json);
  if (kind === 'set' && members.length === 1) return JSON.stringify(members[0]);
  return `${kind} ${members
    .map((member) => JSON.stringify(member))
    .toSorted()
    .join()}`;
}

export function shownBy(replica: Replica, schema: DatabaseSchema, tables: ReadonlySet<string>): Shown {
  const isMonitored = (table: string): boolean => tables.has(table) && schema.tables.has(table);
  return { schema, isMonitored, row: (table, uuid) => replica.table(table).get(uuid) };
}
