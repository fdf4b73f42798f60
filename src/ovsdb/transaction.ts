import { conditionText, type Condition } from './condition.ts';
import { decodeAtom } from './decode.ts';
import { encodeMembers, encodeRow, encodeValue, requireColumn, requireTable } from './encode.ts';
import { OvsdbError, readServerError, toOvsdbError, type OperationReference } from './errors.ts';
import { decodeRow, type JsonRow } from './mutable-row.ts';
import type { Operation } from './operation.ts';
import { uuidColumn, type DatabaseSchema, type TableSchema } from './schema.ts';
import type { Row } from './value.ts';
import type { Uuid } from './uuid.ts';

/** `uuid` of an insert, `count` of an update, mutate or delete, `rows` of a select; nothing for the others. */
export interface OperationResult {
  readonly uuid?: Uuid;
  readonly count?: number;
  readonly rows?: readonly Row[];
}

/** How a transaction ended. `results` has one entry for each operation, in order; `error.outcome` is always set. */
export type TransactOutcome =
  { readonly ok: true; readonly results: readonly OperationResult[] } | { readonly ok: false; readonly error: OvsdbError };

/**
 * The operations as the protocol writes them.
 *
 * @throws {OvsdbError} OVSDB_UNKNOWN_TABLE, OVSDB_UNKNOWN_COLUMN or OVSDB_BAD_VALUE, naming the operation, outcome `not-sent`
 */
export function encodeOperations(schema: DatabaseSchema, operations: readonly Operation[]): unknown[] {
  return operations.map((operation, index) => {
    try {
      return encodeOperation(schema, operation);
    } catch (thrown) {
      const cause = toOvsdbError(thrown, 'OVSDB_BAD_VALUE');
      const reference = referTo(operation, index);
      throw new OvsdbError(cause.code, `${referenceText(reference)} cannot be sent: ${cause.message}`, {
        cause,
        outcome: 'not-sent',
        operation: reference,
      });
    }
  });
}

function encodeOperation(schema: DatabaseSchema, operation: Operation): unknown {
  if (operation.op === 'comment' || operation.op === 'assert' || operation.op === 'abort') return operation;
  const table = requireTable(schema, operation.table);
  const shared = { op: operation.op, table: operation.table };
  if (operation.op === 'insert') {
    return {
      ...shared,
      row: encodeRow(table, operation.row),
      ...(operation.uuid === undefined ? {} : { uuid: operation.uuid }),
      ...(operation.uuidName === undefined ? {} : { 'uuid-name': operation.uuidName }),
    };
  }
  const where = operation.where.map((clause) => [
    clause.column,
    clause.function,
    encodeValue(requireColumn(table, clause.column), clause.value),
  ]);
  switch (operation.op) {
    case 'select':
      return operation.columns === undefined ? { ...shared, where } : { ...shared, where, columns: operation.columns };
    case 'delete':
      return { ...shared, where };
    case 'update':
      return { ...shared, where, row: encodeRow(table, operation.row) };
    case 'wait':
      return {
        ...shared,
        where,
        columns: operation.columns,
        until: operation.until,
        rows: operation.rows.map((row) => encodeRow(table, row)),
        timeout: operation.timeoutMs,
      };
    case 'mutate':
      return {
        ...shared,
        where,
        mutations: operation.mutations.map(({ column: name, mutator, value }) => {
          const column = requireColumn(table, name);
          const byKeys = mutator === 'delete' && (value instanceof Set || Array.isArray(value));
          return [name, mutator, byKeys ? encodeMembers(column, value) : encodeValue(column, value)];
        }),
      };
  }
}

/**
 * Reads the `result` of a transact request (RFC 7047 section 4.1.3): one entry for each operation up to the first that failed; and
 * one more than there are operations where all succeeded and the commit did not.
 */
export function readResults(schema: DatabaseSchema, operations: readonly Operation[], json: unknown): TransactOutcome {
  if (!Array.isArray(json)) {
    throw new OvsdbError('OVSDB_PROTOCOL', 'the reply to a transaction is not a list');
  }
  const entries = json as readonly unknown[];
  const failed = entries.findIndex((entry) => typeof entry === 'object' && entry !== null && 'error' in entry);
  if (failed >= 0) return { ok: false, error: failure(operations, entries, failed) };
  if (entries.length < operations.length) {
    throw new OvsdbError('OVSDB_PROTOCOL', `the reply to ${operations.length} operations has ${entries.length} results`);
  }
  return { ok: true, results: operations.map((operation, index) => readResult(schema, operation, entries[index])) };
}

/**
 * The outcome of a request that the server answered with an error as a whole, before any operation ran. `canceled` is what a relay answers when it
 * lost the server that it had passed the transaction to: that one may have committed it.
 */
export function refusedRequest(json: unknown): TransactOutcome {
  const { code, error, details } = readServerError(json);
  const outcome = code === 'OVSDB_CANCELED' ? 'unknown' : 'rejected';
  const told = outcome === 'unknown' ? 'the transaction may have taken effect: the server' : 'the server rejected the transaction:';
  const message = `${told} ${error}${outcome === 'unknown' ? ' it' : ''}${details === undefined ? '' : `: ${details}`}`;
  return { ok: false, error: new OvsdbError(code, message, { ...serverAnswer(error, details), outcome }) };
}

function failure(operations: readonly Operation[], entries: readonly unknown[], failed: number): OvsdbError {
  const { code, error, details } = readServerError(entries[failed]);
  const errorText = `${error}${details === undefined ? '' : `: ${details}`}`;
  const operation = operations[failed];
  if (operation !== undefined) {
    const reference = referTo(operation, failed);
    return new OvsdbError(code, `${referenceText(reference)} failed: ${errorText}`, {
      ...serverAnswer(error, details),
      outcome: 'rejected',
      operation: reference,
    });
  }
  const suspects = operations.flatMap((candidate, index) =>
    uuidsOf(candidate, entries[index]).some((uuid) => details?.includes(uuid) === true) ? [referTo(candidate, index)] : [],
  );
  const about = suspects.length === 0 ? '' : ` (${suspects.slice(0, 3).map(referenceText).join('; ')})`;
  return new OvsdbError(code, `the commit of ${operations.length} operations failed: ${errorText}${about}`, {
    ...serverAnswer(error, details),
    outcome: 'rejected',
    suspects,
  });
}

function serverAnswer(error: string, details: string | undefined): { serverError: string; details?: string } {
  return details === undefined ? { serverError: error } : { serverError: error, details };
}

/** The rows that an operation names: the one it inserted, the ones it finds by UUID, the ones it takes out of a set. */
function uuidsOf(operation: Operation, result: unknown): string[] {
  const inserted = (result as { uuid?: unknown } | null)?.uuid;
  if (operation.op === 'insert') return Array.isArray(inserted) ? [String(inserted[1])] : [];
  if (!('where' in operation)) return [];
  return operation.where.flatMap(({ column, value }: Condition) => (column === '_uuid' && typeof value === 'string' ? [value] : []));
}

function readResult(schema: DatabaseSchema, operation: Operation, json: unknown): OperationResult {
  if (typeof json !== 'object' || json === null) throw noResult(operation);
  const { uuid, count, rows } = json as Record<string, unknown>;
  if (operation.op === 'insert') {
    if (!Array.isArray(uuid) || typeof uuid[1] !== 'string') throw noResult(operation);
    return { uuid: uuid[1] as Uuid };
  }
  if (operation.op === 'select' && Array.isArray(rows)) {
    const table = requireTable(schema, operation.table);
    return { rows: rows.map((row: unknown) => readSelected(table, operation.columns, row as JsonRow)) };
  }
  const counts = operation.op === 'update' || operation.op === 'mutate' || operation.op === 'delete';
  if (typeof count !== 'number' && counts) throw noResult(operation);
  return typeof count === 'number' ? { count } : {};
}

function noResult({ op }: Operation): OvsdbError {
  return new OvsdbError('OVSDB_PROTOCOL', `the reply to a transaction has no result of its ${op}`);
}

function readSelected(table: TableSchema, columns: readonly string[] | undefined, json: JsonRow): Row {
  const wanted = (columns ?? [...table.columns.keys()]).filter((name) => name !== '_uuid' && name !== '_version');
  const uuid = json['_uuid'] === undefined ? '' : decodeAtom(uuidColumn.key, json['_uuid']);
  return decodeRow(
    uuid as Uuid,
    wanted.map((name) => requireColumn(table, name)),
    json,
  );
}

export function referTo(operation: Operation, index: number): OperationReference {
  return {
    index,
    op: operation.op,
    ...('table' in operation ? { table: operation.table } : {}),
    ...('where' in operation ? { where: conditionText(operation.where) } : {}),
    ...(operation.op === 'insert' && operation.uuid !== undefined ? { where: `_uuid == ${JSON.stringify(operation.uuid)}` } : {}),
  };
}

function referenceText({ index, op, table, where }: OperationReference): string {
  return `operation ${index} (${[op, table].filter(Boolean).join(' ')}${where === undefined || where === '' ? '' : ` where ${where}`})`;
}
