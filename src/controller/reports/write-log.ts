/** The results of writes as log lines: failures as warnings, successes only at level debug. */
import type { TransactionReport } from '../../commit/northbound-writer.ts';
import type { ObjectWrite } from '../../diff/object-diff.ts';
import type { WriteResult } from '../../kube/write/write-intent.ts';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { isServerWide } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import type { ApiOutage } from '../outages/api-outage.ts';
import type { NorthboundFailures } from '../outages/northbound-failures.ts';

export function logTransaction(
  log: Log,
  northboundFailures: NorthboundFailures,
  { ok, rows, operations, counts, error, setAside }: TransactionReport,
): void {
  if (error !== undefined && isServerWide(error)) return northboundFailures.failed(error);
  if (error === undefined || error.outcome === 'rejected') northboundFailures.accepted();
  if (ok) log.debug('transaction', { rows, operations, counts });
  else if (error?.outcome === 'unknown') log.warn('transaction without an answer', { rows, code: error.code, error: error.message });
  else log.warn('transaction failed', { rows, code: error?.code, error: error?.message, setAside });
}

const UNSENT: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>(['KUBE_SUPERSEDED', 'KUBE_FENCED', 'KUBE_CLOSED']);

/** Conflicts, superseded writes and writes to deleted objects are ordinary: not logged as failures. */
export function logWrite(log: Log, outage: ApiOutage, { verb, resource, namespace, name }: ObjectWrite, result: WriteResult): void {
  if (!result.ok && outage.failed('writes', result.error)) return;
  if (!result.ok && UNSENT.has(result.error.code)) return;
  outage.answered('writes');
  if (result.ok || result.error.code === 'KUBE_CONFLICT') return;
  if (result.error.code === 'KUBE_NOT_FOUND' && verb !== 'create') return;
  log.warn('write rejected', { verb, resource, namespace, name, code: result.error.code, error: result.error.message });
}
