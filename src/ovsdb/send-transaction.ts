import type { Clock } from './clock.ts';
import { OvsdbError, toOvsdbError } from './errors.ts';
import { comment, type Operation } from './operation.ts';
import type { RpcConnection, RpcReply } from './rpc.ts';
import type { DatabaseSchema } from './schema.ts';
import { encodeOperations, readResults, refused, type TransactOutcome } from './transaction.ts';

export interface TransactOptions {
  /** A comment for the server's log, as an operation after the others. */
  readonly comment?: string;
  /** How long to wait for the reply; without end by default (the session finds a dead server). Then it ends with outcome `unknown`. */
  readonly timeoutMs?: number;
}

/** Sends one `transact` request (RFC 7047 section 4.1.3) and says what became of it. Never rejects. */
export function sendTransaction(
  rpc: RpcConnection,
  database: string,
  schema: DatabaseSchema,
  operations: readonly Operation[],
  options: TransactOptions,
  clock: Clock,
): Promise<TransactOutcome> {
  const all = options.comment === undefined ? operations : [...operations, comment(options.comment)];
  let wire: unknown[];
  try {
    wire = encodeOperations(schema, all);
  } catch (thrown) {
    return Promise.resolve({ ok: false, error: toOvsdbError(thrown, 'OVSDB_BAD_VALUE') });
  }
  return new Promise((resolve) => {
    let cancelTimer = (): void => {};
    const id = rpc.call('transact', [database, ...wire], (reply) => {
      cancelTimer();
      resolve(outcomeOf(schema, operations, all, reply));
    });
    if (options.timeoutMs === undefined) return;
    cancelTimer = clock.schedule(options.timeoutMs, () => {
      rpc.notify('cancel', [id]);
      const message = `no reply to the transaction within ${options.timeoutMs} ms`;
      resolve({ ok: false, error: new OvsdbError('OVSDB_TRANSACTION_TIMEOUT', message, { outcome: 'unknown' }) });
    });
  });
}

function outcomeOf(schema: DatabaseSchema, asked: readonly Operation[], sent: readonly Operation[], reply: RpcReply): TransactOutcome {
  if (reply.kind === 'error') return refused(reply.error);
  if (reply.kind === 'lost') {
    const code = reply.error.code === 'OVSDB_CLOSED' ? 'OVSDB_CLOSED' : 'OVSDB_DISCONNECTED';
    const message = `whether the transaction was carried out is not known: ${reply.error.message}`;
    return { ok: false, error: new OvsdbError(code, message, { cause: reply.error, outcome: 'unknown' }) };
  }
  try {
    const outcome = readResults(schema, sent, reply.result);
    return outcome.ok ? { ok: true, results: outcome.results.slice(0, asked.length) } : outcome;
  } catch (thrown) {
    const cause = toOvsdbError(thrown, 'OVSDB_PROTOCOL');
    return { ok: false, error: new OvsdbError(cause.code, cause.message, { cause, outcome: 'unknown' }) };
  }
}
