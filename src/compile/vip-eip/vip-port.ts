/**
 * The switch ports of a Vip with Kube-OVN's names and columns: a virtual port, which binds to the parent that announces the address, and
 * for a Vip with a type a port that has the address.
 */
import { portName, vipPortV6 } from '../../api/names.ts';
import { DEFAULT_PROVIDER } from '../../api/well-known.ts';
import type { AddressObject, AddressTexts } from '../../world/address-objects.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Output, RowOutput } from '../output.ts';
import { heldBy } from '../pod/address/held-addresses.ts';
import { portId } from '../pod/interface/pod-interface.ts';
import { interfacesOf } from '../pod/interface/pod-interfaces.ts';
import { portAddressText } from '../pod/port/pod-port.ts';
import { podView } from '../pod/view/pod-view.ts';
import { subnetView, switchId } from '../subnet/validity/subnet-view.ts';
import { ownerOf } from './address-object.ts';
import type { VipView } from './vip-view.ts';
import { selectsPod, vipView } from './vip-view.ts';

const RULE = 'vip';

/** The ports of a Vip. If its Subnet does not exist, they are only candidates for the last written contents of its existing ports. */
export function vipPorts(world: World, object: AddressObject, vip: VipView, addresses: AddressTexts): readonly Output[] {
  const subnet = world.ask(subnetView, vip.subnet);
  if (subnet?.isOvn === false) return [];
  const rows: Output[] = [];
  if (vip.type !== '' && addresses.mac !== '') rows.push(ownPort(object, vip, subnet?.provider ?? DEFAULT_PROVIDER, addresses));
  if (vip.type !== 'kube_host_vm_vip' && vip.namespace !== '') rows.push(...virtualPorts(world, object, vip, addresses));
  return rows;
}

function ownPort(object: AddressObject, vip: VipView, provider: string, addresses: AddressTexts): RowOutput {
  const name = portName(vip.name, vip.namespace, provider);
  const columns = {
    type: '',
    addresses: [portAddressText({ subnet: vip.subnet, ...addresses })],
    options: vip.type === 'switch_lb_vip' ? { arp_proxy: 'true' } : {},
  };
  return portRow(object, vip, name, columns, { pod: `${vip.namespace}/${vip.name}` });
}

/** One port for each address: `virtual-ip` of a Logical_Switch_Port has one address, and a port with two never binds. */
function virtualPorts(world: World, object: AddressObject, vip: VipView, { v4, v6 }: AddressTexts): readonly RowOutput[] {
  const parents = vip.type === '' ? world.ask(vipParents, vip.name) : [];
  const virtual = (name: string, address: string): RowOutput => {
    const options = { 'virtual-ip': address, ...(parents.length > 0 && { 'virtual-parents': parents.join(',') }) };
    return portRow(object, vip, name, { type: 'virtual', options });
  };
  if (v4 === '' || v6 === '') return [virtual(vip.name, v4 === '' ? v6 : v4)];
  return [virtual(vip.name, v4), virtual(vipPortV6(vip.name), v6)];
}

/** A port in the switch of the Vip's Subnet, without DHCP. */
function portRow(
  object: AddressObject,
  { subnet }: VipView,
  name: string,
  columns: RowOutput['columns'],
  externalIds: Readonly<Record<string, string>> = {},
): RowOutput {
  return {
    kind: 'row',
    id: portId(name),
    owner: ownerOf(object),
    rule: RULE,
    parent: { id: switchId(subnet), column: 'ports' },
    columns: { name, ...columns, dhcpv4_options: null, dhcpv6_options: null },
    externalIds: { ls: subnet, ...externalIds },
  };
}

/** Names of existing ports of pods in the Vip's Subnet that declare the Vip and match its namespace and selector. */
const vipParents: Query<readonly string[]> = defineQuery('vip-parents', (world, name) => {
  const vip = world.ask(vipView, name);
  if (vip === undefined) return [];
  const ports: string[] = [];
  for (const key of world.pods.bucket('allowedPair', name)) {
    const pod = world.ask(podView, key);
    if (pod === undefined || !pod.alive || !selectsPod(vip, pod)) continue;
    for (const nic of interfacesOf(world, pod).interfaces) {
      const { ownRow, addresses } = heldBy(world, nic);
      if (ownRow && addresses?.subnet === vip.subnet) ports.push(nic.port);
    }
  }
  return [...new Set(ports)].toSorted();
});
