/**
 * Claimants: the logical identity behind an interface's IP object, port row, annotation and reservation, so that these hold
 * one address together and never conflict with each other.
 */
import { FINALIZER, kilnAnnotation, labelKey } from '../api/well-known.ts';
import type { IP } from '../api/ip.ts';
import { isSubnetOwnedIp } from '../api/names.ts';
import { splitList } from '../net/dual.ts';
import { vipShare } from './address-objects.ts';

/** @param incarnation uid of the pod; absent where the address outlives pods (StatefulSet, virtual machine, node, reserved) */
export function claimantName(port: string, incarnation?: string): string {
  return incarnation === undefined || incarnation === '' ? port : `${port}#${incarnation}`;
}

/** A claimant as people know it: without the uid of its pod. */
export function portOfClaimant(claimant: string): string {
  return claimant.split('#', 1)[0] ?? claimant;
}

/** Kinds of owner that keep an address while no pod runs. */
export function isRetained(podType: string | undefined): boolean {
  return podType === 'StatefulSet' || podType === 'VirtualMachine';
}

/**
 * Whether an IP object only asks for an address: a user made it, and nobody has completed it yet. It does not hold what it names, so
 * that asking for an address in use is no conflict. One that says an address of a family (restored from a backup) holds it.
 */
export function onlyAsks({ metadata, spec }: IP): boolean {
  const { annotations = {}, finalizers = [] } = metadata;
  const { v4IpAddress = '', v6IpAddress = '' } = spec;
  const said = v4IpAddress !== '' || v6IpAddress !== '';
  return !said && annotations[kilnAnnotation.podUid] === undefined && !finalizers.includes(FINALIZER);
}

/** The addresses that an IP object holds, as text. */
export function heldTexts(ip: IP): readonly string[] {
  if (onlyAsks(ip)) return [];
  const { v4IpAddress = '', v6IpAddress = '', ipAddress = '' } = ip.spec;
  const texts = [v4IpAddress, v6IpAddress].filter((text) => text !== '');
  return texts.length > 0 ? texts : splitList(ipAddress);
}

/** The group of the Vip whose address it is: that Vip and the interface have it together. */
export function shareOfIp({ metadata }: IP): string | undefined {
  const vip = metadata.annotations?.[kilnAnnotation.vip] ?? '';
  return vip === '' ? undefined : vipShare(vip);
}

/** A user keeps the address, whether a pod has it or not. */
export function isReserved(ip: IP): boolean {
  return ip.metadata.labels?.[labelKey.ipReserved] === 'true';
}

/**
 * Whether it is of a service that its Subnet itself has (Kube-OVN's interconnection and multicast querier), and of nobody in the Subnet. The
 * IP object of a pod whose name begins like that names the pod.
 */
export function isOfSubnet({ metadata: { name }, spec: { podName } }: IP): boolean {
  return podName === name && isSubnetOwnedIp(name);
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

/** An IP object that a user made to have an address kept: nobody has completed it yet, and nothing on it is Kiln's or Kube-OVN's. */
export function isRequest(ip: IP): boolean {
  const { annotations = {}, labels = {}, finalizers = [] } = ip.metadata;
  return (
    annotations[kilnAnnotation.podUid] === undefined &&
    finalizers.length === 0 &&
    labels[labelKey.ipReserved] === undefined &&
    ip.metadata.deletionTimestamp === undefined
  );
}
