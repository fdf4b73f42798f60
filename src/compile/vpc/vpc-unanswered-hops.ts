/**
 * Next hops of a Vpc's routes that lie in a network of its router and that no host answers for: an address of the router itself, or one in
 * the network of a peering that is not the other end's. OVN accepts such a route, and drops the packets that follow it.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { formatAddress } from '../../net/address.ts';
import { cidrContains, parseInterfaceAddress } from '../../net/cidr.ts';
import type { InterfaceAddress } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { remoteEnd } from './vpc-peering.ts';
import { addressesOfPorts, nextHopsOf } from './vpc-next-hops.ts';
import { vpcSpec, vpcView } from './vpc-view.ts';

/**
 * Findings for routes that are valid otherwise. None for the default Vpc: its default route leads to its own address in the join Subnet,
 * and policies of the nodes take precedence.
 */
export const unansweredNextHops: Query<readonly Finding[]> = defineQuery('vpc-unanswered-next-hops', (world, name) => {
  const hops = world.ask(vpcView, name)?.isDefault === false ? nextHopsOf(world, name) : [];
  if (hops.length === 0) return [];
  const links = linksOf(world, name);
  const own = [...links.map(({ end }) => end), ...addressesOfPorts(world, name)];
  const ownTexts = new Set(own.map(({ address }) => formatAddress(address)));
  return hops.flatMap(({ field, value, address }) => {
    const link = links.find(({ end }) => cidrContains(end.cidr, address));
    const far = link?.far.filter((one) => one.cidr.family === address.family).map((one) => formatAddress(one.address)) ?? [];
    const hop = formatAddress(address);
    const isOwn = ownTexts.has(hop);
    if (!isOwn && (far.length === 0 || far.includes(hop) || isElsewhere(own, link, address))) return [];
    const problem = isOwn
      ? "is an address of the Vpc's own router"
      : `is in the network of the peering with Vpc ${link?.remoteVpc}, and no end of it has that address`;
    const others = far.filter((one) => one !== hop);
    const instead = others.length === 0 ? 'name the address of a pod or of a gateway' : `the other end is ${others.join(', ')}`;
    const rule = `the router drops what this route leads there: ${instead}`;
    return [findingOf({ kind: 'Vpc', name }, { code: 'NextHopUnanswered', field, value, problem, rule })];
  });
});

interface Link {
  readonly remoteVpc: string;
  readonly end: InterfaceAddress;
  /** Addresses of the other end; empty while there is none. */
  readonly far: readonly InterfaceAddress[];
}

function linksOf(world: World, name: string): readonly Link[] {
  const { vpcPeerings = [] } = world.ask(vpcSpec, name) ?? {};
  return vpcPeerings.flatMap(({ remoteVpc = '', localConnectIP = '' }) => {
    const far = addressesIn(remoteEnd(world, name, remoteVpc) ?? '');
    return addressesIn(localConnectIP).map((end) => ({ remoteVpc, end, far }));
  });
}

/** Whether another port of the router has a network with the address, where a pod may have it. */
function isElsewhere(own: readonly InterfaceAddress[], link: Link | undefined, address: InterfaceAddress['address']): boolean {
  const of = link === undefined ? '' : formatAddress(link.end.address);
  return own.some((one) => formatAddress(one.address) !== of && cidrContains(one.cidr, address));
}

function addressesIn(text: string): readonly InterfaceAddress[] {
  return splitList(text).flatMap((one) => parseInterfaceAddress(one) ?? []);
}
