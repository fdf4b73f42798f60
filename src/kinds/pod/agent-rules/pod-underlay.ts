/** What the interface of a pod of an underlay Subnet needs: the network of its Vlan on this node, and its way to the overlay. */
import { commandText } from '../../../text/command-text.ts';
import { isExcluded, nodeNetworkKey } from '../../provider-network/resource/node-network.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import { parseAddress } from '../../../net/address.ts';
import type { PodNetwork } from './pod-network.ts';

/** Why this node is not connected to the network; undefined if it is, and for a pod of an overlay Subnet. */
export function underlayMissing(world: NodeWorld, subnet: string, { node }: NodeSettings): string | undefined {
  const { vlan = '' } = world.subnets.get(subnet) ?? {};
  if (vlan === '') return undefined;
  const network = world.vlans.get(vlan)?.providerNetwork;
  if (network === undefined) return `Vlan ${vlan} of Subnet ${subnet} does not exist`;
  const next = commandText`kubectl describe provider-network ${network}`;
  const spec = world.providerNetworks.get(network)?.spec;
  if (spec === undefined) return `ProviderNetwork ${network} of Vlan ${vlan} does not exist`;
  const labels = world.nodes.get(node)?.labels;
  if (labels !== undefined && isExcluded(spec, node, labels))
    return `Subnet ${subnet} is on ProviderNetwork ${network}, which leaves out node ${node}; ${next}`;
  if (labels?.[nodeNetworkKey(network, 'ready')] === 'true') return undefined;
  return `ProviderNetwork ${network} of Subnet ${subnet} is not ready on node ${node}; ${next}`;
}

/**
 * The network of a pod whose Subnet is connected to the overlay: its default gateway is the router of the Vpc, which sends to the physical
 * gateway what is not for the overlay. Until the router has an address there, what runs keeps the physical one.
 */
export function throughRouter(world: NodeWorld, network: PodNetwork): PodNetwork {
  const { interconnection } = world.subnets.get(network.subnet) ?? {};
  if (interconnection === undefined || network.addressesOnly) return network;
  const of = (gateway: string): string => interconnection.routers.find((one) => familyOf(one) === familyOf(gateway)) ?? gateway;
  return {
    ...network,
    addresses: network.addresses.map((one) => (one.gateway === undefined ? one : { ...one, gateway: of(one.gateway) })),
    gateways: network.gateways.map(of),
  };
}

/** Why a pod of such a Subnet would not reach the overlay; undefined for any other pod. */
export function routerMissing(world: NodeWorld, { subnet, addresses }: PodNetwork): string | undefined {
  const { interconnection } = world.subnets.get(subnet) ?? {};
  if (interconnection === undefined) return undefined;
  const without = addresses.find(({ ip }) => interconnection.routers.every((one) => familyOf(one) !== familyOf(ip)));
  if (without === undefined) return undefined;
  return `Subnet ${subnet} is connected to the overlay, and the router of its Vpc has no address in it yet; ${commandText`kubectl describe subnet ${subnet}`}`;
}

function familyOf(address: string): 4 | 6 | undefined {
  return parseAddress(address)?.family;
}
