/**
 * The address an interface asks for: the wish that the allocation step answers. What is bound asks for exactly what it has, so
 * that the answer is the same after a restart, or after its IP object was taken away by force.
 */
import type { Reason } from '../../api/reasons.ts';
import { podNetworkFindings } from '../../api/pod-network-validation.ts';
import { annotationKey } from '../../api/well-known.ts';
import { addressProblem, parseAddress } from '../../net/address.ts';
import { macProblem, parseMac } from '../../net/mac.ts';
import { splitList } from '../../net/dual.ts';
import type { AddressWish } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import type { Held } from './held-addresses.ts';
import type { Addresses } from '../ip/ip-object.ts';
import { ipPatchRefusal, ipRefusal } from '../ip/ip-refusal.ts';
import { ipInTheWay } from './ip-in-the-way.ts';
import { interfaceAsks, toldOf } from './pod-asks.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf } from './pod-interface.ts';
import { chooseSubnet, poolName } from './pod-subnet.ts';
import { addressesOfVip, allowedPairProblem, shareOf, vipNamed } from './pod-vip.ts';

export type AddressDemand =
  | { readonly kind: 'wish'; readonly wish: AddressWish }
  | { readonly kind: 'waiting'; readonly reason: Reason; readonly message: string }
  /** What is in its way goes by itself; nobody has to be told. */
  | { readonly kind: 'pending' }
  /** It goes before it had anything. */
  | { readonly kind: 'none' };

export function demandOf(world: World, nic: PodInterface, claimant: string, held: Held): AddressDemand {
  const demand = askedOf(world, nic, claimant, held);
  if (demand.kind !== 'wish' || held.bound) return demand;
  const { ip, lead } = held;
  const who = `Pod ${nic.pod.key}`;
  const refusal = ip === undefined ? ipRefusal(world, nic.port, lead.uid, who, false) : ipPatchRefusal(world, ip, who, false);
  return refusal?.rests === true ? { kind: 'waiting', reason: 'IPRefused', message: refusal.message } : demand;
}

function askedOf(world: World, nic: PodInterface, claimant: string, held: Held): AddressDemand {
  const choice = chooseSubnet(world, nic, held);
  if (choice.kind === 'waiting')
    return nic.pod.terminating ? { kind: 'none' } : { ...choice, message: toldOf(nic, 'subnet', choice.message) };
  const share = shareOf(world, nic, held);
  const base = {
    claimant,
    since: nic.pod.created,
    ...(!nic.isOvn && { withoutMac: true as const }),
    ...(share !== undefined && { share }),
  };
  if (choice.kind === 'bound') {
    const wish = { ...base, subnets: [choice.addresses.subnet], ...exactly(choice.addresses) };
    return { kind: 'wish', wish: choice.pools === undefined || asksByName(nic) ? wish : { ...wish, ...givingWay(choice.pools) } };
  }
  if (nic.pod.terminating) return { kind: 'none' };
  const inTheWay = ipInTheWay(world, nic, held, choice.subnets);
  if (inTheWay !== undefined) return inTheWay;
  const [finding] = podNetworkFindings({ kind: 'Pod', namespace: nic.pod.namespace, name: nic.pod.name }, nic.pod.annotations);
  if (finding !== undefined) return { kind: 'waiting', reason: 'InvalidAnnotation', message: finding.message };
  const pairs = allowedPairProblem(world, nic.pod);
  if (pairs !== undefined) return { kind: 'waiting', ...pairs };
  const vip = vipNamed(world, nic);
  if (vip !== undefined) {
    const given = addressesOfVip(world, nic, vip);
    return 'reason' in given
      ? { kind: 'waiting', ...given }
      : { kind: 'wish', wish: { ...base, subnets: [given.subnet], ...exactly(given) } };
  }
  const asked = askedAddresses(nic);
  const mac = askedMac(nic);
  if ('reason' in asked) return { kind: 'waiting', reason: asked.reason, message: toldOf(nic, 'address', asked.message) };
  if ('reason' in mac) return { kind: 'waiting', ...mac };
  const pools = choice.pools.length === 0 || 'v4' in asked || 'v6' in asked || 'anyOf' in asked ? {} : { pools: choice.pools };
  return {
    kind: 'wish',
    wish: { ...base, subnets: choice.subnets, families: familiesAsked(nic), ...asked, ...pools, ...mac },
  };
}

/** Its pod names addresses or a Vip, or a MAC: no others will do. */
function asksByName(nic: PodInterface): boolean {
  const asked = { ...askedAddresses(nic), ...askedMac(nic) };
  return Object.keys(asked).length > 0 || (nic.pod.annotations[annotationKey.vip] ?? '') !== '';
}

function givingWay(pools: readonly string[]): Pick<AddressWish, 'yields' | 'pools'> {
  return { yields: true, ...(pools.length > 0 && { pools }) };
}

/** The wish for exactly these. */
function exactly({ v4, v6, mac: text }: Addresses): Pick<AddressWish, 'families' | 'v4' | 'v6' | 'mac'> {
  const mac = parseMac(text);
  const families = v6 === '' ? 'v4' : v4 === '' ? 'v6' : 'dual';
  return { families, ...(v4 !== '' && { v4 }), ...(v6 !== '' && { v6 }), ...(mac !== undefined && { mac }) };
}

function familiesAsked(nic: PodInterface): AddressWish['families'] {
  const family = annotationOf(nic, 'ip_family').toLowerCase();
  return family === 'ipv4' ? 'v4' : family === 'ipv6' ? 'v6' : 'subnet';
}

interface Refused {
  readonly reason: Reason;
  readonly message: string;
}

function askedMac(nic: PodInterface): Pick<AddressWish, 'mac'> | Refused {
  if (!nic.isOvn) return {};
  const text =
    [interfaceAsks(nic, 'mac_address'), nic.selection?.mac ?? '', annotationOf(nic, 'mac_address')].find((one) => one !== '') ?? '';
  if (text === '') return {};
  const mac = parseMac(text);
  return mac === undefined ? inSelection(nic, `mac "${text}"`, macProblem(text) ?? 'is no MAC address') : { mac };
}

/** Annotations of their own were judged before; this is what the list of networks says. */
function inSelection({ pod, selection }: PodInterface, what: string, problem: string): Refused {
  const network = `${selection?.namespace ?? ''}/${selection?.name ?? ''}`;
  const key = annotationKey.networkAttachments;
  return { reason: 'InvalidAnnotation', message: `Pod ${pod.key}: annotation ${key}: ${what} asked for in network ${network} ${problem}` };
}

/** Addresses by name: `ip_address`, or of a list `ip_pool` any for a plain pod, the one of its ordinal for a StatefulSet's. */
function askedAddresses(nic: PodInterface): Pick<AddressWish, 'v4' | 'v6' | 'anyOf'> | Refused {
  const single = interfaceAsks(nic, 'ip_address');
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

/** With `;` a list of addresses or pairs; with `,` a list of addresses, but two of different families are one pair. */
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

/** An item may be written as a network's address with its prefix. */
export function familiesIn(items: readonly string[]): { readonly v4?: string; readonly v6?: string } {
  const found: { v4?: string; v6?: string } = {};
  for (const item of items) {
    const address = item.split('/')[0] ?? '';
    const family = parseAddress(address)?.family;
    if (family !== undefined) found[family === 4 ? 'v4' : 'v6'] = address;
  }
  return found;
}
