import type { Scheduler } from '../timing/clock.ts';
import { OvsdbError, toOvsdbError } from './errors.ts';
import { comment, type Operation } from './operation.ts';
import type { RpcConnection, RpcReply } from './rpc.ts';
import type { DatabaseSchema } from './schema.ts';
import { missingEffect, type Shown } from './shown-effects.ts';
import { encodeOperations, readResults, refusedRequest, type TransactOutcome } from './transaction.ts';

export interface TransactOptions {
  /** A comment for the server's log, as an operation after the others. */
  readonly comment?: string;
  /** How long to wait for the reply; then the outcome is `unknown`. No limit by default: the session finds a dead server. */
  readonly timeoutMs?: number;
}

/** What a transaction needs of the connection and the replica. */
export interface TransactionPath {
  readonly rpc: RpcConnection;
  readonly database: string;
  readonly schema: DatabaseSchema;
  readonly clock: Scheduler;
  /** Number of updates received over the connection. */
  readonly updates: () => number;
  readonly shown: Shown;
  /** Calls `look` after each update. @returns ends the calls */
  readonly onUpdate: (look: () => void) => () => void;
  /** How long after its reply the changes of a transaction may arrive. A server that follows the protocol sends them before. */
  readonly effectMs: number;
}

/**
 * Sends one `transact` request (RFC 7047 section 4.1.3) and resolves with its outcome. Never rejects. If the reply is malformed, does not
 * tell the outcome, or the changes of a transaction do not arrive, the connection is closed: all is read again, and shows what took effect.
 */
export function sendTransaction(
  path: TransactionPath,
  operations: readonly Operation[],
  options: TransactOptions,
): Promise<TransactOutcome> {
  const { rpc, database, schema, clock } = path;
  const all = options.comment === undefined ? operations : [...operations, comment(options.comment)];
  let wire: unknown[];
  try {
    wire = encodeOperations(schema, all);
  } catch (thrown) {
    return Promise.resolve({ ok: false, error: toOvsdbError(thrown, 'OVSDB_BAD_VALUE') });
  }
  const mayTakeMs = all.reduce((sum, operation) => sum + (operation.op === 'wait' ? operation.timeoutMs : 0), 0);
  return new Promise((resolve) => {
    let cancelTimer = (): void => {};
    const before = path.updates();
    let isOver = false;
    const replied = (reply: RpcReply): void => {
      // Canceled, as it was asked to.
      if (isOver && reply.kind === 'error') return;
      cancelTimer();
      const outcome = outcomeOf(schema, operations, all, reply);
      if (outcome.ok) return untilShown(path, operations, outcome, () => path.updates() === before, resolve);
      resolve(outcome);
      if (outcome.error.outcome === 'unknown' && reply.kind !== 'lost') rpc.close(outcome.error);
    };
    const id = rpc.call('transact', [database, ...wire], replied, mayTakeMs);
    if (options.timeoutMs === undefined) return;
    cancelTimer = clock.schedule(options.timeoutMs, () => {
      isOver = true;
      rpc.notify('cancel', [id]);
      const message = `no reply to the transaction within ${options.timeoutMs} ms`;
      resolve({ ok: false, error: new OvsdbError('OVSDB_TRANSACTION_TIMEOUT', message, { outcome: 'unknown' }) });
    });
  });
}

function untilShown(
  { rpc, shown, onUpdate, clock, effectMs }: TransactionPath,
  operations: readonly Operation[],
  outcome: TransactOutcome & { readonly ok: true },
  quiet: () => boolean,
  resolve: (outcome: TransactOutcome) => void,
): void {
  const missing = (): string | undefined => missingEffect(operations, outcome.results, shown, quiet());
  if (missing() === undefined) return resolve(outcome);
  const end = (how: TransactOutcome): void => {
    cancel();
    stop();
    resolve(how);
  };
  const stop = onUpdate(() => {
    if (missing() === undefined) end(outcome);
  });
  const cancel = clock.schedule(effectMs, () => {
    const what = missing();
    if (what === undefined) return end(outcome);
    const message = `the server reported success of a transaction and did not send its changes: ${what}`;
    const error = new OvsdbError('OVSDB_EFFECT_MISSING', message, { outcome: 'unknown' });
    end({ ok: false, error });
    rpc.close(error);
  });
}

function outcomeOf(schema: DatabaseSchema, asked: readonly Operation[], sent: readonly Operation[], reply: RpcReply): TransactOutcome {
  if (reply.kind === 'error') return refusedRequest(reply.error);
  if (reply.kind === 'lost') {
    const code = reply.error.code === 'OVSDB_CLOSED' ? 'OVSDB_CLOSED' : 'OVSDB_DISCONNECTED';
    const message = `the transaction may have taken effect: ${reply.error.message}`;
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
