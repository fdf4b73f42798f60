/**
 * Holders of the addresses of nodes in Subnets on a physical network (`spec.vlan`, and the external Subnet): nodes are hosts there, so nothing
 * else may have their addresses. They are passive: a claimant that has such an address keeps it.
 */
import type { Ledger } from '../ipam/ledger.ts';
import type { Address } from '../net/address.ts';
import { formatAddress } from '../net/address.ts';
import type { Cidr } from '../net/cidr.ts';
import { claimantOfNodeAddress, internalAddresses, physicalNetworks, within } from '../kinds/node/table/node-addresses.ts';
import type { World } from '../world/world.ts';

/** Keeps the ledger up to date with the nodes and the Subnets from now on. */
export function holdNodeAddresses(world: World, ledger: Ledger): void {
  /** By node: its InternalIPs. */
  const nodes = new Map<string, readonly Address[]>();
  /** By Subnet on a physical network: its networks. */
  const subnets = new Map<string, readonly Cidr[]>();
  const held = new Set<string>();

  const hold = (subnet: string, networks: readonly Cidr[], node: string, all: readonly Address[]): void => {
    const key = `node/${node}/${subnet}`;
    const addresses = within(all, networks);
    if (addresses.length > 0) {
      ledger.hold(subnet, { kind: 'node-address', key, claimant: claimantOfNodeAddress(node) }, { addresses }, true);
      held.add(key);
    } else if (held.delete(key)) ledger.release('node-address', key);
  };

  world.nodes.onChange((name, after) => {
    const addresses = internalAddresses(after);
    // Kubelets write their node every few seconds.
    if (textOf(nodes.get(name) ?? []) === textOf(addresses)) return;
    if (addresses.length === 0) nodes.delete(name);
    else nodes.set(name, addresses);
    for (const [subnet, networks] of subnets) hold(subnet, networks, name, addresses);
  });
  world.subnets.onChange((name, after) => {
    const networks = physicalNetworks(world, name, after);
    if (networks.length === 0 && !subnets.delete(name)) return;
    if (networks.length > 0) subnets.set(name, networks);
    for (const [node, addresses] of nodes) hold(name, networks, node, addresses);
  });
}

function textOf(addresses: readonly Address[]): string {
  return addresses.map(formatAddress).join();
}
