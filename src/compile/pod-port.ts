/**
 * The switch port of an interface, and its membership in the port groups by which nodes and gateways find it.
 *
 * The row is stated once the IP object says the address. A row that is there already for this very pod stays while its IP object is
 * made again (somebody took the object away by force).
 */
import { nodePortGroup, subnetNodePortGroup } from '../api/names.ts';
import { annotationKey } from '../api/well-known.ts';
import { splitList } from '../net/dual.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { dhcpOptionsId } from '../nb/tables.ts';
import { keysOf } from '../world/domain.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { Addresses } from './ip-object.ts';
import { addressesOf } from './ip-object.ts';
import type { ColumnValue, Output } from './output.ts';
import { reservationOf } from './pod-address.ts';
import { durableAddresses } from './pod-ip.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, interfacesOf, portId } from './pod-interface.ts';
import { hasPodNetwork } from './pod-life.ts';
import { podOwner, podView } from './pod-view.ts';
import type { SubnetView } from './subnet-view.ts';
import { subnetView, switchId } from './subnet-view.ts';
import { isOurs } from './vpc-view.ts';

const RULE = 'pod-port';

export const podPort: Rule = {
  name: RULE,
  over: (world) => keysOf(world.pods, hasPodNetwork),
  run: (world, key) => {
    const pod = world.ask(podView, key);
    return pod === undefined || !pod.alive ? [] : interfacesOf(pod).flatMap((nic) => portOutputs(world, nic));
  },
};

function portOutputs(world: World, nic: PodInterface): readonly Output[] {
  const port = portOf(world, nic);
  if (port === undefined) return [];
  const { addresses, subnet } = port;
  const id = portId(nic.port);
  return [
    {
      kind: 'row',
      id,
      owner: podOwner(nic.pod),
      rule: RULE,
      parent: { id: switchId(addresses.subnet), column: 'ports' },
      columns: portColumns(nic, addresses, subnet),
      externalIds: portExternalIds(nic, addresses, subnet),
    },
    ...portGroupsOf(world, nic, addresses).map((group): Output => ({ kind: 'member', row: group, column: 'ports', member: { ref: id } })),
  ];
}

/** What the port of an interface is to have; undefined while it is to have none. */
export function portOf(world: World, nic: PodInterface): { readonly addresses: Addresses; readonly subnet: SubnetView | undefined } | undefined {
  const addresses = durableAddresses(world, nic) ?? (isOurs(world, portId(nic.port), podOwner(nic.pod)) ? addressesOf(reservationOf(world, nic)) : undefined);
  if (addresses === undefined) return undefined;
  const subnet = world.ask(subnetView, addresses.subnet);
  return subnet?.isOvn === false ? undefined : { addresses, subnet };
}

/** The text OVN takes as one station: MAC, then addresses. */
export function stationText({ mac, v4, v6 }: Addresses): string {
  return [mac, v4, v6].filter((part) => part !== '').join(' ');
}

function portColumns(nic: PodInterface, addresses: Addresses, subnet: SubnetView | undefined): Readonly<Record<string, ColumnValue>> {
  const station = stationText(addresses);
  const vips = splitList(annotationOf(nic, 'port_vips'));
  const dhcp = (family: 'IPv4' | 'IPv6', address: string): ColumnValue =>
    subnet?.enableDHCP === true && address !== '' ? { ref: dhcpOptionsId(addresses.subnet, family) } : null;
  return {
    name: nic.port,
    type: '',
    addresses: annotationOf(nic, 'layer2_forward') === 'true' ? [station, 'unknown'] : [station],
    port_security: annotationOf(nic, 'port_security') === 'true' ? [[station, ...vips].join(' ')] : [],
    dhcpv4_options: dhcp('IPv4', addresses.v4),
    dhcpv6_options: dhcp('IPv6', addresses.v6),
  };
}

function portExternalIds(nic: PodInterface, addresses: Addresses, subnet: SubnetView | undefined): Readonly<Record<string, string>> {
  const groups = splitList(annotationOf(nic, 'security_groups'));
  const vips = annotationOf(nic, 'port_vips');
  return {
    pod: `${nic.pod.namespace}/${nic.pod.name}`,
    ls: addresses.subnet,
    ...(groups.length > 0 && { security_groups: groups.join('/') }),
    ...(subnet?.inDefaultVpc === false && { 'associated_sg_default-securitygroup': 'false' }),
    ...Object.fromEntries(groups.map((group) => [`associated_sg_${group}`, 'true'])),
    ...(vips !== '' && { vips, 'attach-vips': 'true' }),
  };
}

/** Of a pod in the default Vpc that OVN routes: all of its node's pods, and with a distributed gateway those of its Subnet there. */
export function portGroupsOf(world: World, nic: PodInterface, addresses: Addresses): readonly RowId[] {
  const { node } = nic.pod;
  const subnet = world.ask(subnetView, addresses.subnet);
  if (node === '' || subnet === undefined || !subnet.inDefaultVpc || !subnet.routed) return [];
  const groups = [rowId('Port_Group', nodePortGroup(node))];
  const throughNode = subnet.gatewayType === 'distributed' && (nic.pod.annotations[annotationKey.northGateway] ?? '') === '';
  if (throughNode) groups.push(rowId('Port_Group', subnetNodePortGroup(addresses.subnet, node)));
  return groups;
}
