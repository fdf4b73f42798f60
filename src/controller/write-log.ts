/** What the writers did, as log lines: what was refused is said, what was done only when it is asked for. */
import type { TransactionReport } from '../commit/northbound-writer.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { WriteResult } from '../kube/write-intent.ts';
import type { Log } from '../runtime/log.ts';

export function logTransaction(log: Log, { ok, rows, operations, counts, error, setAside }: TransactionReport): void {
  if (ok) log.debug('transaction', { rows, operations, ...counts });
  else log.warn('transaction refused', { rows, code: error?.code, error: error?.message, setAside });
}

/** A conflict, or a write that a newer one took the place of, is the ordinary course. */
export function logWrite(log: Log, { verb, resource, namespace, name }: ObjectWrite, result: WriteResult): void {
  if (result.ok || result.error.code === 'KUBE_SUPERSEDED' || result.error.code === 'KUBE_CONFLICT') return;
  log.warn('write refused', { verb, resource, namespace, name, code: result.error.code, error: result.error.message });
}
