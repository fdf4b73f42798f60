/**
 * The addresses of nodes in Subnets on a physical network (`spec.vlan`, and the external Subnet): nodes are hosts there, and Kiln gives their
 * addresses to nothing else.
 */
import type { Node } from '../../../api/kubernetes/core.ts';
import type { Subnet } from '../../../api/kinds/subnet.ts';
import type { Address } from '../../../net/address.ts';
import { compareAddresses, parseAddress } from '../../../net/address.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import type { World } from '../../../world/world.ts';

export interface NodeAddress {
  readonly node: string;
  readonly address: Address;
}

/** Those of all nodes in a Subnet, by address. */
export function nodeAddressesIn(world: World, subnet: string): readonly NodeAddress[] {
  const networks = physicalNetworks(world, subnet, world.subnets.peek(subnet));
  if (networks.length === 0) return [];
  return [...world.nodes.entries()]
    .flatMap(([node, object]) => within(internalAddresses(object), networks).map((address) => ({ node, address })))
    .toSorted((a, b) => compareAddresses(a.address, b.address) || (a.node < b.node ? -1 : 1));
}

/** Those of one node, by Subnet. */
export function subnetsWithNode(world: World, node: string): ReadonlyMap<string, readonly Address[]> {
  const addresses = internalAddresses(world.nodes.peek(node));
  const found = new Map<string, readonly Address[]>();
  for (const [name, subnet] of world.subnets.entries()) {
    const inside = within(addresses, physicalNetworks(world, name, subnet));
    if (inside.length > 0) found.set(name, inside);
  }
  return found;
}

/** InternalIPs, as its kubelet reports them. */
export function internalAddresses(node: Node | undefined): readonly Address[] {
  return (node?.status?.addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? (parseAddress(address) ?? []) : []));
}

/** The networks of a Subnet on a physical network; none of an overlay Subnet. */
export function physicalNetworks({ settings }: Pick<World, 'settings'>, name: string, subnet: Subnet | undefined): readonly Cidr[] {
  const { vlan = '', cidrBlock = '' } = subnet?.spec ?? {};
  return vlan === '' && name !== settings.externalSubnet ? [] : splitList(cidrBlock).flatMap((text) => parseCidr(text) ?? []);
}

export function within(addresses: readonly Address[], networks: readonly Cidr[]): readonly Address[] {
  return addresses.filter((address) => networks.some((network) => cidrContains(network, address)));
}

/** The claimant of a node's address in a physical network. In the join Subnet a node has a port, and that port's claimant. */
export function claimantOfNodeAddress(node: string): string {
  return `node ${node}`;
}
