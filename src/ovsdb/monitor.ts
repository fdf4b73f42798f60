import { OvsdbError, readServerError } from './errors.ts';
import type { TakeRows } from './message-stream.ts';
import type { RpcConnection, RpcReply } from './rpc.ts';
import type { ColumnSchema, DatabaseSchema } from './schema.ts';
import type { TableUpdates } from './table-updates.ts';
import type { Uuid } from './uuid.ts';

/** The columns to read of each table. */
export type MonitoredTables = Readonly<Record<string, readonly string[] | 'all'>>;

/** A table or column of the session's options that the server's schema lacks. */
export interface MissingPart {
  readonly table: string;
  readonly column?: string;
}

export interface MonitorPlan {
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, ColumnSchema>>;
  readonly missing: readonly MissingPart[];
}

/** The requested tables and columns that the schema has, and those that it lacks. */
export function planMonitor(schema: DatabaseSchema, tables: MonitoredTables): MonitorPlan {
  const columns = new Map<string, ReadonlyMap<string, ColumnSchema>>();
  const missing: MissingPart[] = [];
  for (const [table, wanted] of Object.entries(tables)) {
    const found = schema.tables.get(table);
    if (found === undefined) {
      missing.push({ table });
      continue;
    }
    if (wanted !== 'all') missing.push(...wanted.filter((name) => !found.columns.has(name)).map((column) => ({ table, column })));
    columns.set(table, wanted === 'all' ? found.columns : new Map([...found.columns].filter(([name]) => wanted.includes(name))));
  }
  return { columns, missing };
}

/** Takes the rows of the first contents as they arrive, in the notation of the method. */
export interface IncomingRows {
  begin(notation: TableUpdates['notation']): void;
  readonly take: TakeRows;
}

/** The reply to a monitor request, without the rows that were handed over before. */
export interface MonitorContents {
  readonly updates: TableUpdates;
  /** Whether these are the changes since the requested transaction; else they are all rows. */
  readonly resumed: boolean;
  readonly lastTxnId: Uuid | undefined;
}

/** From the newest to the oldest: with resume (Open vSwitch 2.12), with differences (2.6), and RFC 7047's own. */
const methods = ['monitor_cond_since', 'monitor_cond', 'monitor'] as const;

/** Depth of nesting around a row in the reply to each method: the message, for the newest a list, all tables, the table. */
const rowsAt = { monitor_cond_since: 4, monitor_cond: 3, monitor: 3 } as const;

/** The monitor's name in requests and updates. */
export const monitorId = 'replica';

/**
 * Requests the contents of the planned tables and all later changes, by the newest method that the server knows. Calls exactly one of the
 * two functions, synchronously with the reply: updates that follow it are handled later.
 */
export function startMonitor(
  rpc: RpcConnection,
  database: string,
  plan: MonitorPlan,
  since: Uuid,
  rows: IncomingRows,
  onContents: (contents: MonitorContents) => void,
  onFailed: (error: OvsdbError) => void,
): void {
  const requests = Object.fromEntries(Array.from(plan.columns, ([table, columns]) => [table, [{ columns: [...columns.keys()] }]]));
  const attempt = (at: number): void => {
    const method = methods[at]!;
    const params = [database, monitorId, requests, ...(method === 'monitor_cond_since' ? [since] : [])];
    rows.begin(notationOf(method));
    rpc.expectRows(rowsAt[method], rows.take);
    rpc.call(method, params, (reply) => {
      rpc.expectRows(undefined);
      if (reply.kind === 'result') return onContents(readContents(method, reply.result));
      if (reply.kind === 'error' && isUnknownMethod(reply) && at + 1 < methods.length) return attempt(at + 1);
      onFailed(reply.kind === 'lost' ? reply.error : monitorFailed(method, reply.error));
    });
  };
  attempt(0);
}

function notationOf(method: (typeof methods)[number]): TableUpdates['notation'] {
  return method === 'monitor' ? 'v1' : 'v2';
}

function readContents(method: (typeof methods)[number], result: unknown): MonitorContents {
  if (method !== 'monitor_cond_since') {
    return { updates: { notation: notationOf(method), tables: result }, resumed: false, lastTxnId: undefined };
  }
  if (!Array.isArray(result) || result.length !== 3 || typeof result[1] !== 'string') {
    throw new OvsdbError('OVSDB_PROTOCOL', 'the reply to monitor_cond_since is not [found, last-txn-id, updates]');
  }
  return { updates: { notation: 'v2', tables: result[2] }, resumed: result[0] === true, lastTxnId: result[1] as Uuid };
}

/** The updates in a notification, if it is one of this monitor (ovsdb-server(7) sections 4.1.6, 4.1.14 and 4.1.16). */
export function readUpdate(method: string, params: readonly unknown[]): Omit<MonitorContents, 'resumed'> | undefined {
  if (params[0] !== monitorId) return undefined;
  if (method === 'update') return { updates: { notation: 'v1', tables: params[1] }, lastTxnId: undefined };
  if (method === 'update2') return { updates: { notation: 'v2', tables: params[1] }, lastTxnId: undefined };
  if (method === 'update3') return { updates: { notation: 'v2', tables: params[2] }, lastTxnId: params[1] as Uuid };
  return undefined;
}

function isUnknownMethod(reply: RpcReply & { kind: 'error' }): boolean {
  return readServerError(reply.error).code === 'OVSDB_UNKNOWN_METHOD';
}

function monitorFailed(method: string, json: unknown): OvsdbError {
  const { code, error, details } = readServerError(json);
  return new OvsdbError(code, `the server rejected ${method}: ${error}${details === undefined ? '' : `: ${details}`}`, {
    serverError: error,
  });
}
