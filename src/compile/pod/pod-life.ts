/**
 * Whether a pod still uses its network, and who keeps its addresses when it is gone: predicates over a Pod alone.
 * The rules of Kube-OVN's `isPodAlive`, `isStatefulSetPod` and `isVMPod`.
 */
import type { Pod } from '../../api/kubernetes/core.ts';
import { launchedInstance } from '../../api/kubernetes/virtual-machine.ts';
import type { Settings } from '../../world/settings.ts';

/** Kubernetes' own default, for a pod that says nothing. */
const DEFAULT_GRACE_SECONDS = 30;

/** Containers have ended and will not start again, so the address is of no use to it. */
export function isFinished(pod: Pod): boolean {
  const { phase, reason } = pod.status ?? {};
  const restartPolicy = pod.spec.restartPolicy ?? 'Always';
  if (phase === 'Succeeded') return restartPolicy !== 'Always';
  if (phase === 'Failed') return restartPolicy === 'Never' || reason === 'Evicted';
  return false;
}

/**
 * When a terminating pod counts as gone although no kubelet said so (its node is lost), in milliseconds since the epoch;
 * undefined while nobody asked for its deletion. The deletion time has the grace period in it already; the kubelet gets it once more.
 */
export function deadNodeDeadline(pod: Pod): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined) return undefined;
  const asked = Date.parse(deletionTimestamp);
  if (Number.isNaN(asked)) return undefined;
  const grace = deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  return asked + grace * 1000;
}

/** @param passed whether a deadline (milliseconds since the epoch) has passed */
export function isAlive(pod: Pod, passed: (deadline: number) => boolean): boolean {
  if (isFinished(pod)) return false;
  const lost = deadNodeDeadline(pod);
  return lost === undefined || !passed(lost);
}

/** Pods of the host's network have no port. */
export function hasPodNetwork(pod: Pod): boolean {
  return pod.spec.hostNetwork !== true;
}

/** The place of a pod in the StatefulSet that made it. */
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

/** The virtual machine whose name the interfaces of a pod bear; undefined for a pod that bears its own. */
export function machineNameOf(pod: Pod, { keepVmIp }: Pick<Settings, 'keepVmIp'>): string | undefined {
  return keepVmIp ? launchedInstance(pod.metadata)?.name : undefined;
}
