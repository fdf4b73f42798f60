/**
 * The networks of a Subnet: what its spec asks, and what is in effect.
 *
 * They differ while addresses are in use outside of a CIDR that was narrowed, moved or dropped: then the network that the
 * router port has stays in effect for all rows, new addresses come from the part of it that the spec still names, and the
 * Subnet says who is in the way. With the last of them gone the rows follow the spec. Likewise while somebody has the
 * address that is to be the gateway: no router port takes it from them. They also differ while the spec cannot be read: a
 * mistyped CIDR does not take a network down.
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
import { rowId } from '../../../nb/row-id.ts';
import { ADDRESS_RESOURCES } from '../../../world/address-objects.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import { subnetIntent } from '../../../world/intent.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { namesText } from '../../left-out.ts';
import { commandText } from '../../../text/command-text.ts';

export interface Network {
  readonly cidr: CidrText;
  readonly gateway: AddressText;
}

export interface SubnetNetworks extends Dual<Network> {
  /** Where new addresses come from: of each family the network of the spec, or the one in effect. */
  readonly pool: Dual<Network>;
  /** IP objects, Vips and EIPs, each as `<kind> <name>`, with an address outside of the CIDR that the spec asks for, while that CIDR has to wait for them. */
  readonly outside: readonly string[];
  /** The same of those who have an address that the spec asks for as a gateway. */
  readonly onGateway: readonly string[];
  /** Networks in effect whose CIDR stays because of those outside. */
  readonly cidrStays: Dual<Network>;
  /** Gateways that the spec asks for and that have to wait for those who have them. */
  readonly gatewaysAwaited: Dual<AddressText>;
  /** Whether its router port carries exactly these networks. */
  readonly inPlace: boolean;
  /** Whether its router port carries any network, these or others. */
  readonly carries: boolean;
}

const NO_NETWORKS: SubnetNetworks = {
  pool: {},
  outside: [],
  onGateway: [],
  cidrStays: {},
  gatewaysAwaited: {},
  inPlace: false,
  carries: false,
};

interface Interface {
  readonly cidr: Cidr;
  readonly gateway: Address;
}

/** What the spec asks for, as far as addresses in use let it; of a spec that cannot be read, what is carried. */
export const askedNetworks: Query<SubnetNetworks> = defineQuery('subnet-asked-networks', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  return subnet === undefined ? NO_NETWORKS : networksAskedBy(world, subnet);
});

/** The same of a Subnet as somebody would like to have it. */
export function networksAskedBy(world: World, subnet: SubnetIntent): SubnetNetworks {
  const { name } = subnet.metadata;
  const asked = askedOf(subnet);
  const carried = carriedOf(world, subnet);
  if (asked === undefined) return inEffect(carried);
  const [waits4, waits6] = [waitingFor(world, name, asked.v4, carried.v4), waitingFor(world, name, asked.v6, carried.v6)];
  const v4 = isWaiting(waits4) ? carried.v4 : asked.v4;
  const v6 = isWaiting(waits6) ? carried.v6 : asked.v6;
  const pool4 = poolOf(v4, asked.v4);
  const pool6 = poolOf(v6, asked.v6);
  return {
    ...(v4 !== undefined && { v4: textOf(v4) }),
    ...(v6 !== undefined && { v6: textOf(v6) }),
    pool: { ...(pool4 !== undefined && { v4: pool4 }), ...(pool6 !== undefined && { v6: pool6 }) },
    outside: namesIn([waits4.outside, waits6.outside]),
    onGateway: namesIn([waits4.onGateway, waits6.onGateway]),
    cidrStays: {
      ...(v4 !== undefined && waits4.outside.length > 0 && { v4: textOf(v4) }),
      ...(v6 !== undefined && waits6.outside.length > 0 && { v6: textOf(v6) }),
    },
    gatewaysAwaited: {
      ...(asked.v4 !== undefined && waits4.onGateway.length > 0 && { v4: formatAddress(asked.v4.gateway) }),
      ...(asked.v6 !== undefined && waits6.onGateway.length > 0 && { v6: formatAddress(asked.v6.gateway) }),
    },
    inPlace: sameInterface(v4, carried.v4) && sameInterface(v6, carried.v6),
    carries: carried.v4 !== undefined || carried.v6 !== undefined,
  };
}

/** Who is in the way of the network, or of the gateway, that a Subnet asks for: a finding while somebody is. */
export function networkInUse(name: string, networks: SubnetNetworks): Pick<Finding, 'code' | 'field' | 'message'> | undefined {
  const { outside, onGateway, cidrStays, gatewaysAwaited } = networks;
  if (outside.length > 0) {
    const message =
      `Subnet ${name}: spec.cidrBlock leaves out addresses in use; ${cidrsOf(cidrStays)} stays in effect until these are gone: ` +
      `${namesText(outside)}; delete their pods or them, or put the addresses back into spec.cidrBlock`;
    return { code: 'CidrInUse', field: 'spec.cidrBlock', message };
  }
  if (onGateway.length === 0) return undefined;
  // Of the families that wait alone: the other has its new gateway.
  const stays = ([4, 6] as const).flatMap((family) =>
    ofFamily(gatewaysAwaited, family) === undefined ? [] : (ofFamily(networks, family)?.gateway ?? []),
  );
  const message =
    `Subnet ${name}: spec.gateway "${joinDual(gatewaysAwaited)}" is in use; ${stays.join(',')} stays the gateway until ` +
    `nobody has it: ${namesText(onGateway)}; delete their pods or them, or ${commandText`kubectl edit subnet ${name} and name a free address`}`;
  return { code: 'SubnetGatewayInUse', field: 'spec.gateway', message };
}

/** As one text, IPv4 first. */
export function cidrsOf(networks: Dual<Network>): string {
  return joinDual(mapDual(networks, ({ cidr }) => cidr));
}

function namesIn(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].toSorted();
}

/** What its router port carries, whatever the spec asks. */
export const carriedNetworks: Query<SubnetNetworks> = defineQuery('subnet-carried-networks', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  if (subnet === undefined) return NO_NETWORKS;
  const carried = carriedOf(world, subnet);
  const effect = inEffect(carried);
  if (carried.v4 !== undefined || carried.v6 !== undefined) return effect;
  // Without a port that says it, who is in it keeps what the spec has.
  const { v4, v6 } = askedOf(subnet) ?? {};
  return { ...effect, pool: inEffect({ ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }) }).pool };
});

/** What the spec asks for, with the gateway where it names none; undefined where it cannot be read. */
function askedOf(subnet: SubnetIntent): Dual<Interface> | undefined {
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

/** What its router port has now; nothing where it has none. */
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

interface Waits {
  readonly outside: readonly string[];
  readonly onGateway: readonly string[];
}

function isWaiting({ outside, onGateway }: Waits): boolean {
  return outside.length + onGateway.length > 0;
}

/** Who has an address of the carried network that the one asked for does not have, and who has its gateway where that is another. */
function waitingFor(world: World, subnet: string, asked: Interface | undefined, carried: Interface | undefined): Waits {
  if (carried === undefined) return { outside: [], onGateway: [] };
  const { family } = carried.cidr;
  const covered = asked !== undefined && cidrCovers(asked.cidr, carried.cidr);
  const leftOut = (address: Address): boolean =>
    cidrContains(carried.cidr, address) && (asked === undefined || !cidrContains(asked.cidr, address));
  const moved = asked === undefined || sameAddress(asked.gateway, carried.gateway) ? undefined : asked.gateway;
  const outside = covered ? [] : holdersWith(world, subnet, family, leftOut, asked === undefined);
  return {
    outside,
    onGateway: moved === undefined ? [] : holdersWith(world, subnet, family, (address) => sameAddress(address, moved)),
  };
}

/**
 * IP objects, Vips and EIPs of a Subnet with such an address.
 * @param dropped the family is to go: no node waits for that, it stays as long as the cluster and is told what it has
 */
function holdersWith(world: World, subnet: string, family: Family, has: (address: Address) => boolean, dropped = false): readonly string[] {
  const follows = (ip: IP): boolean => dropped && isOfNode(world, ip) && addressesOf(ip, family === 4 ? 6 : 4).length > 0;
  const ips = world.ips
    .select('subnet', subnet)
    .filter((ip) => addressesOf(ip, family).some(has) && !follows(ip))
    .map((ip) => `IP ${ip.metadata.name}`);
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

/** Of a network that stays although the spec asks for less of it: that less. */
function poolOf(effective: Interface | undefined, asked: Interface | undefined): Network | undefined {
  if (effective === undefined || asked === undefined) return undefined;
  return textOf({ ...effective, cidr: cidrCovers(effective.cidr, asked.cidr) ? asked.cidr : effective.cidr });
}

function inEffect(carried: Dual<Interface>): SubnetNetworks {
  const { v4, v6 } = carried;
  return {
    ...(v4 !== undefined && { v4: textOf(v4) }),
    ...(v6 !== undefined && { v6: textOf(v6) }),
    pool: { ...(v4 !== undefined && { v4: textOf(v4) }), ...(v6 !== undefined && { v6: textOf(v6) }) },
    outside: [],
    onGateway: [],
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
