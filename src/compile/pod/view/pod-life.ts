/**
 * Whether a pod still uses its network, and what retains its addresses when it is gone: predicates over a Pod alone, with the rules of
 * Kube-OVN's `isPodAlive`, `isStatefulSetPod` and `isVMPod`.
 */
import type { Pod } from '../../../api/kubernetes/core.ts';
import { launchedInstance } from '../../../api/kubernetes/virtual-machine.ts';
import type { Settings } from '../../../world/settings.ts';

/** The default of Kubernetes. */
const DEFAULT_GRACE_SECONDS = 30;

/** Whether its containers have ended and will not start again. */
export function isFinished(pod: Pod): boolean {
  const { phase, reason } = pod.status ?? {};
  const restartPolicy = pod.spec.restartPolicy ?? 'Always';
  if (phase === 'Succeeded') return restartPolicy !== 'Always';
  if (phase === 'Failed') return restartPolicy === 'Never' || reason === 'Evicted';
  return false;
}

/**
 * When a terminating pod on a dead node counts as gone, in milliseconds since the epoch; undefined if it is not being deleted. The
 * deletionTimestamp includes the grace period; the kubelet gets it once more.
 */
export function deadNodeDeadline(pod: Pod): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined) return undefined;
  const deletedAt = Date.parse(deletionTimestamp);
  if (Number.isNaN(deletedAt)) return undefined;
  const grace = deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  return deletedAt + grace * 1000;
}

/** @param passed whether a deadline (milliseconds since the epoch) has passed */
export function isAlive(pod: Pod, passed: (deadline: number) => boolean): boolean {
  if (isFinished(pod)) return false;
  const lost = deadNodeDeadline(pod);
  return lost === undefined || !passed(lost);
}

/** Whether it needs a port: pods with `hostNetwork` have none. */
export function hasPodNetwork(pod: Pod): boolean {
  return pod.spec.hostNetwork !== true;
}

/** The ordinal of a pod in its StatefulSet. */
export interface Ordinal {
  readonly statefulSet: string;
  readonly statefulSetUid: string;
  readonly ordinal: number;
}

export function ordinalOf(pod: Pod): Ordinal | undefined {
  const owner = pod.metadata.ownerReferences?.find((one) => one.kind === 'StatefulSet' && one.apiVersion.startsWith('apps/'));
  if (owner === undefined || !pod.metadata.name.startsWith(`${owner.name}-`)) return undefined;
  const ordinal = ordinalIn(pod.metadata.name);
  return ordinal === undefined ? undefined : { statefulSet: owner.name, statefulSetUid: owner.uid, ordinal };
}

/** The number after the last dash of a StatefulSet pod's name. */
export function ordinalIn(podName: string): number | undefined {
  const digits = /-(\d+)$/.exec(podName)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The virtual machine whose name the pod's interfaces have; undefined for other pods. */
export function machineNameOf(pod: Pod, { keepVmIp }: Pick<Settings, 'keepVmIp'>): string | undefined {
  return keepVmIp ? launchedInstance(pod.metadata)?.name : undefined;
}
