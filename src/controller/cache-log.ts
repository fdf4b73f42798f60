/**
 * What caches tell, as log lines: trouble of one resource is said at once, then at most every half minute.
 */
import type { Clock } from '../kube/clock.ts';
import type { CacheNotice } from '../kube/list-watch-options.ts';
import type { Log } from '../runtime/log.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';

const REPEAT_MS = 30_000;

export function cacheLog(log: Log, clock: Clock): (resource: ResourceName, notice: CacheNotice) => void {
  const saidAt = new Map<string, number>();
  return (resource, notice) => {
    if (notice.kind === 'list') {
      log.debug('cache listed', { resource, reason: notice.reason, objects: notice.objects, ms: Math.round(notice.durationMs) });
      return;
    }
    if (notice.kind !== 'failure') return;
    const { code, message } = notice.error;
    const key = `${resource} ${code}`;
    const last = saidAt.get(key);
    if (last !== undefined && clock.now() - last < REPEAT_MS) return;
    saidAt.set(key, clock.now());
    const missing = code === 'KUBE_NOT_SERVED' && traitsOf(resource).group === 'kubeovn.io';
    log.warn(missing ? 'a kind of Kube-OVN is not served: its CRD is missing' : 'cache could not follow the API server', {
      resource,
      code,
      error: message,
      ...(missing ? { next: 'kubectl apply --server-side=false --validate=false -f deploy/crds.yaml' } : { retryInMs: notice.retryInMs }),
    });
  };
}
