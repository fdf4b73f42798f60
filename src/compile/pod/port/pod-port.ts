/**
 * The logical switch port of an interface, and its membership in the port groups of nodes and gateways.
 */
import { nodePortGroup, subnetNodePortGroup, switchToRouterPort } from '../../../api/names.ts';
import { securityGroupsIn } from '../../../api/pod/pod-port-validation.ts';
import { annotationKey, DEFAULT_VPC } from '../../../api/well-known.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { rowId } from '../../../nb/row-id.ts';
import { dhcpOptionsId } from '../../../nb/tables.ts';
import type { World } from '../../../world/world.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { retainedRow } from '../../retained-row.ts';
import { machineOptions } from '../interface/machine.ts';
import { requestedChassis } from '../../node/node-chassis.ts';
import type { ChassisOptions } from '../view/migration.ts';
import type { ColumnValue, Output, RowOutput } from '../../output.ts';
import type { Binding } from '../address/pod-binding.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf, portId } from '../interface/pod-interface.ts';
import { podOrMachineName, podOwner } from '../view/pod-view.ts';
import { furtherAddresses } from '../address/pod-vip.ts';
import { ownDhcpText } from '../tenancy/port-dhcp-tenancy.ts';
import { forwardsLayer2, isSecured } from '../tenancy/port-tenancy.ts';
import { dhcpOptions, subnetDhcpRow } from '../../subnet/rows/subnet-dhcp.ts';
import type { SubnetView } from '../../subnet/validity/subnet-view.ts';
import { hasServicesByNode, switchId } from '../../subnet/validity/subnet-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';

const RULE = 'pod-port';

export function portOutputs(world: World, binding: Binding): readonly Output[] {
  const { nic, port } = binding;
  if (port === undefined) return [];
  const { addresses, subnet } = port;
  const id = nic.row;
  if (subnet === undefined) return orphanedPort(world, nic, addresses);
  if (subnet.external) return [portInOthers(world, nic, addresses)];
  return [
    {
      kind: 'row',
      id,
      owner: podOwner(nic.pod),
      rule: RULE,
      parent: { id: switchId(addresses.subnet), column: 'ports' },
      columns: portColumns(world, nic, addresses, subnet),
      externalIds: portExternalIds(world, nic, addresses, subnet),
    },
    ...dhcpOutputs(world, nic, addresses, subnet),
    ...portGroupOutputs(binding),
  ];
}

/**
 * The port in a switch of another program: it sends from its own addresses alone, and has no DHCP options and no group, whose ACLs would make
 * OVN track the connections of all ports of that switch.
 */
function portInOthers(world: World, nic: PodInterface, addresses: Addresses): RowOutput {
  const text = portAddressText(addresses);
  const bare = barePort(world, nic, addresses);
  return {
    ...bare,
    parent: { id: switchId(addresses.subnet), column: 'ports', isOfOthers: true },
    columns: { ...bare.columns, addresses: [text], port_security: [text], dhcpv4_options: null, dhcpv6_options: null },
  };
}

/**
 * The Subnet was removed by force while the pod uses it, and no other Subnet has its network: the port keeps its switch, groups, columns
 * and DHCP options. Edits of its addresses are undone, and a deleted row is created again.
 */
function orphanedPort(world: World, nic: PodInterface, addresses: Addresses): readonly Output[] {
  const { subnet } = addresses;
  const id = nic.row;
  const kept = isOurs(world, id, podOwner(nic.pod)) ? retainedRow(world, id) : undefined;
  const dhcp = ownDhcpLeft(world, nic, subnet);
  const bare = barePort(world, nic, addresses);
  const members = groupsLeft(world, nic, subnet).map((group): Output => ({
    kind: 'member',
    row: group,
    column: 'ports',
    member: { ref: id },
  }));
  const columns = { ...bare.columns, ...Object.fromEntries(dhcp.map(({ column, row: { id: ref } }) => [column, { ref }])) };
  const options = dhcp.map(({ row }) => row);
  if (kept === undefined) return isAnyOurs(world, switchId(subnet)) ? [{ ...bare, columns }, ...options, ...members] : [];
  const row: Output = {
    ...bare,
    columns,
    ...(kept.parent !== undefined && { parent: kept.parent }),
    externalIds: { ...kept.externalIds, ...bare.externalIds },
  };
  return [row, ...options, ...members];
}

/** The DHCP options that such a port has of its own, as they are, with the column of the port that refers to them. */
function ownDhcpLeft(
  world: World,
  { pod, port }: PodInterface,
  subnet: string,
): readonly { readonly column: string; readonly row: RowOutput }[] {
  return (['IPv4', 'IPv6'] as const).flatMap((protocol) => {
    const id = dhcpOptionsId(subnet, protocol, port);
    const row = isOurs(world, id, podOwner(pod)) ? retainedRow(world, id) : undefined;
    return row === undefined ? [] : [{ column: protocol === 'IPv4' ? 'dhcpv4_options' : 'dhcpv6_options', row }];
  });
}

/** The port groups of such a port: those it is in, and those that the remaining rows of the Subnet imply. */
function groupsLeft(world: World, { pod, row }: PodInterface, subnet: string): readonly RowId[] {
  const [ofNode, ofSubnet] = [nodePortGroup(pod.node), subnetNodePortGroup(subnet, pod.node)].map((group) =>
    rowId('Port_Group', group),
  ) as [RowId, RowId];
  const isIn = (group: RowId): boolean => world.rows.hasMember(group, 'ports', row);
  const isDistributed = pod.node !== '' && isAnyOurs(world, ofSubnet);
  const isRouted = pod.node !== '' && (isDistributed || isAnyOurs(world, portId(switchToRouterPort(subnet, DEFAULT_VPC))));
  return [...(isRouted || isIn(ofNode) ? [ofNode] : []), ...((isDistributed && leavesByNode(pod)) || isIn(ofSubnet) ? [ofSubnet] : [])];
}

function isAnyOurs(world: World, id: RowId): boolean {
  return world.rows.state(id)?.ownership.kind === 'ours';
}

function leavesByNode({ annotations }: PodInterface['pod']): boolean {
  return (annotations[annotationKey.northGateway] ?? '') === '';
}

/** The columns of a port that do not depend on its Subnet. */
function barePort(world: World, nic: PodInterface, addresses: Addresses): RowOutput {
  return {
    kind: 'row',
    id: nic.row,
    owner: podOwner(nic.pod),
    rule: RULE,
    parent: { id: switchId(addresses.subnet), column: 'ports' },
    columns: { name: nic.port, type: '', options: chassisOptions(world, nic), ...addressColumns(world, nic, addresses) },
    externalIds: { pod: `${nic.pod.namespace}/${podOrMachineName(nic.pod)}`, ls: addresses.subnet },
  };
}

export function portGroupOutputs(binding: Binding): readonly Output[] {
  const ref = binding.nic.row;
  return portGroupsOf(binding).map((group): Output => ({ kind: 'member', row: group, column: 'ports', member: { ref } }));
}

/** An element of `addresses`: MAC, then IP addresses. */
export function portAddressText({ mac, v4, v6 }: Addresses): string {
  return [mac, v4, v6].filter((part) => part !== '').join(' ');
}

function portColumns(world: World, nic: PodInterface, addresses: Addresses, subnet: SubnetView): Readonly<Record<string, ColumnValue>> {
  const dhcp = (family: 'IPv4' | 'IPv6', address: string): ColumnValue => {
    if (address === '') return null;
    const own = ownDhcpText(world, nic, subnet.name, family) !== '' && (family === 'IPv4' ? subnet.v4 : subnet.v6) !== undefined;
    const ref = own ? dhcpOptionsId(addresses.subnet, family, nic.port) : subnetDhcpRow(world, subnet, family);
    return ref === undefined ? null : { ref };
  };
  return {
    name: nic.port,
    type: '',
    options: chassisOptions(world, nic),
    ...addressColumns(world, nic, addresses),
    dhcpv4_options: dhcp('IPv4', addresses.v4),
    dhcpv6_options: dhcp('IPv6', addresses.v6),
  };
}

function addressColumns(world: World, nic: PodInterface, addresses: Addresses): Readonly<Record<'addresses' | 'port_security', string[]>> {
  const portAddress = portAddressText(addresses);
  const vips = furtherAddresses(world, nic, addresses.subnet);
  return {
    addresses: forwardsLayer2(world, nic, addresses.subnet) ? [portAddress, 'unknown'] : [portAddress],
    port_security: isSecured(world, nic, addresses.subnet) ? [[portAddress, ...vips].join(' ')] : [],
  };
}

/**
 * Chassis options: none, unless a machine migrates or its pod requests `activation-strategy` (silent until it announces itself by RARP).
 */
function chassisOptions(world: World, nic: PodInterface): ChassisOptions {
  const moving = machineOptions(world, nic);
  const { node } = nic.pod;
  if (Object.keys(moving).length > 0 || node === '' || annotationOf(nic, 'activation_strategy').trim() === '') return moving;
  const chassis = world.ask(requestedChassis, node);
  return { 'requested-chassis': `${chassis},${chassis}`, 'activation-strategy': 'rarp' };
}

/** DHCP options of the port itself, which replace those of the Subnet; possible also if the Subnet has no DHCP. */
function dhcpOutputs(world: World, nic: PodInterface, addresses: Addresses, subnet: SubnetView): readonly Output[] {
  return (['IPv4', 'IPv6'] as const).flatMap((protocol): Output[] => {
    const text = ownDhcpText(world, nic, subnet.name, protocol);
    const network = protocol === 'IPv4' ? subnet.v4 : subnet.v6;
    if (text === '' || network === undefined || (protocol === 'IPv4' ? addresses.v4 : addresses.v6) === '') return [];
    const id = dhcpOptionsId(subnet.name, protocol, nic.port);
    return [
      {
        kind: 'row',
        id,
        owner: podOwner(nic.pod),
        rule: 'pod-dhcp',
        columns: { cidr: network.cidr, options: dhcpOptions(world, subnet, protocol, id, text) },
        externalIds: { ls: subnet.name, protocol, port: nic.port },
      },
    ];
  });
}

function portExternalIds(world: World, nic: PodInterface, addresses: Addresses, subnet: SubnetView): Readonly<Record<string, string>> {
  const groups = securityGroupsIn(annotationOf(nic, 'security_groups'));
  const vips = furtherAddresses(world, nic, addresses.subnet).join(',');
  return {
    pod: `${nic.pod.namespace}/${podOrMachineName(nic.pod)}`,
    ls: addresses.subnet,
    ...securityGroupKeys(groups, subnet),
    ...(vips !== '' && { vips, 'attach-vips': 'true' }),
  };
}

/** Keys by which Kube-OVN finds the ports of a SecurityGroup. */
export function securityGroupKeys(groups: readonly string[], { inDefaultVpc }: SubnetView): Readonly<Record<string, string>> {
  return {
    ...(groups.length > 0 && { security_groups: groups.join('/') }),
    ...(!inDefaultVpc && { 'associated_sg_default-securitygroup': 'false' }),
    ...Object.fromEntries(groups.map((group) => [`associated_sg_${group}`, 'true'])),
  };
}

/**
 * Of a pod of the default Vpc or of an underlay Subnet, which its node reaches: all of the node's pods; and with a distributed gateway of
 * the overlay those of its Subnet there.
 */
export function portGroupsOf({ nic, port }: Binding): readonly RowId[] {
  const { node } = nic.pod;
  const subnet = port?.subnet;
  if (node === '' || subnet === undefined || !(subnet.inDefaultVpc || subnet.vlan !== '')) return [];
  const groups = groupsAt(subnet, node);
  const throughNode = subnet.inDefaultVpc && subnet.routed && subnet.gatewayType === 'distributed' && leavesByNode(nic.pod);
  return throughNode || hasServicesByNode(subnet) ? groups : groups.slice(0, 1);
}

/** Cached by Subnet view: all its pods on a node have the same groups. */
const GROUPS = new WeakMap<SubnetView, Map<string, readonly RowId[]>>();

/** The group of the node's pods, then of the Subnet's pods there. */
function groupsAt(subnet: SubnetView, node: string): readonly RowId[] {
  let ofNode = GROUPS.get(subnet);
  if (ofNode === undefined) GROUPS.set(subnet, (ofNode = new Map<string, readonly RowId[]>()));
  let groups = ofNode.get(node);
  if (groups === undefined)
    ofNode.set(node, (groups = [nodePortGroup(node), subnetNodePortGroup(subnet.name, node)].map((name) => rowId('Port_Group', name))));
  return groups;
}
