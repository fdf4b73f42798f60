/**
 * One interface of a pod. Its provider names its annotations, its port and its IP object. Subnet, address, IP object, port and annotations
 * are derived for each interface alone.
 */
import { readable } from '../../../api/pod/annotation-limits.ts';
import { portName } from '../../../api/names.ts';
import type { NetworkSelection } from '../../../api/pod/network-selection.ts';
import type { ReadPodAnnotation } from '../../../api/annotations.ts';
import { annotationKey, DEFAULT_PROVIDER, kilnAnnotation, podAnnotation } from '../../../api/well-known.ts';
import type { IP } from '../../../api/kinds/ip.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { rowId } from '../../../nb/row-id.ts';
import { isReserved } from '../../../world/claimants.ts';
import type { World } from '../../../world/world.ts';
import type { PodView } from '../view/pod-view.ts';
import { podOrMachineName } from '../view/pod-view.ts';

export interface PodInterface {
  readonly pod: PodView;
  readonly provider: string;
  /** Name of its port and of its IP object. */
  readonly port: string;
  /** Identity of its port row; cached, since a run reads it many times. */
  readonly row: RowId;
  /** Whether OVN implements it; otherwise it has only an address, without port and MAC. */
  readonly isOvn: boolean;
  /** Its element in the pod's list of networks; undefined for the pod's own interface. */
  readonly selection: NetworkSelection | undefined;
  /** Whether it is the pod's own interface, by annotation `default-network`. */
  readonly replacesOwn?: true;
}

export function ownInterface(pod: PodView): PodInterface {
  const port = portOf(pod, DEFAULT_PROVIDER);
  return { pod, provider: DEFAULT_PROVIDER, port, row: portId(port), isOvn: true, selection: undefined };
}

export function portOf(pod: PodView, provider: string): string {
  return portName(podOrMachineName(pod), pod.namespace, provider);
}

type Annotated = Pick<PodInterface, 'provider'> & { readonly pod: Pick<PodView, 'annotations'> };

/** The pod's annotation for this interface; empty if absent or longer than Kiln reads. */
export function annotationOf(nic: Annotated, suffix: ReadPodAnnotation): string {
  return readable(suffix, nic.pod.annotations[podAnnotation(nic.provider, suffix)] ?? '').trim();
}

/** Whether it is marked as allocated: agents may have set it up, so its Subnet and addresses stay. */
export function isAllocated(nic: PodInterface): boolean {
  return annotationOf(nic, 'allocated') === 'true';
}

/** Whether the pod requests neither Subnet, pool, address nor Vip for it: its namespace decides the Subnet. */
export function leavesSubnetOpen(nic: PodInterface): boolean {
  return (
    nic.provider === DEFAULT_PROVIDER &&
    (nic.pod.annotations[annotationKey.vip] ?? '') === '' &&
    (['logical_switch', 'ip_pool', 'ip_address'] as const).every((suffix) => annotationOf(nic, suffix) === '')
  );
}

/** Its IP object; not one of an earlier pod of the same name. */
export function ipOf(world: World, nic: PodInterface): IP | undefined {
  const ip = world.ips.get(nic.port);
  return ip !== undefined && isIpOfPod(ip, nic.pod) ? ip : undefined;
}

/**
 * Whether an IP object was created for this pod, for another pod of the same ordinal of its StatefulSet or of its virtual machine, or (by a
 * user in advance, or by Kube-OVN) for any pod of its name.
 */
export function isIpOfPod(ip: IP, pod: PodView): boolean {
  if (ip.spec.podName !== podOrMachineName(pod) || ip.spec.namespace !== pod.namespace) return false;
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
