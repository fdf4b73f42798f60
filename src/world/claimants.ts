/**
 * Claimants: the identity of an interface (of a Vip or an EIP: `address-objects.ts`). Its IP object, port row, annotations and reservation
 * have the same claimant, so that they hold one address together and never conflict with each other.
 */
import { FINALIZER, kilnAnnotation, labelKey } from '../api/well-known.ts';
import type { IP } from '../api/kinds/ip.ts';
import { isSubnetOwnedIp } from '../api/names.ts';
import { canonicalAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { vipSharingGroup } from './address-objects.ts';

/** @param podUid uid of the pod; absent where the address outlives pods (StatefulSet, virtual machine, node, reserved) */
export function claimantName(port: string, podUid?: string): string {
  return podUid === undefined || podUid === '' ? port : `${port}#${podUid}`;
}

/** A claimant as users know it: without the uid of its pod. */
export function portOfClaimant(claimant: string): string {
  return claimant.split('#', 1)[0] ?? claimant;
}

/** Whether owners of this kind keep their address while no pod runs. */
export function isRetained(podType: string | undefined): boolean {
  return podType === 'StatefulSet' || podType === 'VirtualMachine';
}

/**
 * Whether an IP object only requests an address: a user created it, and Kiln has not completed it yet. It does not hold the address that it
 * names, so a request for an address in use is no conflict. One with `v4IpAddress` or `v6IpAddress` (from a backup) holds that address.
 */
export function onlyRequests({ metadata, spec }: IP): boolean {
  const { annotations = {}, finalizers = [] } = metadata;
  const { v4IpAddress = '', v6IpAddress = '' } = spec;
  const hasAddress = v4IpAddress !== '' || v6IpAddress !== '';
  return !hasAddress && annotations[kilnAnnotation.podUid] === undefined && !finalizers.includes(FINALIZER);
}

/** The addresses that an IP object holds, as text. */
export function heldTexts(ip: IP): readonly string[] {
  if (onlyRequests(ip)) return [];
  const { v4IpAddress = '', v6IpAddress = '', ipAddress = '' } = ip.spec;
  const texts = [v4IpAddress, v6IpAddress].filter((text) => text !== '');
  return texts.length > 0 ? texts : splitList(ipAddress);
}

/** The same in canonical form: an index that is read for pods with `port_vips` alone, since there are very many IP objects. */
export function heldAddresses(ip: IP): readonly string[] {
  return heldTexts(ip).flatMap((text) => canonicalAddress(text) ?? []);
}

/** The sharing group of an interface with the address of a Vip: the Vip and the interface hold that address together. */
export function ipSharingGroup({ metadata }: IP): string | undefined {
  const vip = metadata.annotations?.[kilnAnnotation.vip] ?? '';
  return vip === '' ? undefined : vipSharingGroup(vip);
}

/** A user reserved the address: it stays in use, with or without a pod. */
export function isReserved(ip: IP): boolean {
  return ip.metadata.labels?.[labelKey.ipReserved] === 'true';
}

/**
 * Whether the address is for the Subnet itself (Kube-OVN's interconnection address or multicast querier), and for no interface. A pod may
 * have a name with the same prefix: its IP object names the pod.
 */
export function isOfSubnet({ metadata: { name }, spec: { podName } }: IP): boolean {
  return podName === name && isSubnetOwnedIp(name);
}

/**
 * The claimant of a port. The IP object of that name decides: without a pod's uid (reserved by a user, a node's, Kube-OVN's), or with a
 * retained owner, the claimant is the name alone; else name and pod. Without an IP object `retained` decides: whether the pod has a
 * retained owner.
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

/** An IP object that a user created to reserve an address, and that neither Kiln nor Kube-OVN has completed yet. */
export function isRequest(ip: IP): boolean {
  const { annotations = {}, labels = {}, finalizers = [] } = ip.metadata;
  return (
    annotations[kilnAnnotation.podUid] === undefined &&
    finalizers.length === 0 &&
    labels[labelKey.ipReserved] === undefined &&
    ip.metadata.deletionTimestamp === undefined
  );
}
