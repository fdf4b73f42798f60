/**
 * Claimants: the logical identity behind an interface's IP object, port row, annotation and reservation, so that these hold
 * one address together and never conflict with each other.
 */
import { kilnAnnotation, labelKey } from '../api/well-known.ts';
import type { IP } from '../api/ip.ts';

/** @param incarnation uid of the pod; absent where the address outlives pods (StatefulSet, virtual machine, node, reserved) */
export function claimantName(port: string, incarnation?: string): string {
  return incarnation === undefined || incarnation === '' ? port : `${port}#${incarnation}`;
}

/** Kinds of owner that keep an address while no pod runs. */
export function isRetained(podType: string | undefined): boolean {
  return podType === 'StatefulSet' || podType === 'VirtualMachine';
}

/** A user keeps the address, whether a pod has it or not. */
export function isReserved(ip: IP): boolean {
  return ip.metadata.labels?.[labelKey.ipReserved] === 'true';
}

/**
 * The claimant of a port. What an IP object of that name says decides: one without a pod's uid (reserved by a user, of a node,
 * from Kube-OVN) or of a retained owner is claimed by name alone; any other by name and pod. Without an IP object it is `retained`,
 * whether the pod is of such an owner, that decides.
 */
export function claimantOfPort(port: string, ip: IP | undefined, podUid: string | undefined, retained = false): string {
  if (ip === undefined) return claimantName(port, retained ? undefined : podUid);
  const bound = ip.metadata.annotations?.[kilnAnnotation.podUid];
  if (bound === undefined || isRetained(ip.spec.podType) || isReserved(ip)) return claimantName(port);
  return claimantName(port, podUid);
}

export function claimantOfIp(ip: IP): string {
  return claimantOfPort(ip.metadata.name, ip, ip.metadata.annotations?.[kilnAnnotation.podUid]);
}
