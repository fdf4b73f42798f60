/** The commands that make a device as it should be. Pure. */
import type { DeviceOutput, DeviceRoute, LinkOutput } from '../world/outputs.ts';
import type { ObservedDevice } from '../world/node-world.ts';
import { PROBE_MS, requestInterval, sysctlName } from './neighbours.ts';
import { inNamespace } from './programs.ts';

export interface Command {
  readonly command: readonly [string, ...string[]];
  readonly input?: string;
}

type Present = ObservedDevice & { readonly kind: 'present' };

const QUEUE_LENGTH = '1000';

/**
 * The two ends of a device of a pod, without addresses and routes; empty if they are as they should be. The inner end is up once its port passes
 * packets: the kernel's search for duplicates would find none before, and Open vSwitch would learn to drop what it sends.
 */
export function pairCommands(output: DeviceOutput, observed: ObservedDevice): readonly Command[] {
  const { namespacePath, innerName, mac, mtu, checksumOffload, connected } = output;
  const isUp = observed.kind === 'present' && observed.up;
  if (observed.kind === 'present' && (isUp || !connected) && observed.mac === mac && observed.mtu === mtu) return [];
  const inside = (...command: readonly [string, ...string[]]): Command => ({ command: inNamespace(namespacePath, ...command) });
  const lines = [
    `link set dev ${innerName} address ${mac}`,
    `link set dev ${innerName} mtu ${mtu}`,
    ...(connected ? [`link set dev ${innerName} up`] : []),
  ];
  return [
    // A pair that is not up may be one whose maker was killed before its second command.
    ...(observed.kind !== 'present' ? newPairCommands(output) : isUp ? [] : [hostEndCommand(output)]),
    // Before it is up: a router's advertisement must give it no address that no program allocated. Without IPv6 in the kernel there are no such keys.
    inside('sysctl', '-eqw', ...addressKeys(innerName), ...requestInterval(innerName, PROBE_MS)),
    { command: inNamespace(namespacePath, 'ip', '-batch', '-'), input: text(lines) },
    ...(checksumOffload ? [] : [inside('ethtool', '-K', innerName, 'tx', 'off')]),
  ];
}

/** Addresses and routes of a device whose ends are as they should be. Both are empty if nothing has to be written. */
export interface AddressCommands {
  /** The kernel itself asks who has an IPv6 address, so these come first. */
  readonly first: readonly Command[];
  /** Once no other host has an address. */
  readonly second: readonly Command[];
}

export function addressCommands(output: DeviceOutput, observed: Present): AddressCommands {
  if (hasAddressesAndRoutes(output, observed)) return { first: [], second: [] };
  const { namespacePath, innerName, mac, addresses, routes, detectsDuplicates } = output;
  // Further addresses stay: a program in the pod may have set them (keepalived does).
  const missing = addresses.filter((address) => !observed.addresses.includes(address));
  const addition = (address: string): string =>
    `address replace ${address} dev ${innerName}${isV6(address) && !detectsDuplicates ? ' nodad' : ''}`;
  const batch = (lines: readonly string[]): readonly Command[] =>
    lines.length === 0 ? [] : [{ command: inNamespace(namespacePath, 'ip', '-batch', '-'), input: text(lines) }];
  return {
    first: batch(missing.filter(isV6).map(addition)),
    second: batch([
      ...missing.filter((address) => !isV6(address)).map(addition),
      // Says the addresses to the network, with arp_notify: a neighbour may know them with another MAC address.
      ...(missing.length > 0 ? [`link set dev ${innerName} address ${mac}`] : []),
      ...routes.map((route) => `route replace ${routeText(route).replace(' ', ' via ')} dev ${innerName}`),
    ]),
  };
}

/** Takes addresses away that another host has. */
export function withdrawalCommand({ namespacePath, innerName }: DeviceOutput, addresses: readonly string[]): Command {
  const lines = addresses.map((address) => `address delete ${address} dev ${innerName}`);
  return { command: inNamespace(namespacePath, 'ip', '-batch', '-'), input: text(lines) };
}

/**
 * IPv6 also where the runtime switched it off, without addresses from advertisements. The kernel itself says new addresses to the network, and
 * asks three times whether another host has them, at the interval of `neighbours.ts`, without delay.
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

function hasAddressesAndRoutes(output: DeviceOutput, { addresses, routes }: Present): boolean {
  return output.addresses.every((address) => addresses.includes(address)) && routeTexts(output).every((route) => routes.includes(route));
}

/** Removes both ends. */
export function removalCommand(name: string): Command {
  return { command: ['ip', 'link', 'delete', 'dev', name] };
}

function routeTexts({ routes }: DeviceOutput | LinkOutput): readonly string[] {
  return routes.map(routeText).toSorted();
}

/** A route as text: `10.0.0.0/8 192.0.2.1`, `10.0.0.0/8 192.0.2.1 src 192.0.2.2`. */
export function routeText({ destination, gateway, source }: DeviceRoute): string {
  return `${destination} ${gateway}${source === undefined ? '' : ` src ${source}`}`;
}

/**
 * What lets the node forward packets of the families of its addresses. Without IPv6 in the join network the node stays as it is: one that forwards
 * IPv6 ignores the advertisements of routers.
 */
export function forwardingKeys(addresses: readonly string[]): readonly string[] {
  return ['net.ipv4.ip_forward', ...(addresses.some(isV6) ? ['net.ipv6.conf.all.forwarding'] : [])];
}

/** The same for a device of the node, which exists. */
export function linkCommands(output: LinkOutput, observed: Present): readonly Command[] {
  const wanted = routeTexts(output);
  const surplus = observed.routes.filter((route) => !wanted.includes(route));
  const sameRoutes = surplus.length === 0 && wanted.length === observed.routes.length;
  const keys = forwardingKeys(output.addresses).map((key) => `${key}=1`);
  const forwarding = observed.forwards === true ? [] : [{ command: ['sysctl', '-qw', ...keys] } as const];
  const { name, mac, mtu, addresses, routes } = output;
  const isSame =
    observed.up &&
    (mac === undefined || observed.mac === mac) &&
    (mtu === undefined || observed.mtu === mtu) &&
    observed.addresses.join() === addresses.join();
  if (forwarding.length === 0 && sameRoutes && isSame) return [];
  const lines = [
    ...(mac === undefined || observed.mac === mac ? [] : [`link set dev ${name} address ${mac}`]),
    ...(mtu === undefined || observed.mtu === mtu ? [] : [`link set dev ${name} mtu ${mtu}`]),
    ...(observed.up ? [] : [`link set dev ${name} up`]),
    ...observed.addresses.filter((address) => !addresses.includes(address)).map((address) => `address delete ${address} dev ${name}`),
    ...addresses.filter((address) => !observed.addresses.includes(address)).map((address) => `address add ${address} dev ${name}`),
    ...surplus.map((route) => `route delete ${route.replace(' ', ' via ')} dev ${name}`),
    ...routes
      .filter((route) => !observed.routes.includes(routeText(route)))
      .map((route) => `route replace ${routeText(route).replace(' ', ' via ')} dev ${name}`),
  ];
  return [...forwarding, ...(lines.length === 0 ? [] : [{ command: ['ip', '-batch', '-'], input: `${lines.join('\n')}\n` } as const])];
}

function newPairCommands({ name, alias, mtu, mac, innerName, namespacePath }: DeviceOutput): readonly Command[] {
  const size = ['mtu', String(mtu)];
  return [
    {
      command: [
        'ip',
        'link',
        'add',
        'name',
        name,
        ...size,
        'type',
        'veth',
        'peer',
        'name',
        innerName,
        'address',
        mac,
        ...size,
        'netns',
        namespacePath,
      ],
    },
    hostEndCommand({ name, alias }),
  ];
}

/** The kernel takes no alias when it makes a link. */
function hostEndCommand({ name, alias }: Pick<DeviceOutput, 'name' | 'alias'>): Command {
  return { command: ['ip', 'link', 'set', 'dev', name, 'alias', alias, 'txqueuelen', QUEUE_LENGTH, 'up'] };
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function isV6(address: string): boolean {
  return address.includes(':');
}
