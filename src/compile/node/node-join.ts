/**
 * A node joins the network: it gets an address in the join Subnet, an IP object, a switch port, and the annotations from which the node
 * agent sets up the interface. The order of writes is that of pods.
 */
import { nodePortName } from '../../api/names.ts';
import type { IP } from '../../api/kinds/ip.ts';
import type { Reason } from '../../api/reasons.ts';
import { annotationKey, DEFAULT_PROVIDER, POD_CONDITION, podAnnotation } from '../../api/well-known.ts';
import { ownerText } from '../../nb/ownership.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import { ofFamily, splitList } from '../../net/dual.ts';
import { parseMac } from '../../net/mac.ts';
import { keysOf } from '../../engine/domain.ts';
import type { AddressRequest, Reservation } from '../../world/reservations.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { Addresses, IpIdentity } from '../ip/ip-object.ts';
import { addressesOf, addressesOfIp, createIp, ipText, keepIp, sameAddresses } from '../ip/ip-object.ts';
import { ipOfAnother } from '../ip/ip-holder.ts';
import { addressesInRow, majorityAddress } from '../ip/majority-address.ts';
import type { IpRejection } from '../ip/ip-rejection.ts';
import { ipRejection } from '../ip/ip-rejection.ts';
import { retainedRow } from '../retained-row.ts';
import type { NodeView } from './node-view.ts';
import { isIpOfNode, nodeClaimant, nodeOwner, nodeView } from './node-view.ts';
import type { Output, RowOutput } from '../output.ts';
import { portId } from '../pod/interface/pod-interface.ts';
import { portAddressText } from '../pod/port/pod-port.ts';
import { mayChangeUnderPods } from '../subnet/validity/change-under-pods.ts';
import { subnetReady } from '../subnet/validity/subnet-ready.ts';
import { owningSubnet } from '../subnet/validity/subnet-state.ts';
import type { SubnetView } from '../subnet/validity/subnet-view.ts';
import { subnetNetworks, switchId } from '../subnet/validity/subnet-view.ts';
import { isOurs } from '../vpc/vpc-view.ts';
import { commandText } from '../../text/command-text.ts';

const RULE = 'node-join';

export const nodeJoin: Rule = {
  name: RULE,
  over: (world) => keysOf(world.nodes),
  run: (world, name) => {
    const node = world.ask(nodeView, name);
    const join = owningSubnet(world, world.settings.joinSubnet);
    if (node === undefined) return [];
    if (join === undefined) return [bound(node, undefined), ...orphanedPort(world, node)];
    const { joined } = node;
    if (joined === undefined && !world.ask(subnetReady, join.name).ready) return [bound(node, undefined)];
    const port = nodePortName(name);
    const ip = world.ips.get(port);
    const inUse = joined !== undefined || isOurs(world, portId(port), nodeOwner(node));
    const elsewhere = ip === undefined || isIpOfNode(ip, node) ? undefined : ipOfAnother(world, ip);
    if (elsewhere !== undefined && !inUse) return [bound(node, { reason: 'ReservedElsewhere', message: elsewhere })];
    const rejection = ip === undefined ? ipRejection(world, port, node.uid, `Node ${name}`, inUse) : undefined;
    if (rejection?.inBackoff === true && !inUse) return [bound(node, { reason: 'IPRefused', message: rejection.message })];
    const reservation = world.reservations.get(nodeClaimant(name));
    const outputs: Output[] = [
      { kind: 'address-request', request: nodeAddressRequest(world, node, join, ip) },
      bound(node, whyUnbound(world, node, join, reservation, rejection)),
    ];
    const reserved = addressesOf(reservation);
    if (reserved === undefined) return [...outputs, ...unreservedPort(world, node, reservation, ip)];
    if (ip === undefined) outputs.push(createIp(identityOf(node), reserved));
    else if (isIpOfNode(ip, node)) outputs.push(keepIp(ip, identityOf(node), reserved));
    const durable = ip !== undefined && isIpOfNode(ip, node) && sameAddresses(addressesOfIp(ip), reserved);
    if (durable || isOurs(world, portId(port), nodeOwner(node))) outputs.push(portRow(node, reserved));
    if (isJoined(world, node, reserved)) outputs.push(annotations(node, join, reserved));
    return outputs;
  },
};

interface Unbound {
  readonly reason: Reason;
  readonly message: string;
}

function whyUnbound(
  world: World,
  node: NodeView,
  join: SubnetView,
  reservation: Reservation | undefined,
  rejection: IpRejection | undefined,
): Unbound | undefined {
  const { name, joined } = node;
  if (reservation?.kind === 'failed')
    return {
      reason: reservation.code,
      message:
        joined === undefined
          ? `Node ${name} has no address in Subnet ${join.name}: ${reservation.message}; ${commandText`kubectl get subnet ${join.name}`}`
          : `Node ${name} keeps the address that it has: ${reservation.message}; ${commandText`kubectl get subnet ${join.name}`}`,
    };
  const conflict = world.rowConflicts.get(portId(nodePortName(name)));
  if (conflict?.owners.includes(ownerText(nodeOwner(node))) === true)
    return {
      reason: 'RowConflict',
      message: `Node ${name} has no port in Subnet ${join.name}: ${conflict.message}`,
    };
  return rejection === undefined ? undefined : { reason: 'IPRefused', message: rejection.message };
}

/** The condition in the annotation: the kubelet owns the conditions in the status. */
function bound({ name, uid }: NodeView, why: Unbound | undefined): Output {
  const patch = { kind: 'patch', resource: 'nodes', key: name, uid } as const;
  if (why === undefined) return { ...patch, withoutConditions: [POD_CONDITION] };
  const condition = { type: POD_CONDITION, status: 'False', ...why } as const;
  // The row conflict emits an Event itself.
  return { ...patch, conditions: [why.reason === 'RowConflict' ? condition : { ...condition, event: 'Warning' }] };
}

/**
 * The join Subnet was removed by force: the port stays where it is until the Subnet exists again, with the addresses in the node's
 * annotations. An IP object that a user edited or deleted is restored from these.
 */
function orphanedPort(world: World, node: NodeView): readonly Output[] {
  const id = portId(nodePortName(node.name));
  const row = isOurs(world, id, nodeOwner(node)) ? retainedRow(world, id) : undefined;
  if (row === undefined) return [];
  const annotated = annotatedAddresses(node);
  if (annotated === undefined) return [row];
  const ip = world.ips.get(nodePortName(node.name));
  const ips =
    ip === undefined ? [createIp(identityOf(node), annotated)] : isIpOfNode(ip, node) ? [keepIp(ip, identityOf(node), annotated)] : [];
  return [...ips, { ...portRow(node, annotated), ...(row.parent !== undefined && { parent: row.parent }) }];
}

/**
 * The join Subnet was created again with another CIDR, or its spec is invalid: like a pod, the node keeps its port, and reports that. Its
 * annotations have the addresses; an IP object that a user edited or deleted is restored from these.
 */
function unreservedPort(world: World, node: NodeView, reservation: Reservation | undefined, ip: IP | undefined): readonly Output[] {
  const annotated = annotatedAddresses(node);
  if (reservation?.kind !== 'failed' || reservation.code === 'AddressConflict' || annotated === undefined) return [];
  if (ip === undefined)
    return isOurs(world, portId(nodePortName(node.name)), nodeOwner(node))
      ? [createIp(identityOf(node), annotated), portRow(node, annotated)]
      : [];
  return isIpOfNode(ip, node) ? [keepIp(ip, identityOf(node), annotated), portRow(node, annotated)] : [];
}

/** The addresses in the annotations, from which the node agent set up the interface. */
function annotatedAddresses(node: NodeView): Addresses | undefined {
  if (node.joined === undefined) return undefined;
  const { subnet, mac } = node.joined;
  return { subnet, v4: joinedAddress(node, 4) ?? '', v6: joinedAddress(node, 6) ?? '', mac };
}

/**
 * The node's addresses in the join Subnet, once its port is observed with them: policies may send traffic there. If the join Subnet gets a
 * second family, the present addresses count until the port has both. A port that another program deleted still counts, since the next
 * transaction restores it: traffic does not move to another node for that.
 */
export function joinAddresses(world: World, node: NodeView): Addresses | undefined {
  const reserved = addressesOf(world.reservations.get(nodeClaimant(node.name)));
  const annotated = annotatedAddresses(node);
  const ip = world.ips.get(nodePortName(node.name));
  // No address can be reserved while the Subnet does not exist or has another CIDR: the port keeps its addresses.
  const addresses = reserved ?? annotated ?? (ip === undefined ? undefined : addressesOfIp(ip));
  if (addresses === undefined) return undefined;
  if (isJoined(world, node, addresses)) return addresses;
  if (reserved === undefined || annotated === undefined) return undefined;
  return isJoined(world, node, annotated) || (sameExceptNewFamily(annotated, reserved) && isBeingRestored(world, node, annotated, ip))
    ? annotated
    : undefined;
}

/**
 * Whether the next transaction restores the port with these addresses: annotations, IP object and reservation agree, and the port is
 * missing or has other contents. A missing IP object is restored as well, unless the API server rejects it.
 */
function isBeingRestored(world: World, node: NodeView, annotated: Addresses, ip: IP | undefined): boolean {
  const id = portId(nodePortName(node.name));
  const there = world.rows.state(id)?.ownership;
  // A port in its switch that lost its ownership keys is adopted by the next transaction.
  const lostKeys = there?.kind === 'legacy' && world.rows.hasMember(switchId(world.settings.joinSubnet), 'ports', id);
  if (there !== undefined && !lostKeys && !isOurs(world, id, nodeOwner(node))) return false;
  if (ip === undefined) return ipRejection(world, nodePortName(node.name), node.uid, `Node ${node.name}`, true) === undefined;
  return isIpOfNode(ip, node) && sameExceptNewFamily(annotated, addressesOfIp(ip));
}

/** Whether the addresses are equal, except for a family that `few` does not have. */
function sameExceptNewFamily(few: Addresses, many: Addresses | undefined): boolean {
  return many !== undefined && sameAddresses(few, { ...many, ...(few.v4 === '' && { v4: '' }), ...(few.v6 === '' && { v6: '' }) });
}

function isJoined(world: World, node: NodeView, addresses: Addresses): boolean {
  const id = portId(nodePortName(node.name));
  if (!isOurs(world, id, nodeOwner(node))) return false;
  const portAddresses = world.rows.column(id, 'addresses');
  return portAddresses instanceof Set && portAddresses.has(portAddressText(addresses));
}

function joinedAddress({ joined }: NodeView, family: 4 | 6): string | undefined {
  return splitList(joined?.addresses ?? '').find((text) => parseAddress(text)?.family === family);
}

/**
 * The node requests the addresses that it has, of the families of the join Subnet. If that has none of them any longer, the request fails,
 * unless an administrator lets the nodes follow a change of the Subnet: then it gets others there.
 */
function nodeAddressRequest(world: World, node: NodeView, join: SubnetView, ip: IP | undefined): AddressRequest {
  const base = { claimant: nodeClaimant(node.name), subnets: [join.name], families: 'subnet', ofNode: true, since: node.created } as const;
  const has = currentAddresses(world, node, ip);
  if (has === undefined || has.subnet !== join.name) return base;
  const follows = mayFollow(world, join.name);
  const { v4, v6 } = { v4: follows(has.v4), v6: follows(has.v6) };
  const mac = parseMac(has.mac);
  const isIn = (v4 !== '' && join.v4 !== undefined) || (v6 !== '' && join.v6 !== undefined);
  return {
    ...base,
    ...(v4 !== '' && (join.v4 !== undefined || !isIn) && { v4 }),
    ...(v6 !== '' && (join.v6 !== undefined || !isIn) && { v6 }),
    ...(mac !== undefined && { mac }),
  };
}

/** What a node keeps of an address: nothing where it lies outside of the join Subnet or is its gateway, and may be changed. */
function mayFollow(world: World, join: string): (text: string) => string {
  const intent = world.ask(subnetIntent, join);
  if (intent === undefined || !mayChangeUnderPods(intent)) return (text) => text;
  const { pool } = world.ask(subnetNetworks, join);
  return (text) => {
    const address = parseAddress(text);
    const network = address === undefined ? undefined : ofFamily(pool, address.family);
    const cidr = network === undefined ? undefined : parseCidr(network.cidr);
    if (address === undefined || network === undefined || cidr === undefined) return text;
    return cidrContains(cidr, address) && network.gateway !== formatAddress(address) ? text : '';
  };
}

/** The addresses of a node that has joined: those that most of IP object, annotations and port have, if a user changed one of them. */
function currentAddresses(world: World, node: NodeView, ip: IP | undefined): Addresses | undefined {
  const annotated = annotatedAddresses(node);
  if (annotated === undefined) return undefined;
  const id = portId(nodePortName(node.name));
  const sources = [
    ip !== undefined && isIpOfNode(ip, node) ? addressesOfIp(ip) : undefined,
    annotated,
    isOurs(world, id, nodeOwner(node)) ? addressesInRow(world, id) : undefined,
  ];
  return majorityAddress(
    world,
    sources.filter((one) => one !== undefined),
  );
}

function identityOf({ name, uid }: NodeView): IpIdentity {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  return { name: nodePortName(name), podName: name, namespace: '', podType: '', node: name, annotations: {}, ownerReferences };
}

function portRow(node: NodeView, addresses: Addresses): RowOutput {
  const port = nodePortName(node.name);
  return {
    kind: 'row',
    id: portId(port),
    owner: nodeOwner(node),
    rule: RULE,
    parent: { id: switchId(addresses.subnet), column: 'ports' },
    columns: {
      name: port,
      type: '',
      addresses: [portAddressText(addresses)],
      port_security: [],
      options: {},
      dhcpv4_options: null,
      dhcpv6_options: null,
    },
    externalIds: { ls: addresses.subnet },
  };
}

function annotations(node: NodeView, join: SubnetView, addresses: Addresses): Output {
  const key = (suffix: Parameters<typeof podAnnotation>[1]): string => podAnnotation(DEFAULT_PROVIDER, suffix);
  return {
    kind: 'patch',
    resource: 'nodes',
    key: node.name,
    uid: node.uid,
    annotations: {
      [key('ip_address')]: ipText(addresses),
      [key('mac_address')]: addresses.mac,
      [key('cidr')]: join.cidr,
      [key('gateway')]: join.gateway,
      [key('logical_switch')]: join.name,
      [key('allocated')]: 'true',
      [annotationKey.portName]: nodePortName(node.name),
    },
  };
}
