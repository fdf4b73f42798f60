/**
 * One interface of a pod, a unit of its own: its provider names its annotations, its port and its IP object. Everything about an
 * interface (Subnet, address, IP object, port, annotations) is derived one interface at a time.
 */
import { readable } from '../../api/pod/annotation-limits.ts';
import { portName } from '../../api/names.ts';
import type { NetworkSelection } from '../../api/pod/network-selection.ts';
import type { ReadPodAnnotation } from '../../api/annotations.ts';
import { annotationKey, DEFAULT_PROVIDER, kilnAnnotation, podAnnotation } from '../../api/well-known.ts';
import type { IP } from '../../api/kinds/ip.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import { isReserved } from '../../world/claimants.ts';
import type { World } from '../../world/world.ts';
import type { PodView } from './pod-view.ts';
import { bearerOf } from './pod-view.ts';

export interface PodInterface {
  readonly pod: PodView;
  readonly provider: string;
  /** Name of its port and of its IP object. */
  readonly port: string;
  /** Identity of its port row: asked for many times in a run. */
  readonly row: RowId;
  /** OVN carries it; one that only takes its address from here has no port and no MAC. */
  readonly isOvn: boolean;
  /** What the pod's list of networks says of it; undefined for the pod's own interface. */
  readonly selection: NetworkSelection | undefined;
}

export function ownInterface(pod: PodView): PodInterface {
  const port = portOf(pod, DEFAULT_PROVIDER);
  return { pod, provider: DEFAULT_PROVIDER, port, row: portId(port), isOvn: true, selection: undefined };
}

export function portOf(pod: PodView, provider: string): string {
  return portName(bearerOf(pod), pod.namespace, provider);
}

type Annotated = Pick<PodInterface, 'provider'> & { readonly pod: Pick<PodView, 'annotations'> };

/** What the pod says about this interface; empty text where it says nothing, or more than Kiln reads. */
export function annotationOf(nic: Annotated, suffix: ReadPodAnnotation): string {
  return readable(suffix, nic.pod.annotations[podAnnotation(nic.provider, suffix)] ?? '').trim();
}

/** Marked as allocated: agents may have set it up, so its Subnet and addresses stand. */
export function isAllocated(nic: PodInterface): boolean {
  return annotationOf(nic, 'allocated') === 'true';
}

/** It names neither Subnet, pool, address nor Vip: which Subnet it is in is its namespace's to say. */
export function leavesSubnetOpen(nic: PodInterface): boolean {
  return (
    nic.provider === DEFAULT_PROVIDER &&
    (nic.pod.annotations[annotationKey.vip] ?? '') === '' &&
    (['logical_switch', 'ip_pool', 'ip_address'] as const).every((suffix) => annotationOf(nic, suffix) === '')
  );
}

/** Its IP object: not one that an earlier pod of the same name left. */
export function ipOf(world: World, nic: PodInterface): IP | undefined {
  const ip = world.ips.get(nic.port);
  return ip !== undefined && isIpOfPod(ip, nic.pod) ? ip : undefined;
}

/**
 * Whether an IP object was made for this pod, for another one of the same place in its StatefulSet or of its virtual machine, or (by a
 * user in advance, or by Kube-OVN) for any pod of its name.
 */
export function isIpOfPod(ip: IP, pod: PodView): boolean {
  if (ip.spec.podName !== bearerOf(pod) || ip.spec.namespace !== pod.namespace) return false;
  const { annotations = {} } = ip.metadata;
  const madeFor = annotations[kilnAnnotation.podUid];
  if (madeFor === undefined || madeFor === pod.uid || isReserved(ip)) return true;
  const owner = annotations[kilnAnnotation.ownerUid];
  if (ip.spec.podType === 'VirtualMachine' && pod.machine !== undefined) return (owner ?? pod.machine.uid) === (pod.machine.uid ?? owner);
  if (ip.spec.podType !== 'StatefulSet' || pod.statefulSet === undefined) return false;
  return (owner ?? pod.statefulSet.statefulSetUid) === pod.statefulSet.statefulSetUid;
}

export function portId(port: string): RowId {
  return rowId('Logical_Switch_Port', port);
}
