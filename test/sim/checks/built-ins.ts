/**
 * The built-in objects work, whatever a user deletes: while there are nodes, the default Vpc and its two Subnets exist, the Vpc accepts new
 * Subnets, and each node has an address or a condition that says why not. Read from objects alone, without a rule.
 */
import type { Condition } from '../../../src/api/kubernetes/meta.ts';
import { DEFAULT_SUBNET, DEFAULT_VPC, FINALIZER, JOIN_SUBNET, kilnAnnotation, podAnnotation } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import type { Finding } from './check.ts';

const VPCS = 'vpcs.kubeovn.io';
const SUBNETS = 'subnets.kubeovn.io';

export function builtInFindings(store: ObjectStore): readonly Finding[] {
  const nodes = store.list('nodes').filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return nodes.length === 0 ? [] : [...missing(store), ...rejectedSubnets(store), ...waitingNodes(store, nodes)];
}

function missing(store: ObjectStore): readonly Finding[] {
  const all = [[VPCS, DEFAULT_VPC] as const, [SUBNETS, DEFAULT_SUBNET] as const, [SUBNETS, JOIN_SUBNET] as const];
  return all
    .filter(([table, name]) => store.get(table, name) === undefined)
    .map(([table, name]) => ({ kind: `progress built-in ${name}`, message: `${table} ${name} is not created again, and there are nodes` }));
}

function rejectedSubnets(store: ObjectStore): readonly Finding[] {
  const finalizers = store.get(VPCS, DEFAULT_VPC)?.metadata.finalizers ?? [];
  // Another program's finalizer keeps it: Kiln cannot end that deletion.
  if (finalizers.some((one) => one !== FINALIZER)) return [];
  return store.list(SUBNETS).flatMap((subnet): readonly Finding[] => {
    const accepted = condition(subnet, 'Accepted');
    if (accepted?.reason !== 'VpcTerminating' || accepted.message?.includes(`"${DEFAULT_VPC}"`) !== true) return [];
    return [{ kind: 'progress rejected Subnet', message: `Subnet ${subnet.metadata.name} is not accepted: ${accepted.message}` }];
  });
}

function waitingNodes(store: ObjectStore, nodes: readonly KubeObject[]): readonly Finding[] {
  const join = store.get(SUBNETS, JOIN_SUBNET);
  const status = (join?.['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const serves = join !== undefined && ['Accepted', 'Ready'].every((type) => condition(join, type)?.status === 'True');
  if (!serves || Number(status['v4availableIPs'] ?? 0) === 0) return [];
  return nodes.flatMap(({ metadata: { name, annotations = {} } }): readonly Finding[] => {
    const isAllocated = annotations[podAnnotation('ovn', 'allocated')] === 'true';
    const isReported = annotations[kilnAnnotation.conditions]?.includes('"status":"False"') === true;
    if (isAllocated || isReported) return [];
    return [
      {
        kind: 'progress node',
        message: `Node ${name} has no address in Subnet ${JOIN_SUBNET}, which has free addresses, and no condition reports why`,
      },
    ];
  });
}

function condition(subnet: KubeObject, type: string): Partial<Condition> | undefined {
  const { conditions = [] } = (subnet['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
  return conditions.find((one) => one.type === type);
}
