/**
 * The addresses and the MAC that a pod requests for an interface, and whether an IP object has them. An address that is retained for a
 * StatefulSet or a virtual machine is released if the next pod requests others.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import type { Reason } from '../../../api/reasons.ts';
import { annotationKey } from '../../../api/well-known.ts';
import { addressProblem, canonicalAddress, parseAddress } from '../../../net/address.ts';
import { splitList } from '../../../net/dual.ts';
import { macProblem, parseMac } from '../../../net/mac.ts';
import type { AddressRequest } from '../../../world/reservations.ts';
import type { World } from '../../../world/world.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { addressesOfIp } from '../../ip/ip-object.ts';
import { isOutsidePools } from './misbound.ts';
import { interfaceValue } from './requested-values.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf } from '../interface/pod-interface.ts';
import type { PodView } from '../view/pod-view.ts';

/** The fields of an interface that requests depend on: of an existing pod, or of a pod that a template would create. */
export interface RequestingInterface extends Pick<PodInterface, 'provider' | 'isOvn' | 'selection'> {
  readonly pod: Pick<PodView, 'key' | 'annotations' | 'statefulSet'>;
}

/** Whether an IP object does not have the requested addresses, family, MAC or IPPool. Unreadable values request nothing. */
export function requestsOthers(world: World, nic: RequestingInterface, ip: IP): boolean {
  const has = addressesOfIp(ip);
  if (has === undefined) return false;
  if (lacksRequestedFamily(nic, ip)) return true;
  const mac = requestedMac(nic);
  if ('mac' in mac && mac.mac !== parseMac(has.mac)) return true;
  const requested = requestedAddresses(nic);
  if ('reason' in requested) return false;
  if ('anyOf' in requested) return !matchesAny(has, requested.anyOf ?? []);
  if ('v4' in requested || 'v6' in requested)
    return !matchesAny(has, [[requested.v4 ?? '', requested.v6 ?? ''].filter((one) => one !== '').join(',')]);
  const pool = poolName(annotationOf(nic, 'ip_pool'));
  return pool !== '' && isOutsidePools(world, [pool], ip);
}

/** Whether the addresses match one of the items, each an address or a dual-stack pair. A family that an item does not name matches. */
export function matchesAny({ v4, v6 }: Addresses, items: readonly string[]): boolean {
  return items.some((item) => {
    const requested = familiesIn(splitList(item));
    const has = (text: string | undefined, own: string): boolean => text === undefined || canonicalAddress(text) === own;
    return (requested.v4 ?? requested.v6) !== undefined && has(requested.v4, v4) && has(requested.v6, v6);
  });
}

/** The requested family. Undefined with a Vip, whose addresses are used as they are. */
export function requestedFamily(nic: RequestingInterface): 'v4' | 'v6' | undefined {
  if ((nic.pod.annotations[annotationKey.vip] ?? '') !== '') return undefined;
  const family = annotationOf(nic, 'ip_family').toLowerCase();
  return family === 'ipv4' ? 'v4' : family === 'ipv6' ? 'v6' : undefined;
}

/** Whether one family is requested that an IP object does not have. */
export function lacksRequestedFamily(nic: RequestingInterface, ip: IP): boolean {
  const family = requestedFamily(nic);
  return family !== undefined && addressesOfIp(ip)?.[family] === '';
}

/** The addresses of the requested family; of both if both or none are requested. */
export function ofRequestedFamily(nic: RequestingInterface, addresses: Addresses): Addresses {
  const family = requestedFamily(nic);
  if (family === undefined || addresses[family] === '') return addresses;
  return { ...addresses, [family === 'v4' ? 'v6' : 'v4']: '' };
}

export interface InvalidRequest {
  readonly reason: Reason;
  readonly message: string;
}

export function requestedMac(nic: RequestingInterface): Pick<AddressRequest, 'mac'> | InvalidRequest {
  if (!nic.isOvn) return {};
  const text =
    [interfaceValue(nic, 'mac_address'), nic.selection?.mac ?? '', annotationOf(nic, 'mac_address')].find((one) => one !== '') ?? '';
  if (text === '') return {};
  const mac = parseMac(text);
  return mac === undefined ? inSelection(nic, `mac "${text}"`, macProblem(text) ?? 'is no MAC address') : { mac };
}

/** A problem in the pod's list of networks; other annotations were validated before. */
function inSelection({ pod, selection }: RequestingInterface, what: string, problem: string): InvalidRequest {
  const network = `${selection?.namespace ?? ''}/${selection?.name ?? ''}`;
  const key = annotationKey.networkAttachments;
  return { reason: 'InvalidAnnotation', message: `Pod ${pod.key}: annotation ${key}: ${what} requested in network ${network} ${problem}` };
}

/** Requested addresses: `ip_address`, or of a list `ip_pool`: any for a plain pod, the one of its ordinal for a pod of a StatefulSet. */
export function requestedAddresses(nic: RequestingInterface): Pick<AddressRequest, 'v4' | 'v6' | 'anyOf'> | InvalidRequest {
  const single = interfaceValue(nic, 'ip_address');
  if (single !== '') return familiesIn(splitList(single));
  const selected = nic.selection?.ips ?? [];
  const bad = selected.find((item) => parseAddress(item.split('/')[0] ?? '') === undefined);
  if (bad !== undefined) return inSelection(nic, `address "${bad}"`, addressProblem(bad) ?? 'is no address');
  if (selected.length > 0) return familiesIn(selected);
  const address = annotationOf(nic, 'ip_address');
  if (address !== '') return familiesIn(splitList(address));
  const text = annotationOf(nic, 'ip_pool');
  if (text === '' || poolName(text) !== '') return {};
  const list = listedAddresses(text);
  const { statefulSet } = nic.pod;
  if (statefulSet === undefined) return { anyOf: list };
  const own = list[statefulSet.ordinal];
  if (own === undefined) {
    return {
      reason: 'NoAvailableAddress',
      message: `it lists ${list.length} addresses, and ordinal ${statefulSet.ordinal} of StatefulSet ${statefulSet.statefulSet} has none of its own; add one to the list`,
    };
  }
  return familiesIn(splitList(own));
}

/** `;` separates addresses or dual-stack pairs; `,` separates addresses, but two of different families are one pair. */
export function listedAddresses(text: string): readonly string[] {
  if (text.includes(';'))
    return text
      .split(';')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  const items = splitList(text);
  const families = new Set(items.map((item) => parseAddress(item)?.family));
  return items.length === 2 && families.size === 2 ? [items.join(',')] : items;
}

/** An item may have a prefix length. */
export function familiesIn(items: readonly string[]): { readonly v4?: string; readonly v6?: string } {
  const found: { v4?: string; v6?: string } = {};
  for (const item of items) {
    const address = item.split('/')[0] ?? '';
    const family = parseAddress(address)?.family;
    if (family !== undefined) found[family === 4 ? 'v4' : 'v6'] = address;
  }
  return found;
}

/** The IPPool in an annotation `ip_pool` that is neither a list nor an address. */
export function poolName(annotation: string): string {
  return annotation === '' || /[,;]/.test(annotation) || parseAddress(annotation) !== undefined ? '' : annotation;
}
