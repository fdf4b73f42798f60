/**
 * How a logical router of OVN as released chooses where a packet goes: of its routes the one with the longest prefix, source or destination alike
 * (of equal ones a connected network first, then destination, then source); then a policy, the one with the highest priority, overrides it.
 */
import type { Address } from '../../net/address.ts';
import { stepAddress } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { cidrContains, lastAddress, networkAddress } from '../../net/cidr.ts';

export interface RouteEntry {
  readonly by: 'source' | 'destination' | 'connected';
  readonly cidr: Cidr;
  /** Connected networks are in all tables. */
  readonly table: string;
  /** For messages. */
  readonly text: string;
}

export interface PolicyEntry {
  readonly priority: number;
  readonly family: 4 | 6 | undefined;
  /** Undefined for any. */
  readonly sources: readonly Cidr[] | undefined;
  readonly destinations: readonly Cidr[] | undefined;
  /** It takes every packet of these networks; else some of them, which are not known. */
  readonly isWhole: boolean;
  /** Leaves the packet to the routes. */
  readonly allows: boolean;
  readonly text: string;
}

export interface Packet {
  readonly source: Address;
  readonly destination: Address;
  /** The route table of the port where it comes in. */
  readonly table: string;
}

export interface Lookup {
  readonly routes: readonly RouteEntry[];
  /** The highest priority first. */
  readonly policies: readonly PolicyEntry[];
}

/** What takes a packet before a route does; undefined if the route may take it. */
export function beforeRoute({ routes, policies }: Lookup, route: RouteEntry, packet: Packet): string | undefined {
  for (const policy of policies) {
    if (!concerns(policy, packet)) continue;
    // Some of its packets are left to the routes, so some take this one.
    if (policy.allows) break;
    if (policy.isWhole) return policy.text;
  }
  const rank = rankOf(route);
  return routes.find((other) => other !== route && takes(other, packet) && rankOf(other) > rank)?.text;
}

/** What takes a packet before a policy does; undefined if the policy may take it. */
export function beforePolicy({ policies }: Lookup, policy: PolicyEntry, packet: Packet): string | undefined {
  return policies.find((other) => other.priority > policy.priority && other.isWhole && concerns(other, packet))?.text;
}

export function takes({ by, cidr, table }: RouteEntry, { source, destination, table: from }: Packet): boolean {
  return (by === 'connected' || table === from) && cidrContains(cidr, by === 'source' ? source : destination);
}

function rankOf({ by, cidr }: RouteEntry): number {
  return cidr.prefix * 3 + (by === 'source' ? 0 : by === 'destination' ? 1 : 2);
}

function concerns({ family, sources, destinations }: PolicyEntry, { source, destination }: Packet): boolean {
  const has = (cidrs: readonly Cidr[] | undefined, address: Address): boolean =>
    cidrs === undefined || cidrs.some((cidr) => cidrContains(cidr, address));
  return (family === undefined || family === source.family) && has(sources, source) && has(destinations, destination);
}

/**
 * Addresses of a network, at least one of each part into which the other networks divide it: its first one, and the first one behind each
 * network inside of it.
 */
export function addressesApart(cidr: Cidr, others: readonly Cidr[]): readonly Address[] {
  const inside = others.filter(
    (other) => other.family === cidr.family && other.prefix > cidr.prefix && cidrContains(cidr, networkAddress(other)),
  );
  const behind = inside.map((other) => stepAddress(lastAddress(other), 1n)).filter((address) => cidrContains(cidr, address));
  const starts = [...inside.map(networkAddress), ...behind];
  const seen = new Map([networkAddress(cidr), ...starts].map((address) => [address.value, address]));
  return [...seen.values()];
}
