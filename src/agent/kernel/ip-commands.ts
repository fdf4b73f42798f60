/** The commands that make a device as it should be. Pure. */
import { canonicalAddress } from '../../net/address.ts';
import { canonicalCidr } from '../../net/cidr.ts';
import type { DeviceOutput, DeviceRoute, LinkOutput } from '../world/outputs.ts';
import type { ObservedDevice } from '../world/node-world.ts';
import { sysctlName } from './neighbours.ts';
import { inNamespace } from './programs.ts';
import { PROTOCOL } from './routing-commands.ts';

export interface Command {
  readonly command: readonly [string, ...string[]];
  readonly input?: string;
}

export type Present = ObservedDevice & { readonly kind: 'present' };

const QUEUE_LENGTH = '1000';

/**
 * Whether the two ends of a device of a pod are as they should be, without addresses and routes. The inner end is up once its port passes
 * packets: the kernel's search for duplicates would find none before, and Open vSwitch would learn to drop what it sends.
 */
export function hasPair({ mac, mtu, connected }: DeviceOutput, observed: ObservedDevice): boolean {
  return observed.kind === 'present' && (observed.up || !connected) && observed.mac === mac && observed.mtu === mtu;
}

/** Lines of the node that make both ends. The kernel takes no alias when it makes a link. */
export function newPairLines(output: DeviceOutput): readonly string[] {
  const { name, mtu, mac, innerName, namespacePath } = output;
  const inner = ['peer', 'name', innerName, 'address', mac, 'mtu', String(mtu), 'netns', namespacePath];
  return [batchLine('link', 'add', 'name', name, 'mtu', String(mtu), 'type', 'veth', ...inner), hostEndLine(output)];
}

/** A pair that is not up may be one whose maker was killed before its second line. */
export function hostEndLine({ name, alias, mtu }: Pick<DeviceOutput, 'name' | 'alias' | 'mtu'>): string {
  return batchLine('link', 'set', 'dev', name, 'mtu', String(mtu), 'alias', alias, 'txqueuelen', QUEUE_LENGTH, 'up');
}

/** What `ip` cannot set, before the inner end is up. Each is independent of the others. */
export function innerSettings({ namespacePath, innerName, checksumOffload }: DeviceOutput): readonly Command[] {
  return [
    // A router's advertisement must give it no address that no program allocated. Without IPv6 in the kernel there are no such keys.
    { command: inNamespace(namespacePath, 'sysctl', '-eqw', ...addressKeys(innerName)) },
    ...(checksumOffload ? [] : [{ command: inNamespace(namespacePath, 'ethtool', '-K', innerName, 'tx', 'off') }]),
  ];
}

/** Lines for the inner end itself. */
export function innerEndLines({ innerName, mac, mtu, connected }: DeviceOutput, observed: Present): readonly string[] {
  return [
    ...(observed.mac === mac ? [] : [`link set dev ${innerName} address ${mac}`]),
    ...(observed.mtu === mtu ? [] : [`link set dev ${innerName} mtu ${mtu}`]),
    ...(connected && !observed.up ? [`link set dev ${innerName} up`] : []),
  ];
}

/** Further addresses stay: a program in the pod may have set them (keepalived does). */
export function missingAddresses({ addresses }: DeviceOutput, observed: Present): readonly string[] {
  return addresses.filter((address) => !observed.addresses.includes(address));
}

export function surplusAddresses({ addresses, exclusive }: DeviceOutput, observed: Present): readonly string[] {
  return exclusive === true ? observed.addresses.filter((address) => !addresses.includes(address)) : [];
}

export function addressLines({ innerName, detectsDuplicates }: DeviceOutput, addresses: readonly string[]): readonly string[] {
  return addresses.map((address) => `address replace ${address} dev ${innerName}${isV6(address) && !detectsDuplicates ? ' nodad' : ''}`);
}

/** Says the addresses to the network, with arp_notify: a neighbour may know them with another MAC address. */
export function announcement({ innerName, mac }: DeviceOutput): string {
  return `link set dev ${innerName} address ${mac}`;
}

export function routeLines({ innerName }: DeviceOutput, routes: readonly DeviceRoute[]): readonly string[] {
  return routes.map((route) => `route replace ${routeText(route).replace(' ', ' via ')} dev ${innerName}`);
}

/** Lines that show the inner end, with the routes of all devices of its namespace. */
export function showLines({ innerName }: Pick<DeviceOutput, 'innerName'>): readonly string[] {
  return [`address show dev ${innerName}`, 'route show table all'];
}

/** Takes addresses away. */
export function withdrawalLines({ innerName }: DeviceOutput, addresses: readonly string[]): readonly string[] {
  return addresses.map((address) => `address delete ${address} dev ${innerName}`);
}

/**
 * IPv6 also where the runtime switched it off, without addresses from advertisements. The kernel itself says new addresses to the network, and
 * asks three times whether another host has them, without delay.
 */
function addressKeys(device: string): readonly string[] {
  const own = (key: string): string => `net.ipv6.conf.${sysctlName(device)}.${key}`;
  return [
    'net.ipv6.conf.all.disable_ipv6=0',
    'net.ipv6.conf.default.disable_ipv6=0',
    `${own('accept_ra')}=0`,
    `${own('autoconf')}=0`,
    `${own('router_solicitations')}=0`,
    `${own('router_solicitation_delay')}=0`,
    `${own('dad_transmits')}=3`,
    `${own('ndisc_notify')}=1`,
    `net.ipv4.conf.${sysctlName(device)}.arp_notify=1`,
  ];
}

export function hasRoutes(output: DeviceOutput, observed: Present): boolean {
  return ownRoutes(output, observed).every((route) => observed.routes.includes(routeText(route)));
}

/** Without those whose place a route of another device has: a program in the pod sends its packets elsewhere, as a VPN, or another interface is. */
export function ownRoutes<R extends Pick<DeviceRoute, 'destination'>>(
  { routes }: { readonly routes: readonly R[] },
  { elsewhere = [] }: Pick<Present, 'elsewhere'>,
): readonly R[] {
  return routes.filter(({ destination }) => !elsewhere.includes(destination));
}

/** Removes both ends. */
export function removalLine(name: string): string {
  return batchLine('link', 'delete', 'dev', name);
}

/** A route as text: `10.0.0.0/8 192.0.2.1`, `10.0.0.0/8 192.0.2.1 src 192.0.2.2`. */
export function routeText({ destination, gateway, source }: DeviceRoute): string {
  return `${destination} ${gateway}${source === undefined ? '' : ` src ${source}`}`;
}

/**
 * What lets the node forward packets of the families of its addresses. Without IPv6 in the join network the node stays as it is.
 */
export function forwardingKeys(addresses: readonly string[]): readonly string[] {
  return ['net.ipv4.ip_forward', ...(addresses.some(isV6) ? ['net.ipv6.conf.all.forwarding'] : [])];
}

/** 1: the advertisements of routers are accepted unless the node forwards IPv6; 2: always; 0: never. */
export function advertisementsKey(device: string): string {
  return `net.ipv6.conf.${sysctlName(device)}.accept_ra`;
}

/** What makes a device of the node, which exists, as it should be. One line, or one key, that fails keeps no other from its effect. */
export interface LinkChange {
  /** `KEY=VALUE` for `sysctl`. */
  readonly keys: readonly string[];
  /** For `ip -force -batch`. */
  readonly lines: readonly string[];
}

export function linkChange(output: LinkOutput, observed: Present): LinkChange {
  const routes = ownRoutes(output, observed);
  const wanted = routes.map(routeText);
  const surplus = observed.routes.filter((route) => !wanted.includes(route));
  const sameRoutes = surplus.length === 0 && wanted.length === observed.routes.length;
  const keys = forwardingKeys(output.addresses).map((key) => `${key}=1`);
  // A node that forwards IPv6 ignores advertisements unless it is told otherwise, and its default route would end with its lifetime.
  const advertised = output.addresses.some(isV6) ? (observed.advertised ?? []).map((device) => `${advertisementsKey(device)}=2`) : [];
  // Pods and nodes of the join network are no routers of the node.
  const deaf = observed.up || !output.addresses.some(isV6) ? [] : [`${advertisementsKey(output.name)}=0`];
  const forwarding = [...deaf, ...advertised, ...(observed.forwards === true ? [] : keys)];
  const { name, mac, mtu, addresses } = output;
  const unconnected = (observed.unconnected ?? []).filter((address) => addresses.includes(address));
  // Without it the kernel asks for no neighbour: packets with the node's own address, which is on another device, would be lost.
  const linkLocal = observed.withoutLinkLocal === true && addresses.some(isV6) ? linkLocalOf(mac ?? observed.mac) : undefined;
  const isSame =
    observed.up &&
    (mac === undefined || observed.mac === mac) &&
    (mtu === undefined || observed.mtu === mtu) &&
    observed.addresses.join() === addresses.join() &&
    unconnected.length === 0 &&
    linkLocal === undefined;
  if (sameRoutes && isSame) return { keys: forwarding, lines: [] };
  const lines = [
    ...(mac === undefined || observed.mac === mac ? [] : [`link set dev ${name} address ${mac}`]),
    ...(mtu === undefined || observed.mtu === mtu ? [] : [`link set dev ${name} mtu ${mtu}`]),
    ...(observed.up ? [] : [`link set dev ${name} up`]),
    // Before the addresses: with the network of its gateway the kernel takes a route away.
    ...surplus.map((route) => `route delete ${routeArguments(route, name)} proto ${PROTOCOL}`),
    // They get the mark.
    ...(observed.unmarked ?? []).map((route) => `route delete ${routeArguments(route, name)}`),
    ...observed.addresses.filter((address) => !addresses.includes(address)).map((address) => `address delete ${address} dev ${name}`),
    ...addresses.filter((address) => !observed.addresses.includes(address)).map((address) => `address add ${address} dev ${name}`),
    ...(linkLocal === undefined ? [] : [`address add ${linkLocal}/64 dev ${name} scope link`]),
    ...unconnected.map((address) => connectedRoute(address, name)),
    // Never `replace`: a route of another program that came meanwhile stays, and this line fails.
    ...wanted
      .filter((route) => !observed.routes.includes(route))
      .map((route) => `route add ${routeArguments(route, name)} proto ${PROTOCOL}`),
  ];
  return { keys: forwarding, lines };
}

/** @param route as text */
function routeArguments(route: string, device: string): string {
  return `${route.replace(' ', ' via ')} dev ${device}`;
}

/** RFC 4291, appendix A. Undefined for what is no MAC address. */
function linkLocalOf(mac: string): string | undefined {
  const bytes = mac.split(':').map((text) => Number.parseInt(text, 16));
  const [first = 0, second = 0, third = 0, ...rest] = bytes;
  if (bytes.length !== 6 || bytes.some(Number.isNaN)) return undefined;
  const hex = [first ^ 2, second, third, 0xff, 0xfe, ...rest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return canonicalAddress(`fe80::${hex.replaceAll(/(.{4})(?=.)/g, '$1:')}`);
}

/** The route to the network of an address, as the kernel makes it: behind those of other devices. */
function connectedRoute(address: string, device: string): string {
  const network = canonicalCidr(address) ?? address;
  const rest = isV6(address) ? 'metric 256' : `scope link src ${address.slice(0, address.indexOf('/'))}`;
  return `route append ${network} dev ${device} proto kernel ${rest}`;
}

/** A line for `ip -batch`, which splits at spaces, ends at `#` and knows quotes. @throws Error for a word that no line can have */
function batchLine(...words: readonly string[]): string {
  const [wrong] = words.filter((word) => /["'#\\\n]/.test(word) || word === '');
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} cannot be an argument of ip`);
  return words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ');
}

function isV6(address: string): boolean {
  return address.includes(':');
}
