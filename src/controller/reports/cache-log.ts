/** What caches tell, as log lines: trouble of one resource is said once, and said again only when it becomes another or is over. */
import type { Clock } from '../../kube/clock.ts';
import { DEFINITIONS } from '../../kube/definition-watch.ts';
import type { KubeError } from '../../kube/errors.ts';
import type { CacheNotice } from '../../kube/list-watch-options.ts';
import type { Log } from '../../runtime/log.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { ApiOutage } from '../outages/api-outage.ts';

/** An API server that has just begun does not serve custom resources for so long, and answers as if there were no such kind. */
const BEGINS_MS = 10_000;

export function cacheLog(log: Log, outage: ApiOutage, clock: Clock): (resource: ResourceName, notice: CacheNotice) => void {
  /** The code that was said of a resource and is not over. */
  const said = new Map<ResourceName, string>();
  /** Kinds that were served once. */
  const served = new Set<ResourceName>();
  const notServedSince = new Map<ResourceName, number>();
  const mayPass = (resource: ResourceName, error: KubeError): boolean => {
    if (error.code !== 'KUBE_NOT_SERVED' || !served.has(resource)) return false;
    const since = notServedSince.get(resource) ?? clock.now();
    notServedSince.set(resource, since);
    return clock.now() - since < BEGINS_MS;
  };
  const over = (resource: ResourceName): void => {
    outage.answered(resource);
    served.add(resource);
    notServedSince.delete(resource);
    const code = said.get(resource);
    if (code === undefined) return;
    said.delete(resource);
    log.info('cache follows the API server again', { resource, code });
  };
  return (resource, notice) => {
    switch (notice.kind) {
      case 'list':
        log.debug('cache listed', { resource, reason: notice.reason, objects: notice.objects, ms: Math.round(notice.durationMs) });
        return;
      case 'shrunk':
        log.warn('a list lacks much that was there: a second one has to agree before it is taken as gone', {
          resource,
          absent: notice.absent,
          had: notice.had,
          againInMs: notice.againInMs,
        });
        return;
      case 'state':
        if (notice.state === 'synced') over(resource);
        // It answered: it does not know the kind.
        if (notice.state === 'not-served') outage.answered(resource);
        return;
      case 'failure':
      case 'undecodable': {
        const { error } = notice;
        if (outage.failed(resource, error) || said.get(resource) === error.code || mayPass(resource, error)) return;
        said.set(resource, error.code);
        const notServed = error.code === 'KUBE_NOT_SERVED';
        const missing = notServed && traitsOf(resource).group === 'kubeovn.io';
        if (notServed && !missing) {
          log.info('a kind is not served: what brings it is not installed', { resource, group: traitsOf(resource).group });
          return;
        }
        log.warn(missing ? 'a kind of Kube-OVN is not served: its CRD is missing' : 'cache could not follow the API server', {
          resource,
          code: error.code,
          error: error.message,
          ...(missing ? { next: 'kubectl apply --server-side=false --validate=false -f deploy/crds.yaml' } : {}),
        });
      }
    }
  };
}

/** Without the definitions all works, with a request now and then for each kind that is not served: said once. */
export function definitionsLog(log: Log, outage: ApiOutage): (notice: CacheNotice) => void {
  let said = false;
  return (notice) => {
    if (notice.kind === 'state' && notice.state === 'synced') outage.answered(DEFINITIONS.plural);
    if (notice.kind !== 'failure' || outage.failed(DEFINITIONS.plural, notice.error) || said) return;
    said = true;
    log.warn('definitions of custom resources cannot be followed: kinds that are not served are asked for every 30 s', {
      code: notice.error.code,
      error: notice.error.message,
      next: 'kubectl apply -f deploy/rbac.yaml',
    });
  };
}
