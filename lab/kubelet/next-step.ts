/** The next step of scheduler and kubelet for a pod: a pure function with the whole behaviour of the stand-in. */
import { parseNetworkSelections } from '../../src/api/pod/network-selection.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../../src/api/well-known.ts';
import type { LabNode } from './lab-node.ts';
import type { ObservedPod } from './observed-pod.ts';

/** What scheduler and kubelet do next for a pod. */
export type Step =
  | { readonly kind: 'bind'; readonly candidates: readonly LabNode[] }
  | { readonly kind: 'set-up'; readonly node: LabNode }
  | { readonly kind: 'tear-down' }
  | { readonly kind: 'run'; readonly node: LabNode; readonly addresses: readonly string[] }
  | { readonly kind: 'confirm-deletion' };

/**
 * A pod without a node is bound to one; a pod on one of our nodes runs once its network exists (with host networking: at once); the
 * deletion of a pod that is being deleted is confirmed.
 *
 * @param takesPods whether the node accepts new pods now
 * @param inSandbox where pods have sandboxes: the addresses of the pod's, undefined for a pod without one. Otherwise a pod's network exists
 *   when its annotations say so
 * @returns undefined if the pod needs no step, or is on a node of another kubelet
 */
export function nextStep(
  pod: ObservedPod,
  nodes: readonly LabNode[],
  takesPods: (node: LabNode) => boolean = () => true,
  inSandbox?: (pod: ObservedPod) => readonly string[] | undefined,
): Step | undefined {
  const { nodeName } = pod.spec;
  if (isUnbound(pod)) return bindStep(pod, nodes.filter(takesPods));
  const node = nodes.find(({ name }) => name === nodeName);
  if (node === undefined) return undefined;
  if (isTerminating(pod)) return isConfirmed(pod) ? undefined : { kind: 'confirm-deletion' };
  return runStep(pod, node, inSandbox);
}

export function isUnbound({ spec: { nodeName = '' } }: ObservedPod): boolean {
  return nodeName === '';
}

function bindStep(pod: ObservedPod, nodes: readonly LabNode[]): Step | undefined {
  const { schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec;
  if (isTerminating(pod) || schedulerName !== 'default-scheduler' || schedulingGates.length > 0) return undefined;
  const candidates = nodes.filter((node) => accepts(pod, node));
  return candidates.length === 0 ? undefined : { kind: 'bind', candidates };
}

function runStep(pod: ObservedPod, node: LabNode, inSandbox: Parameters<typeof nextStep>[3]): Step | undefined {
  const phase = pod.status?.phase ?? 'Pending';
  const ended = phase === 'Succeeded' || phase === 'Failed';
  const addresses = inSandbox !== undefined ? inSandbox(pod) : pod.spec.hostNetwork === true ? node.addresses : networkAddresses(pod);
  if (ended) return inSandbox !== undefined && addresses !== undefined ? { kind: 'tear-down' } : undefined;
  if (addresses === undefined) return inSandbox === undefined ? undefined : { kind: 'set-up', node };
  const shown = pod.status?.podIPs?.map(({ ip }) => ip) ?? [];
  const upToDate = phase === 'Running' && shown.join() === addresses.join();
  return upToDate ? undefined : { kind: 'run', node, addresses };
}

/** The addresses of the primary interface, once the annotations say that its port and its route exist. */
function networkAddresses({ metadata }: ObservedPod): readonly string[] | undefined {
  const provider = primaryProvider(metadata);
  const value = (suffix: 'allocated' | 'routed' | 'ip_address'): string | undefined =>
    metadata.annotations?.[podAnnotation(provider, suffix)];
  if (value('allocated') !== 'true' || value('routed') !== 'true') return undefined;
  const addresses = (value('ip_address') ?? '').split(',').filter((address) => address !== '');
  return addresses.length === 0 ? undefined : addresses;
}

/** Multus lets a pod name another network as its default network. */
function primaryProvider({ namespace = '', annotations }: ObservedPod['metadata']): string {
  const own = parseNetworkSelections(annotations?.[annotationKey.defaultNetworkAttachment] ?? '', namespace);
  const [first] = own.ok ? own.selections : [];
  return first === undefined ? DEFAULT_PROVIDER : `${first.name}.${first.namespace}.ovn`;
}

export function isTerminating({ metadata }: ObservedPod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}

/** Its grace period is over, so only finalizers keep it. */
function isConfirmed({ metadata }: ObservedPod): boolean {
  return metadata.deletionGracePeriodSeconds === 0;
}

/** The node selector, and the node names that DaemonSets set. Other affinities are not implemented. */
function accepts({ spec }: ObservedPod, node: LabNode): boolean {
  const selected = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => node.labels[key] === value);
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const names = terms?.flatMap(({ matchFields = [] }) =>
    matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In').flatMap(({ values = [] }) => values),
  );
  return selected && (names === undefined || names.length === 0 || names.includes(node.name));
}
