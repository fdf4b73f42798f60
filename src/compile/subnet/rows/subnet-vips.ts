/**
 * The virtual ports of a Subnet's `spec.vips`: one for each address, which binds to the port that announces it. Its parents are the ports of
 * pods in the Subnet that may send from the address (annotation `port_vips`). The addresses are not reserved, as with Kube-OVN.
 */
import { subnetVipPort } from '../../../api/names.ts';
import { canonicalAddress } from '../../../net/address.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { RowOutput } from '../../output.ts';
import { heldBy } from '../../pod/address/held-addresses.ts';
import { furtherAddresses } from '../../pod/address/pod-vip.ts';
import { portId } from '../../pod/interface/pod-interface.ts';
import { interfacesOf } from '../../pod/interface/pod-interfaces.ts';
import { podView } from '../../pod/view/pod-view.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { isWithin, subnetOwner, subnetSpec, switchId } from '../validity/subnet-view.ts';

const RULE = 'subnet-vips';

export const subnetVips: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets, ({ spec }) => (spec.vips ?? []).length > 0),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    if (view === undefined || !view.isOvn) return [];
    const addresses = (world.ask(subnetSpec, name)?.vips ?? []).flatMap((text) => canonicalAddress(text.trim()) ?? []);
    return [...new Set(addresses)].filter((address) => isInside(view, address)).map((address) => virtualPort(world, view, address));
  },
};

function isInside(view: SubnetView, address: string): boolean {
  return isWithin(view, address.includes(':') ? { v4: '', v6: address } : { v4: address, v6: '' });
}

function virtualPort(world: World, view: SubnetView, address: string): RowOutput {
  const name = subnetVipPort(view.name, address);
  const parents = parentsOf(world, view.name, address);
  return {
    kind: 'row',
    id: portId(name),
    owner: subnetOwner(view),
    rule: RULE,
    parent: { id: switchId(view.name), column: 'ports' },
    columns: {
      name,
      type: 'virtual',
      options: { 'virtual-ip': address, ...(parents.length > 0 && { 'virtual-parents': parents.join(',') }) },
      dhcpv4_options: null,
      dhcpv6_options: null,
    },
    externalIds: { ls: view.name },
  };
}

/** Names of the existing ports in the Subnet that may send from the address, sorted. */
function parentsOf(world: World, subnet: string, address: string): readonly string[] {
  const ports: string[] = [];
  for (const key of world.pods.bucket('portVip', address)) {
    const pod = world.ask(podView, key);
    if (pod?.alive !== true) continue;
    for (const nic of interfacesOf(world, pod).interfaces) {
      const { ownRow, addresses } = heldBy(world, nic);
      if (!ownRow || addresses?.subnet !== subnet) continue;
      if (furtherAddresses(world, nic, subnet).some((item) => canonicalAddress(item) === address)) ports.push(nic.port);
    }
  }
  return [...new Set(ports)].toSorted();
}
