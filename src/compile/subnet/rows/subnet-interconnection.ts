/**
 * An underlay Subnet that is connected to the overlay (`u2oInterconnection`): the router of its Vpc has a port in it, with an address of its
 * own, since the gateway is a physical one. Policies lead what the Subnet sends outside of the Vpc to that gateway, and what is for
 * addresses of nodes too, so that the reply of a node comes back the same way. In a custom Vpc a route does the first.
 */
import { groupName, switchToRouterPort } from '../../../api/names.ts';
import { API_VERSION } from '../../../api/schema/kind.ts';
import { interconnectionName } from '../../../kinds/subnet/dependencies/interconnection.ts';
import { parseAddress } from '../../../net/address.ts';
import type { Family } from '../../../net/address.ts';
import { familiesOf, joinDual, ofFamily, splitList } from '../../../net/dual.ts';
import { parseMac } from '../../../net/mac.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { identityOf, rowId } from '../../../nb/row-id.ts';
import { isOfSubnet } from '../../../world/claimants.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { AddressRequest } from '../../../world/reservations.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { Addresses, IpIdentity } from '../../ip/ip-object.ts';
import { addressesOf, addressesOfIp, createIp, ipText, keepIp, sameAddresses } from '../../ip/ip-object.ts';
import { nodeView } from '../../node/node-view.ts';
import type { Output, PatchOutput, RowOutput } from '../../output.ts';
import { macExternalId, rowMac } from '../../row-mac.ts';
import { isLinkedByAnother, mayLink } from '../../port-link.ts';
import { emittedSubnet, subnetRows } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, subnetSpec, subnetView } from '../validity/subnet-view.ts';
import { policyRow } from '../../vpc/vpc-policy-routes.ts';
import { vpcRowsRule } from '../../vpc/vpc-rows-rule.ts';
import { isOurs, routerId, vpcOwner } from '../../vpc/vpc-view.ts';
import { prefixOf } from './subnet-acls.ts';
import { linkRow, routerPortId } from './subnet-switch.ts';

const RULE = 'subnet-interconnection';
const VPC_RULE = 'vpc-overlay-networks';

export const subnetInterconnection: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    // A frozen Subnet keeps its rows as they are, and the IP object the address.
    if (view === undefined && world.ask(subnetRows, name) === 'frozen') return [];
    if (view === undefined || !isConnected(view)) return endedStatus(world, name);
    const key = interconnectionName(view.vpc, name);
    const ip = world.ips.get(key);
    const request: Output = { kind: 'address-request', request: requestOf(world, view, key) };
    // A user made an object of that name, for a pod.
    if (ip !== undefined && !isOfSubnet(ip)) return [request];
    const held = ip === undefined ? undefined : addressesOfIp(ip);
    const reserved = addressesOf(world.reservations.get(key));
    const outputs: Output[] = [request];
    if (reserved !== undefined)
      outputs.push(ip === undefined ? createIp(identityFor(view, key), reserved) : keepIp(ip, identityFor(view, key), reserved));
    // The port waits for the IP object; until another address is in it, the port keeps its own.
    const settled = sameAddresses(held, reserved) ? reserved : held;
    if (settled === undefined) return outputs;
    // A port that exists keeps its MAC: that of Kube-OVN's may be another one than the IP object has.
    const id = routerPortId(view);
    const addresses = { ...settled, mac: world.rows.state(id) === undefined ? settled.mac : rowMac(world, id, 'mac') };
    return [...outputs, ...linkRows(world, view, addresses), ...policyRows(world, view), ...statusOf(world, view, addresses)];
  },
};

/** Whether it has networks that a router can have an address in. */
export function isConnected({ interconnected, routed, protocol }: SubnetView): boolean {
  return interconnected && !routed && protocol !== 'Mac';
}

/**
 * The default gateway of its ports: of a connected Subnet the router of its Vpc, once it has an address there. That one sends to the physical
 * gateway what is not for the overlay.
 */
export function gatewayOfPorts(world: World, view: SubnetView, family: Family): string {
  const physical = ofFamily(view, family)?.gateway ?? '';
  if (!isConnected(view) || !isOurs(world, routerPortId(view), subnetOwner(view))) return physical;
  const networks = world.rows.column(routerPortId(view), 'networks');
  const texts = networks instanceof Set ? [...networks] : [networks];
  return texts.map((text) => String(text ?? '').split('/', 1)[0] ?? '').find((text) => parseAddress(text)?.family === family) ?? physical;
}

/** The address of the spec, else the one that it has, else any. */
function requestOf(world: World, view: SubnetView, key: string): AddressRequest {
  const { name, created, ...networks } = view;
  const ip = world.ips.get(key);
  const held = ip === undefined ? undefined : addressesOfIp(ip);
  const asked = splitList(world.ask(subnetSpec, name)?.u2oInterconnectionIP ?? '');
  const of = (family: Family): string => {
    const text = asked.find((one) => parseAddress(one)?.family === family) ?? (family === 4 ? held?.v4 : held?.v6) ?? '';
    return ofFamily(networks, family) === undefined ? '' : text;
  };
  // Before 1.14 the IP object has no MAC. Pods know that of the port.
  const [v4, v6, mac] = [of(4), of(6), parseMac(held?.mac ?? '') ?? parseMac(String(world.rows.column(routerPortId(view), 'mac') ?? ''))];
  return {
    ...{ claimant: key, subnets: [name], families: 'subnet', since: created },
    ...(v4 !== '' && { v4 }),
    ...(v6 !== '' && { v6 }),
    ...(mac !== undefined && { mac }),
  };
}

function identityFor({ name, uid }: SubnetView, key: string): IpIdentity {
  const ownerReferences = [{ apiVersion: API_VERSION, kind: 'Subnet', name, uid }];
  return { name: key, podName: key, namespace: 'default', podType: '', node: '', annotations: {}, ownerReferences };
}

function linkRows(world: World, view: SubnetView, { v4, v6, mac }: Addresses): readonly RowOutput[] {
  const { name, vpc } = view;
  const owner = subnetOwner(view);
  const id = routerPortId(view);
  const link = rowId('Logical_Switch_Port', switchToRouterPort(name, vpc));
  const waits = world.rows.state(id) === undefined && isLinkedByAnother(world, id, name);
  const linked = !waits && mayLink(world, id, owner, () => isOurs(world, link, owner));
  const networks = familiesOf(view).flatMap((family) => {
    const [address, cidr = ''] = [family === 4 ? v4 : v6, ofFamily(view, family)?.cidr];
    return address === '' ? [] : [address + cidr.slice(cidr.indexOf('/'))];
  });
  const port: RowOutput = {
    kind: 'row',
    id,
    owner,
    rule: RULE,
    parent: { id: routerId(vpc), column: 'ports' },
    columns: {
      name: identityOf(id),
      mac,
      networks,
      options: view.routeTable === '' ? {} : { route_table: view.routeTable },
      ipv6_prefix: [],
      ipv6_ra_configs: {},
    },
    externalIds: { lr: vpc, ...macExternalId(id, parseMac(mac) ?? rowMac(world, id, 'mac')) },
  };
  return [...(linked ? [{ ...linkRow(owner, name, switchToRouterPort(name, vpc), identityOf(id)), rule: RULE }] : []), port];
}

const KEYS = { isU2ORoutePolicy: 'true' } as const;
const OVERLAY_ONLY_KEYS = { ...KEYS, isU2OOverlayOnlyRoutePolicy: 'true' } as const;

function policyRows(world: World, view: SubnetView): readonly RowOutput[] {
  const { name, vpc, inDefaultVpc } = view;
  const owner = subnetOwner(view);
  const overlayOnly = world.ask(subnetSpec, name)?.u2oFeatures?.overlayOnlyRouting === true;
  const policy = (priority: number, match: string, nexthops: readonly string[], keys: Readonly<Record<string, string>>): RowOutput =>
    policyRow(vpc, { priority, match, action: nexthops.length === 0 ? 'allow' : 'reroute', nexthops }, owner, RULE, {
      subnet: name,
      ...keys,
    });
  return familiesOf(view).flatMap((family): readonly RowOutput[] => {
    const network = ofFamily(view, family);
    if (network === undefined) return [];
    const { cidr, gateway } = network;
    const ip = prefixOf(family);
    const [from, to] = [`${ip}.src == ${cidr}`, `${ip}.dst == ${cidr}`];
    const excluded = rowId('Address_Set', excludedSet(name, family));
    const nodes = world.ask(nodeAddresses, String(family));
    const keys = overlayOnly ? OVERLAY_ONLY_KEYS : KEYS;
    return [
      ...(inDefaultVpc
        ? [
            addressSet(excluded, nodes, { subnet: name, ...KEYS }, owner),
            policy(31_000, `${ip}.dst == $${excludedSet(name, family)} && ${from}`, [gateway], keys),
          ]
        : []),
      ...(overlayOnly
        ? [
            policy(29_400, `${ip}.src == $${overlaySet(vpc, family)} && ${to}`, [], keys),
            policy(30_060, `${from} && ${to}`, [], keys),
            policy(30_050, from, [gateway], KEYS),
          ]
        : [...(inDefaultVpc ? [policy(29_400, to, [], keys)] : []), policy(29_000, from, [gateway], keys)]),
    ];
  });
}

function addressSet(
  id: RowId,
  addresses: readonly string[],
  externalIds: Readonly<Record<string, string>>,
  owner: RowOutput['owner'],
  rule = RULE,
): RowOutput {
  return { kind: 'row', id, owner, rule, columns: { name: identityOf(id), addresses }, externalIds };
}

/** Addresses that are reached through the physical gateway. */
function excludedSet(subnet: string, family: Family): string {
  return groupName(`${subnet}.u2o_exclude_ip.ip${family}`);
}

function overlaySet(vpc: string, family: Family): string {
  return groupName(`${vpc}.u2o_overlay_cidrs.ip${family}`);
}

/** InternalIPs of all nodes, by family. Empty once there are none. */
const nodeAddresses: Query<readonly string[]> = defineQuery('interconnection-node-addresses', (world, family) =>
  [...world.nodes.keys()]
    .flatMap((name) => world.ask(nodeView, name)?.internalIps ?? [])
    .filter((text) => parseAddress(text)?.family === Number(family))
    .toSorted(),
);

/** The networks of the overlay Subnets of a Vpc, for Subnets that are connected to these alone. */
export const vpcOverlayNetworks: Rule = vpcRowsRule(VPC_RULE, ({ world, name, view }) => {
  const subnets = [...world.subnetVpcs.in(name)].toSorted();
  const isAsked = subnets.some((subnet) => {
    const one = world.ask(subnetView, subnet);
    return one !== undefined && isConnected(one) && world.ask(subnetSpec, subnet)?.u2oFeatures?.overlayOnlyRouting === true;
  });
  if (!isAsked) return [];
  return ([4, 6] as const).map((family) => {
    const cidrs = subnets.flatMap((subnet) => {
      const one = emittedSubnet(world, subnet);
      return one?.vlan === '' && one.isOvn ? (ofFamily(one, family)?.cidr ?? []) : [];
    });
    const keys = { vpc: name, isU2OOverlayCIDRs: 'true' };
    return addressSet(rowId('Address_Set', overlaySet(name, family)), cidrs, keys, vpcOwner(view), VPC_RULE);
  });
});

/** Once its router port is observed. */
function statusOf(world: World, view: SubnetView, addresses: Addresses): readonly PatchOutput[] {
  const { name, uid, vpc } = view;
  if (!isOurs(world, routerPortId(view), subnetOwner(view))) return [];
  const status = { u2oInterconnectionIP: ipText(addresses), u2oInterconnectionMAC: addresses.mac, u2oInterconnectionVPC: vpc };
  return [{ kind: 'patch', resource: 'subnets', key: name, uid, status }];
}

/** A Subnet that is no longer connected. */
function endedStatus(world: World, name: string): readonly PatchOutput[] {
  const uid = world.ask(connectedBefore, name);
  if (uid === '') return [];
  const status = { u2oInterconnectionIP: '', u2oInterconnectionMAC: '', u2oInterconnectionVPC: '' };
  return [{ kind: 'patch', resource: 'subnets', key: name, uid, status }];
}

/** Its uid, if its status has a connection. A value: other changes of the status run no rule. */
const connectedBefore: Query<string> = defineQuery('subnet-connected-before', (world, name) => {
  const subnet = world.subnets.get(name);
  const { u2oInterconnectionIP: v = '', u2oInterconnectionMAC: mac = '', u2oInterconnectionVPC: vpc = '' } = subnet?.status ?? {};
  return joinDual({ v4: v, v6: mac + vpc }) === '' ? '' : (subnet?.metadata.uid ?? '');
});
