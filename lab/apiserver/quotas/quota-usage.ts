/** The amount that one object uses of a ResourceQuota. */
import type { Json } from '../json.ts';
import { at, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { podAmounts } from './pod-amounts.ts';
import type { Quantity } from './quantity.ts';
import { quantityOf } from './quantity.ts';

/** Amounts by the resource names in a quota's `hard`. */
export type Usage = ReadonlyMap<string, Quantity>;

const ONE = quantityOf(1);
/** Kinds that a quota may also name by the plain plural, without `count/`. */
const COUNTED = new Set(['configmaps', 'persistentvolumeclaims', 'replicationcontrollers', 'resourcequotas', 'secrets', 'services']);
/** Resources that a container must name if a quota limits them. */
export const COMPUTE = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

/** @param resource `pods`, `deployments.apps`. */
export function usageOf(resource: string, item: KubeObject): Usage {
  const usage = new Map<string, Quantity>([[`count/${resource}`, ONE]]);
  if (COUNTED.has(resource)) usage.set(resource, ONE);
  if (resource === 'pods' && !isOver(item)) podUsage(item, usage);
  if (resource === 'services') serviceUsage(item, usage);
  if (resource === 'persistentvolumeclaims') claimUsage(item, usage);
  return usage;
}

/** A pod that has ended counts only as an object. */
function isOver(pod: KubeObject): boolean {
  const phase = at(pod, 'status', 'phase');
  return phase === 'Failed' || phase === 'Succeeded';
}

function podUsage(pod: KubeObject, usage: Map<string, Quantity>): void {
  usage.set('pods', ONE);
  for (const kind of ['requests', 'limits'] as const) {
    for (const [name, sum] of podAmounts(pod, kind)) {
      usage.set(`${kind}.${name}`, sum);
      if (kind === 'requests') usage.set(name, sum);
    }
  }
}

function serviceUsage(service: KubeObject, usage: Map<string, Quantity>): void {
  const type = at(service, 'spec', 'type');
  const ports = list(at(service, 'spec', 'ports')).length;
  if (type === 'LoadBalancer') usage.set('services.loadbalancers', ONE);
  if (type === 'NodePort' || (type === 'LoadBalancer' && at(service, 'spec', 'allocateLoadBalancerNodePorts') !== false))
    usage.set('services.nodeports', quantityOf(ports));
}

function claimUsage(claim: KubeObject, usage: Map<string, Quantity>): void {
  const size = quantityOf(at(claim, 'spec', 'resources', 'requests', 'storage'));
  const storageClass = text(at(claim, 'spec', 'storageClassName'));
  usage.set('requests.storage', size);
  if (storageClass === '') return;
  usage.set(`${storageClass}.storageclass.storage.k8s.io/requests.storage`, size);
  usage.set(`${storageClass}.storageclass.storage.k8s.io/persistentvolumeclaims`, ONE);
}

/** Whether the object is in the scopes of a quota. */
export function inScope(quota: KubeObject, resource: string, item: KubeObject): boolean {
  const terms = [
    ...list(at(quota, 'spec', 'scopes')).map((scope) => ({ scopeName: scope, operator: 'Exists', values: [] as Json[] })),
    ...list(at(quota, 'spec', 'scopeSelector', 'matchExpressions')).map((term) => ({
      scopeName: at(term, 'scopeName') ?? '',
      operator: text(at(term, 'operator')),
      values: list(at(term, 'values')),
    })),
  ];
  if (terms.length === 0) return true;
  if (resource !== 'pods') return false;
  const ends = at(item, 'spec', 'activeDeadlineSeconds') !== undefined;
  const bestEffort = !['containers', 'initContainers'].some((field) =>
    list(at(item, 'spec', field)).some((container) =>
      ['requests', 'limits'].some((kind) => Object.keys(object(at(container, 'resources', kind))).length > 0),
    ),
  );
  const priority = text(at(item, 'spec', 'priorityClassName'));
  return terms.every(({ scopeName, operator, values }) => {
    switch (scopeName) {
      case 'Terminating':
        return ends;
      case 'NotTerminating':
        return !ends;
      case 'BestEffort':
        return bestEffort;
      case 'NotBestEffort':
        return !bestEffort;
      default:
        if (operator === 'Exists') return priority !== '';
        if (operator === 'DoesNotExist') return priority === '';
        return values.includes(priority) === (operator === 'In');
    }
  });
}
