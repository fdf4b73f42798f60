/**
 * The networks of a Subnet: requested by its spec, and in effect.
 *
 * They differ while addresses are in use outside of a CIDR that was narrowed, moved or dropped. Then the network of the router port stays
 * in effect for all rows, new addresses come from the part of it that the spec still has, and the Subnet reports the addresses. Once they
 * are released, the rows follow the spec. The same holds while the address of a new gateway is in use, while routes of running pods
 * lead to the present one, and while running pods have the mask of a wider network: they look for its addresses on their own switch. If the router port is missing, the annotations of running pods and nodes name the present network. They also
 * differ while the spec cannot be parsed: a mistyped CIDR does not take a network down.
 */
import { nodePortName, routerToSwitchPort } from '../../../api/names.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import type { IP } from '../../../api/kinds/ip.ts';
import type { Address, AddressText, Family } from '../../../net/address.ts';
import { formatAddress, parseAddress, sameAddress } from '../../../net/address.ts';
import type { Cidr, CidrText } from '../../../net/cidr.ts';
import { cidrContains, cidrCovers, firstUsable, formatCidr, parseInterfaceAddress, sameCidr } from '../../../net/cidr.ts';
import type { Dual } from '../../../net/dual.ts';
import { joinDual, mapDual, ofFamily, parseDualAddress, parseDualCidr, splitList } from '../../../net/dual.ts';
import { LEFTOVER_RULE } from '../../../nb/ownership.ts';
import { rowId } from '../../../nb/row-id.ts';
import { ADDRESS_RESOURCES } from '../../../world/address-objects.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import { subnetIntent } from '../../../world/intent.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { namesText } from '../../findings-text.ts';
import { commandText } from '../../../text/command-text.ts';
import { changeUnderPods, mayChangeUnderPods } from './change-under-pods.ts';
import type { GatewayUsers } from './gateway-users.ts';
import { gatewayUsers, maskUsers, usersText } from './gateway-users.ts';
import type { Interface } from './networks-of-pods.ts';
import { isPresentSpecAccepted, networksOfPods } from './networks-of-pods.ts';

export interface Network {
  readonly cidr: CidrText;
  readonly gateway: AddressText;
}

export interface SubnetNetworks extends Dual<Network> {
  /** The networks for new addresses: for each family that of the spec, or the one in effect. */
  readonly pool: Dual<Network>;
  /** IP objects, nodes, Vips and EIPs, as `<kind> <name>`, with an address outside of the requested CIDR, which waits for them. */
  readonly outside: readonly string[];
  /** Likewise, those with the address of the requested gateway. */
  readonly onGateway: readonly string[];
  /** Running pods and nodes with routes through the present gateway, which stays because of them. */
  readonly routedBy: GatewayUsers;
  /** Running pods with the mask of a network that the spec makes narrower, which stays because of them. */
  readonly maskedBy: GatewayUsers;
  /** Networks in effect that stay because of `maskedBy`. */
  readonly masksStay: Dual<Network>;
  /** Networks in effect that stay because of `outside`. */
  readonly cidrStays: Dual<Network>;
  /** Requested gateways that wait for `onGateway` or `routedBy`. */
  readonly gatewaysAwaited: Dual<AddressText>;
  /** Whether its router port has exactly these networks. */
  readonly inPlace: boolean;
  /** Whether its router port has any network. */
  readonly carries: boolean;
}

const NO_NETWORKS: SubnetNetworks = {
  pool: {},
  outside: [],
  onGateway: [],
  routedBy: { count: 0, names: [] },
  maskedBy: { count: 0, names: [] },
  masksStay: {},
  cidrStays: {},
  gatewaysAwaited: {},
  inPlace: false,
  carries: false,
};

/** The requested networks, as far as addresses in use permit; those of the router port if the spec cannot be parsed. */
export const requestedNetworks: Query<SubnetNetworks> = defineQuery('subnet-requested-networks', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  return subnet === undefined ? NO_NETWORKS : networksOf(world, subnet, () => world.ask(isPresentSpecAccepted, name));
});

/** The same for a Subnet that is not written yet. */
export function networksRequestedBy(world: World, subnet: SubnetIntent): SubnetNetworks {
  return networksOf(world, subnet, () => false);
}

function networksOf(world: World, subnet: SubnetIntent, isInEffect: () => boolean): SubnetNetworks {
  const requested = requestedOf(subnet);
  const carried = carriedOf(world, subnet);
  if (requested === undefined) return inEffect(carried);
  const present = isPortMissing(world, subnet, carried) && !isInEffect() ? networksOfPods(world, subnet, requested) : carried;
  const [waits4, waits6] = [waitingFor(world, subnet, requested.v4, present.v4), waitingFor(world, subnet, requested.v6, present.v6)];
  const v4 = isWaiting(waits4) ? present.v4 : requested.v4;
  const v6 = isWaiting(waits6) ? present.v6 : requested.v6;
  const pool4 = poolOf(v4, requested.v4);
  const pool6 = poolOf(v6, requested.v6);
  return {
    ...(v4 !== undefined && { v4: textOf(v4) }),
    ...(v6 !== undefined && { v6: textOf(v6) }),
    pool: { ...(pool4 !== undefined && { v4: pool4 }), ...(pool6 !== undefined && { v6: pool6 }) },
    outside: namesIn([waits4.outside, waits6.outside]),
    onGateway: namesIn([waits4.onGateway, waits6.onGateway]),
    routedBy: waits4.routedBy.count > 0 ? waits4.routedBy : waits6.routedBy,
    maskedBy: waits4.maskedBy.count > 0 ? waits4.maskedBy : waits6.maskedBy,
    masksStay: {
      ...(v4 !== undefined && waits4.maskedBy.count > 0 && { v4: textOf(v4) }),
      ...(v6 !== undefined && waits6.maskedBy.count > 0 && { v6: textOf(v6) }),
    },
    cidrStays: {
      ...(v4 !== undefined && waits4.outside.length > 0 && { v4: textOf(v4) }),
      ...(v6 !== undefined && waits6.outside.length > 0 && { v6: textOf(v6) }),
    },
    gatewaysAwaited: {
      ...(requested.v4 !== undefined && isGatewayAwaited(waits4) && { v4: formatAddress(requested.v4.gateway) }),
      ...(requested.v6 !== undefined && isGatewayAwaited(waits6) && { v6: formatAddress(requested.v6.gateway) }),
    },
    inPlace: sameInterface(v4, carried.v4) && sameInterface(v6, carried.v6),
    carries: carried.v4 !== undefined || carried.v6 !== undefined,
  };
}

/** The finding while addresses in use, or routes or masks of running pods, block the requested CIDR or gateway. */
export function networkInUse(name: string, networks: SubnetNetworks): Pick<Finding, 'code' | 'field' | 'message'> | undefined {
  const { outside, onGateway, routedBy, cidrStays, gatewaysAwaited } = networks;
  if (outside.length > 0) {
    const message =
      `Subnet ${name}: spec.cidrBlock leaves out addresses in use; ${cidrsOf(cidrStays)} stays in effect until these are gone: ` +
      `${namesText(outside)}; ${released(name, outside)}, or put the addresses back into spec.cidrBlock`;
    return { code: 'CidrInUse', field: 'spec.cidrBlock', message };
  }
  if (onGateway.length + routedBy.count === 0) return maskInUse(name, networks);
  // Only for the families that wait: the other one has its new gateway.
  const stays = ([4, 6] as const).flatMap((family) =>
    ofFamily(gatewaysAwaited, family) === undefined ? [] : (ofFamily(networks, family)?.gateway ?? []),
  );
  if (onGateway.length === 0) return { code: 'SubnetGatewayInUse', field: 'spec.gateway', message: routedMessage(name, networks, stays) };
  const message =
    `Subnet ${name}: spec.gateway "${joinDual(gatewaysAwaited)}" is in use; ${stays.join(',')} stays the gateway until ` +
    `it is released: ${namesText(onGateway)}; ${released(name, onGateway)}, or ${commandText`kubectl edit subnet ${name} and name a free address`}`;
  return { code: 'SubnetGatewayInUse', field: 'spec.gateway', message };
}

/** How addresses in use are released: nobody deletes a node for that, so nodes get other addresses. */
function released(name: string, holders: readonly string[]): string {
  const nodes = holders.filter((holder) => holder.startsWith(NODE));
  return [
    ...(nodes.length === 0
      ? []
      : [`${changeUnderPods(name)} gives the nodes other addresses, while traffic through them stops for a moment`]),
    ...(nodes.length === holders.length ? [] : ['delete their pods or them']),
  ].join('; ');
}

function maskInUse(name: string, { maskedBy, masksStay }: SubnetNetworks): ReturnType<typeof networkInUse> {
  if (maskedBy.count === 0) return undefined;
  const stays = cidrsOf(masksStay);
  const message =
    `Subnet ${name}: spec.cidrBlock is narrower than the network of running pods, which look for all of ${stays} on their own switch; it stays ` +
    `in effect until they are gone, and new addresses come from spec.cidrBlock: ${usersText(maskedBy)}; put ${stays} back, or delete all of ` +
    `these before new ones come, or ${changeUnderPods(name)} and make them again`;
  return { code: 'SubnetMaskInUse', field: 'spec.cidrBlock', message };
}

function routedMessage(name: string, { routedBy, gatewaysAwaited }: SubnetNetworks, stays: readonly string[]): string {
  return (
    `Subnet ${name}: spec.gateway "${joinDual(gatewaysAwaited)}" would cut off what has routes through ${stays.join(',')}, which stays the ` +
    `gateway until that is gone: ${usersText(routedBy)}; put ${stays.join(',')} back, or delete all of these before new ones come, or ` +
    `${changeUnderPods(name)} and make them again`
  );
}

/** As one text, IPv4 first. */
export function cidrsOf(networks: Dual<Network>): string {
  return joinDual(mapDual(networks, ({ cidr }) => cidr));
}

function namesIn(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].toSorted();
}

/** The networks of its router port, whatever the spec requests. */
export const routerPortNetworks: Query<SubnetNetworks> = defineQuery('subnet-router-port-networks', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  if (subnet === undefined) return NO_NETWORKS;
  const carried = carriedOf(world, subnet);
  const effect = inEffect(carried);
  if (carried.v4 !== undefined || carried.v6 !== undefined) return effect;
  // Without a router port the spec counts for existing addresses.
  const { v4, v6 } = requestedOf(subnet) ?? {};
  return { ...effect, pool: inEffect({ ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }) }).pool };
});

/** What has routes through the gateways of its router port. Cost: one pass over the Subnet's pods and nodes for each family. */
export function routerPortUsers(world: World, subnet: SubnetIntent): GatewayUsers {
  const port = rowId('Logical_Router_Port', routerToSwitchPort(world.vpcOf(subnet), subnet.metadata.name));
  const ownership = world.rows.state(port)?.ownership;
  // A port that Kube-OVN left for an underlay Subnet stays as it is.
  if (ownership?.kind === 'ours' && ownership.rule === LEFTOVER_RULE) return NO_NETWORKS.routedBy;
  const { v4, v6 } = carriedOf(world, subnet);
  for (const carried of [v4, v6]) {
    const users = carried === undefined ? undefined : gatewayUsers(world, subnet.metadata.name, formatAddress(carried.gateway));
    if (users !== undefined && users.count > 0) return users;
  }
  return NO_NETWORKS.routedBy;
}

/** The requested networks, with the default gateway if the spec names none; undefined if it cannot be parsed. */
function requestedOf(subnet: SubnetIntent): Dual<Interface> | undefined {
  const block = subnet.spec.cidrBlock ?? '';
  if (block === '') return (subnet.spec.vlan ?? '') === '' ? undefined : {};
  const cidrs = parseDualCidr(block);
  if (!cidrs.ok) return undefined;
  const gatewayText = subnet.spec.gateway ?? '';
  const gateways = gatewayText === '' ? undefined : parseDualAddress(gatewayText);
  const pick = (cidr: Cidr | undefined): Interface | undefined => {
    if (cidr === undefined) return undefined;
    const gateway = gateways?.ok === true ? ofFamily(gateways, cidr.family) : undefined;
    return { cidr, gateway: gateway !== undefined && cidrContains(cidr, gateway) ? gateway : firstUsable(cidr) };
  };
  const v4 = pick(cidrs.v4);
  const v6 = pick(cidrs.v6);
  return { ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }) };
}

/** The networks of its router port; none without a port. */
function carriedOf(world: World, subnet: SubnetIntent): Dual<Interface> {
  const vpc = world.vpcOf(subnet);
  const { name, uid } = subnet.metadata;
  const port = rowId('Logical_Router_Port', routerToSwitchPort(vpc, name));
  const ownership = world.rows.state(port)?.ownership;
  const owner = { kind: 'subnet', namespace: '', name, uid };
  const isItsOwn =
    ownership?.kind === 'ours' ? ownership.uid === uid : hasLostOwnershipKeys(world.rows, { id: port, owner, externalIds: { lr: vpc } });
  if (!isItsOwn) return {};
  const networks = world.rows.column(port, 'networks');
  const texts = networks instanceof Set ? [...networks] : typeof networks === 'string' ? [networks] : [];
  const found: { v4?: Interface; v6?: Interface } = {};
  for (const text of texts) {
    const parsed = parseInterfaceAddress(String(text));
    if (parsed === undefined) continue;
    found[parsed.cidr.family === 4 ? 'v4' : 'v6'] = { cidr: parsed.cidr, gateway: parsed.address };
  }
  return found;
}

/**
 * Whether it should have a router port, and no row shows its networks: neither its own, nor one that Kube-OVN or a user has there. A foreign
 * router gets no port.
 */
function isPortMissing(world: World, subnet: SubnetIntent, carried: Dual<Interface>): boolean {
  if (carried.v4 !== undefined || carried.v6 !== undefined || !hasRouterAsGateway(subnet)) return false;
  const vpc = world.vpcOf(subnet);
  const port = world.rows.state(rowId('Logical_Router_Port', routerToSwitchPort(vpc, subnet.metadata.name)));
  if (port !== undefined && port.ownership.kind !== 'ours') return false;
  return world.rows.state(rowId('Logical_Router', vpc))?.ownership.kind !== 'foreign';
}

interface Waits {
  readonly outside: readonly string[];
  readonly onGateway: readonly string[];
  readonly routedBy: GatewayUsers;
  readonly maskedBy: GatewayUsers;
}

const NO_WAITS: Waits = { outside: [], onGateway: [], routedBy: NO_NETWORKS.routedBy, maskedBy: NO_NETWORKS.maskedBy };

function isWaiting(waits: Waits): boolean {
  return waits.outside.length + waits.maskedBy.count > 0 || isGatewayAwaited(waits);
}

function isGatewayAwaited({ onGateway, routedBy }: Waits): boolean {
  return onGateway.length + routedBy.count > 0;
}

/**
 * Objects with an address of the present network outside of the requested one, objects with the address of the new gateway, what has
 * routes through the present one, and pods with the mask of a wider network than the requested one.
 */
function waitingFor(world: World, intent: SubnetIntent, requested: Interface | undefined, present: Interface | undefined): Waits {
  if (present === undefined) return NO_WAITS;
  const subnet = intent.metadata.name;
  const { family } = present.cidr;
  const covered = requested !== undefined && cidrCovers(requested.cidr, present.cidr);
  const leftOut = (address: Address): boolean =>
    cidrContains(present.cidr, address) && (requested === undefined || !cidrContains(requested.cidr, address));
  const moved = requested === undefined || sameAddress(requested.gateway, present.gateway) ? undefined : requested.gateway;
  const nodesFollow = mayChangeUnderPods(intent);
  const outside = covered ? [] : holdersWith(world, subnet, family, leftOut, { dropped: requested === undefined, nodesFollow });
  return {
    outside,
    onGateway: moved === undefined ? [] : holdersWith(world, subnet, family, (address) => sameAddress(address, moved), { nodesFollow }),
    routedBy:
      moved === undefined || !hasRouterAsGateway(intent) || mayChangeUnderPods(intent)
        ? NO_NETWORKS.routedBy
        : gatewayUsers(world, subnet, formatAddress(present.gateway)),
    maskedBy:
      requested === undefined || !isNarrower(requested.cidr, present.cidr) || mayChangeUnderPods(intent)
        ? NO_NETWORKS.maskedBy
        : maskUsers(world, subnet, requested.cidr),
  };
}

function isNarrower(requested: Cidr, present: Cidr): boolean {
  return requested.prefix > present.prefix && cidrCovers(present, requested);
}

/** The gateway of an underlay Subnet is a router outside of OVN: an edit of the spec does not move it. */
function hasRouterAsGateway({ spec }: SubnetIntent): boolean {
  return (spec.vlan ?? '') === '' || spec.logicalGateway === true;
}

const NODE = 'Node ';

interface Following {
  /** The spec drops the family: a node keeps its address of the other one. */
  readonly dropped?: boolean;
  /** An administrator allows it: nodes get other addresses. */
  readonly nodesFollow: boolean;
}

/** IP objects, Vips and EIPs of a Subnet with such an address, except for nodes that follow: a node stays as long as the cluster. */
function holdersWith(
  world: World,
  subnet: string,
  family: Family,
  has: (address: Address) => boolean,
  { dropped = false, nodesFollow }: Following,
): readonly string[] {
  const follows = (ip: IP): boolean =>
    (nodesFollow || (dropped && addressesOf(ip, family === 4 ? 6 : 4).length > 0)) && isOfNode(world, ip);
  const ips = world.ips
    .select('subnet', subnet)
    .filter((ip) => addressesOf(ip, family).some(has) && !follows(ip))
    .map((ip) => (isOfNode(world, ip) ? `${NODE}${ip.spec.podName}` : `IP ${ip.metadata.name}`));
  const objects = ADDRESS_RESOURCES.flatMap((resource) =>
    [...world.addressObjectsIn(resource, subnet)].map((name) => world.addressObject(resource, name)),
  )
    .filter((object) => object !== undefined)
    .filter(({ held }) => [held?.v4 ?? '', held?.v6 ?? ''].flatMap((text) => parseAddress(text) ?? []).some(has))
    .map(({ kind, name }) => `${kind} ${name}`);
  return [...ips, ...objects];
}

function isOfNode(world: World, { metadata, spec }: IP): boolean {
  const node = spec.podName ?? '';
  return spec.subnet === world.settings.joinSubnet && metadata.name === nodePortName(node) && world.nodes.has(node);
}

function addressesOf(ip: IP, family: Family): readonly Address[] {
  const { v4IpAddress = '', v6IpAddress = '', ipAddress = '' } = ip.spec;
  return [v4IpAddress, v6IpAddress, ...splitList(ipAddress)].flatMap((text) => {
    const address = parseAddress(text);
    return address?.family === family ? [address] : [];
  });
}

/** For a network that stays although the spec requests a part of it: that part. */
function poolOf(effective: Interface | undefined, requested: Interface | undefined): Network | undefined {
  if (effective === undefined || requested === undefined) return undefined;
  return textOf({ ...effective, cidr: cidrCovers(effective.cidr, requested.cidr) ? requested.cidr : effective.cidr });
}

function inEffect(carried: Dual<Interface>): SubnetNetworks {
  const { v4, v6 } = carried;
  return {
    ...(v4 !== undefined && { v4: textOf(v4) }),
    ...(v6 !== undefined && { v6: textOf(v6) }),
    pool: { ...(v4 !== undefined && { v4: textOf(v4) }), ...(v6 !== undefined && { v6: textOf(v6) }) },
    outside: [],
    onGateway: [],
    routedBy: NO_NETWORKS.routedBy,
    maskedBy: NO_NETWORKS.maskedBy,
    masksStay: {},
    cidrStays: {},
    gatewaysAwaited: {},
    inPlace: true,
    carries: v4 !== undefined || v6 !== undefined,
  };
}

function sameInterface(a: Interface | undefined, b: Interface | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return sameCidr(a.cidr, b.cidr) && sameAddress(a.gateway, b.gateway);
}

function textOf({ cidr, gateway }: Interface): Network {
  return { cidr: formatCidr(cidr), gateway: formatAddress(gateway) };
}
