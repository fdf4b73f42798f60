/**
 * A tenant that forges annotations: with rights on pods alone, it writes into a pod the network annotations of another pod or a node, or
 * ones that no object has, as if they had been allocated to this pod.
 */
import { annotationKey, kilnAnnotation } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import { NODES, objectsOf, PODS, SUBNET_NAMES, VIP_NAMES } from './objects.ts';
import type { Random } from '../cluster/random.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Operation } from '../steps/step.ts';

/** Label of the pods with forged annotations. */
export const FORGED_LABEL = 'lies';

const COPIED_SUFFIXES = ['ip_address', 'mac_address', 'logical_switch', 'cidr', 'gateway'] as const;

/** Undefined if there is no pod to forge annotations of, or no object to copy them from. */
export function drawForgery(random: Random, cluster: SimulatedCluster): Operation | undefined {
  const pods = objectsOf(cluster, PODS).filter(({ spec }) => (spec as { readonly hostNetwork?: boolean }).hostNetwork !== true);
  const victims = [...pods, ...objectsOf(cluster, NODES)].filter((one) => ovnAnnotation(one, 'ip_address') !== '');
  if (pods.length === 0 || victims.length === 0) return undefined;
  // A waiting pod has no port of its own: its annotations are all that there is of it.
  const waiting = pods.filter((one) => ovnAnnotation(one, 'allocated') !== 'true');
  const pod = random.pick(waiting.length > 0 && random.chance(0.5) ? waiting : pods);
  const victim = random.pick(victims);
  const provider = random.pick(['ovn', 'ovn', 'ovn', 'ovn', 'net0.ns0.ovn', 'net1.ns0', 'net0.ns0.ovn.net1']);
  const annotations: Record<string, string> = {};
  for (const suffix of COPIED_SUFFIXES)
    if (random.chance(0.8)) annotations[`${provider}.kubernetes.io/${suffix}`] = ovnAnnotation(victim, suffix);
  annotations[`${provider}.kubernetes.io/allocated`] = random.weighted({ true: 9, yes: 1 });
  if (random.chance(0.5)) annotations[`${provider}.kubernetes.io/routed`] = 'true';
  if (random.chance(0.15)) annotations[`${provider}.kubernetes.io/logical_switch`] = random.pick(['join', 'nosuch', ...SUBNET_NAMES]);
  if (random.chance(0.1)) annotations[annotationKey.vip] = random.pick(VIP_NAMES);
  if (random.chance(0.1)) annotations[annotationKey.allowedAddressPairs] = random.pick(VIP_NAMES);
  // Not `virtualmachine`: a forged one is retained, which is a known gap (docs/evidence/simulator-record.md).
  if (random.chance(0.2)) annotations[kilnAnnotation.podUid] = victim.metadata.uid;
  if (random.chance(0.1))
    annotations[kilnAnnotation.given] = JSON.stringify({ uid: pod.metadata.uid, v4: ovnAnnotation(victim, 'ip_address') });
  const { name, namespace = '' } = pod.metadata;
  return { do: 'edit', path: PODS, namespace, name, patch: { metadata: { annotations, labels: { [FORGED_LABEL]: 'true' } } } };
}

function ovnAnnotation({ metadata: { annotations = {} } }: KubeObject, suffix: string): string {
  return annotations[`ovn.kubernetes.io/${suffix}`] ?? '';
}
