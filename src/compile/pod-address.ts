/**
 * The address an interface asks for: the wish that the allocation step answers. What is bound asks for exactly what it has, so
 * that the answer is the same after a restart, or after its IP object was taken away by force.
 */
import { podNetworkFindings } from '../api/pod-network-validation.ts';
import type { IP } from '../api/ip.ts';
import { parseAddress } from '../net/address.ts';
import { parseMac } from '../net/mac.ts';
import { splitList } from '../net/dual.ts';
import { keysOf } from '../world/domain.ts';
import type { AddressWish, Reservation } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, claimantOf, interfacesOf, ipOf } from './pod-interface.ts';
import { hasPodNetwork } from './pod-life.ts';
import { chooseSubnet, poolName } from './pod-subnet.ts';
import { podView } from './pod-view.ts';

export type AddressDemand =
  | { readonly kind: 'wish'; readonly wish: AddressWish }
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string };

export const podAddress: Rule = {
  name: 'pod-address',
  over: (world) => keysOf(world.pods, hasPodNetwork),
  run: (world, key) => {
    const pod = world.ask(podView, key);
    if (pod === undefined || !pod.alive) return [];
    return interfacesOf(pod).flatMap((nic) => {
      const demand = demandOf(world, nic);
      return demand.kind === 'wish' ? [demand] : [];
    });
  },
};

export function demandOf(world: World, nic: PodInterface): AddressDemand {
  const choice = chooseSubnet(world, nic);
  if (choice.kind === 'waiting') return choice;
  const base = { claimant: claimantOf(world, nic), since: nic.pod.created };
  if (choice.kind === 'bound') {
    const held = heldAddresses(nic, choice.from === 'ip' ? ipOf(world, nic) : undefined);
    return { kind: 'wish', wish: { ...base, subnets: [choice.subnet], ...held } };
  }
  const [finding] = podNetworkFindings({ kind: 'Pod', namespace: nic.pod.namespace, name: nic.pod.name }, nic.pod.annotations);
  if (finding !== undefined) return { kind: 'waiting', reason: 'InvalidAnnotation', message: finding.message };
  const asked = askedAddresses(nic);
  if ('reason' in asked) return { kind: 'waiting', ...asked };
  const pool = choice.pool === '' || 'v4' in asked || 'v6' in asked || 'anyOf' in asked ? {} : { pool: choice.pool };
  const mac = parseMac(annotationOf(nic, 'mac_address'));
  return { kind: 'wish', wish: { ...base, subnets: choice.subnets, families: familiesAsked(nic), ...asked, ...pool, ...(mac !== undefined && { mac }) } };
}

/** Undefined while nobody has answered yet. */
export function reservationOf(world: World, nic: PodInterface): Reservation | undefined {
  return world.reservations.get(claimantOf(world, nic));
}

type Addresses = Pick<AddressWish, 'families' | 'v4' | 'v6' | 'mac'>;

/** What a bound interface has, by its IP object or else by its annotations. */
function heldAddresses(nic: PodInterface, ip: IP | undefined): Addresses {
  const text = ip === undefined ? annotationOf(nic, 'ip_address') : (ip.spec.ipAddress ?? '');
  const mac = parseMac(ip === undefined ? annotationOf(nic, 'mac_address') : (ip.spec.macAddress ?? ''));
  const { v4, v6 } = familiesIn(splitList(text));
  const families = v4 === undefined ? (v6 === undefined ? 'subnet' : 'v6') : v6 === undefined ? 'v4' : 'dual';
  return { families, ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }), ...(mac !== undefined && { mac }) };
}

function familiesAsked(nic: PodInterface): AddressWish['families'] {
  const family = annotationOf(nic, 'ip_family').toLowerCase();
  return family === 'ipv4' ? 'v4' : family === 'ipv6' ? 'v6' : 'subnet';
}

interface Refused {
  readonly reason: string;
  readonly message: string;
}

/** Addresses by name: `ip_address`, or of a list `ip_pool` any for a plain pod, the one of its ordinal for a StatefulSet's. */
function askedAddresses(nic: PodInterface): Pick<AddressWish, 'v4' | 'v6' | 'anyOf'> | Refused {
  const address = annotationOf(nic, 'ip_address');
  if (address !== '') return familiesIn(splitList(address));
  const text = annotationOf(nic, 'ip_pool');
  if (text === '' || poolName(text) !== '') return {};
  const list = listedAddresses(text);
  const { statefulSet } = nic.pod;
  if (statefulSet === undefined) return { anyOf: list };
  const own = list[statefulSet.ordinal];
  if (own === undefined) {
    return { reason: 'NoAvailableAddress', message: `annotation ip_pool lists ${list.length} addresses, and ordinal ${statefulSet.ordinal} of StatefulSet ${statefulSet.statefulSet} has none of its own; add one to the list` };
  }
  return familiesIn(splitList(own));
}

/** With `;` a list of addresses or pairs; with `,` a list of addresses, but two of different families are one pair. */
function listedAddresses(text: string): readonly string[] {
  if (text.includes(';')) return text.split(';').map((item) => item.trim()).filter((item) => item !== '');
  const items = splitList(text);
  const families = new Set(items.map((item) => parseAddress(item)?.family));
  return items.length === 2 && families.size === 2 ? [items.join(',')] : items;
}

/** An item may be written as a network's address with its prefix. */
function familiesIn(items: readonly string[]): { readonly v4?: string; readonly v6?: string } {
  const found: { v4?: string; v6?: string } = {};
  for (const item of items) {
    const address = item.split('/')[0] ?? '';
    const family = parseAddress(address)?.family;
    if (family !== undefined) found[family === 4 ? 'v4' : 'v6'] = address;
  }
  return found;
}
