/** Events of caches as log lines: an error of one resource is logged once, and again only if its code changes or it ends. */
import type { Clock } from '../../timing/clock.ts';
import { DEFINITIONS } from '../../kube/cache/definition-watch.ts';
import type { KubeError } from '../../kube/errors.ts';
import type { CacheEvent } from '../../kube/cache/list-watch-options.ts';
import type { Log } from '../../runtime/log.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { ApiOutage } from '../outages/api-outage.ts';

/** A starting API server does not serve custom resources for so long, and answers as if the kind did not exist. */
const BEGINS_MS = 10_000;

export function cacheLog(log: Log, outage: ApiOutage, clock: Clock): (resource: ResourceName, event: CacheEvent) => void {
  /** The logged error code of each failing resource. */
  const logged = new Map<ResourceName, string>();
  /** Kinds that were served before. */
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
    const code = logged.get(resource);
    if (code === undefined) return;
    logged.delete(resource);
    log.info('list and watch work again', { resource, code });
  };
  return (resource, event) => {
    switch (event.kind) {
      case 'list':
        log.debug('cache listed', { resource, reason: event.reason, objects: event.objects, ms: Math.round(event.durationMs) });
        return;
      case 'shrunk':
        log.warn('a list lacks many known objects: a second list has to confirm before they count as gone', {
          resource,
          absent: event.absent,
          had: event.had,
          againInMs: event.againInMs,
        });
        return;
      case 'restored':
        log.warn('the API server has an older version than this process has observed: its data was restored; all kinds are listed again', {
          resource,
          observed: event.held,
          served: event.served,
        });
        return;
      case 'state':
        if (event.state === 'synced') over(resource);
        // The server answered: it does not know the kind.
        if (event.state === 'not-served') outage.answered(resource);
        return;
      case 'failure':
      case 'undecodable': {
        const { error } = event;
        if (outage.failed(resource, error) || logged.get(resource) === error.code || mayPass(resource, error)) return;
        logged.set(resource, error.code);
        const notServed = error.code === 'KUBE_NOT_SERVED';
        const missing = notServed && traitsOf(resource).group === 'kubeovn.io';
        if (notServed && !missing) {
          log.info('an optional kind is not served: its CRD is not installed', { resource, group: traitsOf(resource).group });
          return;
        }
        log.warn(missing ? 'a kind of Kube-OVN is not served: its CRD is missing' : 'list or watch failed', {
          resource,
          code: error.code,
          error: error.message,
          ...(missing ? { next: 'kubectl apply --server-side=false --validate=false -f deploy/crds.yaml' } : {}),
        });
      }
    }
  };
}

/** Without a watch of the definitions everything works, with a request from time to time for each missing kind: logged once. */
export function definitionsLog(log: Log, outage: ApiOutage): (event: CacheEvent) => void {
  let logged = false;
  return (event) => {
    if (event.kind === 'state' && event.state === 'synced') outage.answered(DEFINITIONS.plural);
    if (event.kind !== 'failure' || outage.failed(DEFINITIONS.plural, event.error) || logged) return;
    logged = true;
    log.warn('CustomResourceDefinitions cannot be watched: kinds that are not served are tried every 30 s', {
      code: event.error.code,
      error: event.error.message,
      next: 'kubectl apply -f deploy/rbac.yaml',
    });
  };
}
