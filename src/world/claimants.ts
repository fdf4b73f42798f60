/**
 * Claimants: the logical identity behind an interface's IP object, port row, annotation and reservation, so that these hold
 * one address together and never conflict with each other.
 */
import { kilnAnnotation } from '../api/well-known.ts';
import type { IP } from '../api/ip.ts';

/** @param incarnation uid of the pod; absent where the address outlives pods (StatefulSet, virtual machine, node, reserved) */
export function claimantName(port: string, incarnation?: string): string {
  return incarnation === undefined || incarnation === '' ? port : `${port}#${incarnation}`;
}

/** Kinds of owner that keep an address while no pod runs. */
export function isRetained(podType: string | undefined): boolean {
  return podType === 'StatefulSet' || podType === 'VirtualMachine';
}

/**
 * The claimant of a port. What an IP object of that name says decides: one without a pod's uid (reserved by a user, of a node,
 * from Kube-OVN) or of a retained owner is claimed by name alone; any other by name and pod.
 */
export function claimantOfPort(port: string, ip: IP | undefined, podUid: string | undefined): string {
  if (ip === undefined) return claimantName(port, podUid);
  const bound = ip.metadata.annotations?.[kilnAnnotation.podUid];
  if (bound === undefined || isRetained(ip.spec.podType)) return claimantName(port);
  return claimantName(port, podUid);
}

export function claimantOfIp(ip: IP): string {
  return claimantOfPort(ip.metadata.name, ip, ip.metadata.annotations?.[kilnAnnotation.podUid]);
}
