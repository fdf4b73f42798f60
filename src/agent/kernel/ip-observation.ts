/** Devices as the kernel shows them, by `ip -json`. */
import { canonicalCidr } from '../../net/cidr.ts';
import type { ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput, DeviceRoute, RetainedDeviceOutput } from '../world/outputs.ts';
import {
  type AddressJson,
  addressText,
  anywhere,
  type HostState,
  type LinkJson,
  listsOf,
  mainRoutes,
  type RouteJson,
} from './host-network.ts';
import { advertisementsKey, forwardingKeys, routeText, showLines } from './ip-commands.ts';
import { isOurAlias } from './link-alias.ts';
import { inNamespace, type Programs } from './programs.ts';
import { PROTOCOL } from './routing-commands.ts';

/** Of our routes. */
const MARK = String(PROTOCOL);
const DEFAULT_METRIC_V6 = 1_024;

/** The end of a device of a pod that is in the pod's namespace. */
export type InnerEnd =
  | { readonly kind: 'absent' }
  | { readonly kind: 'no-namespace' }
  | { readonly kind: 'present'; readonly link: LinkJson; /** Of all devices. */ readonly routes: readonly RouteJson[] };

/** @throws Error with the reason if the kernel cannot be asked */
export async function observeInnerEnd(programs: Programs, namespacePath: string, innerName: string): Promise<InnerEnd> {
  const ran = await programs.run(inNamespace(namespacePath, 'ip', '-json', '-batch', '-'), `${showLines({ innerName }).join('\n')}\n`);
  if (!ran.ok) {
    if (isNoNamespace(ran.message)) return { kind: 'no-namespace' };
    if (/does not exist/.test(ran.message)) return { kind: 'absent' };
    throw new Error(ran.message);
  }
  return innerEndOf(ran.output);
}

/** @param output of `showLines` */
export function innerEndOf(output: string): InnerEnd {
  const [[link] = [], routes = []] = listsOf(output) as [LinkJson[]?, RouteJson[]?];
  return link === undefined ? { kind: 'absent' } : { kind: 'present', link, routes: mainRoutes(routes) };
}

export function isNoNamespace(message: string): boolean {
  return /^nsenter: .*No such file|^nsenter: reassociate/m.test(message);
}

/** A device of a pod, of what both of its ends show. */
export function podDevice(inner: InnerEnd, { links }: HostState, name: string): ObservedDevice {
  const host = links.find(({ ifname }) => ifname === name);
  if (inner.kind === 'no-namespace') return host === undefined ? { kind: 'no-namespace' } : { kind: 'no-namespace', linked: true };
  if (inner.kind === 'absent')
    return { kind: 'absent', ...(host !== undefined && !isOurAlias(host.ifalias ?? '') && { taken: 'on-node' }) };
  // Both ends of a pair of ours come and go together.
  if (host === undefined) return { kind: 'absent', taken: 'in-pod' };
  const { link, routes } = inner;
  return {
    kind: 'present',
    mac: link.address ?? '',
    // Of both ends: the smaller one decides what passes.
    mtu: Math.min(link.mtu ?? 0, host.mtu ?? link.mtu ?? 0),
    up: isUp(link) && isUp(host),
    addresses: addressesOf(link),
    tentative: addressesOf(link, ({ tentative }) => tentative === true),
    routes: routesOf(routes.filter(({ dev }) => dev === link.ifname)),
    ...elsewhere(routes.filter(({ dev }) => dev !== link.ifname)),
  };
}

/** What `ip route replace` without a metric takes for the same route. */
function elsewhere(routes: readonly RouteJson[]): { readonly elsewhere?: readonly string[] } {
  const same = routes.filter(({ metric, pref }) => metric === undefined || (pref !== undefined && metric === DEFAULT_METRIC_V6));
  const destinations = new Set(same.map(destinationOf));
  return destinations.size === 0 ? {} : { elsewhere: [...destinations].toSorted() };
}

/**
 * A device that is not written again, by its end on the node: the launcher of a virtual machine gives the other end another name and takes its
 * addresses, and so do runtimes of sandboxes. Of a pod with such a device alone (`device`) the rest is as it was made.
 *
 * @returns undefined if it is not there as ours
 */
export function givenDevice(
  inner: InnerEnd,
  { links }: HostState,
  output: DeviceOutput | RetainedDeviceOutput,
): (ObservedDevice & { readonly kind: 'present' }) | undefined {
  const host = links.find(({ ifname }) => ifname === output.name);
  if (inner.kind === 'no-namespace' || host === undefined || !isOurAlias(host.ifalias ?? '')) return undefined;
  // An end of a pair that has the name and is down was never complete.
  const isOpen = inner.kind === 'absent' || inner.link.link_netnsid === undefined || isUp(inner.link);
  const of = { kind: 'present', mtu: host.mtu ?? 0, up: isUp(host) && isOpen } as const;
  if (output.kind === 'device') return { ...of, mac: output.mac, addresses: output.addresses, routes: output.routes.map(routeText) };
  return inner.kind === 'absent' ? { ...of, mac: '', addresses: [], routes: [] } : undefined;
}

/**
 * A device of the node itself, without whether the node forwards packets.
 * @param wanted routes that it is to have: where another program has a route to such a destination, ours waits
 */
export function nodeDevice(
  { links, routes }: HostState,
  name: string,
  wanted: readonly DeviceRoute[] = [],
): Exclude<ObservedDevice, { readonly kind: 'no-namespace' }> {
  const link = links.find(({ ifname }) => ifname === name);
  if (link === undefined) return { kind: 'absent' };
  const { ours, unmarked, elsewhere } = routesByOwner(routes, name, wanted);
  return {
    kind: 'present',
    mac: link.address ?? '',
    mtu: link.mtu ?? 0,
    up: isUp(link),
    addresses: addressesOf(link),
    routes: routesOf(ours),
    ...(unmarked.length > 0 && { unmarked: routesOf(unmarked) }),
    ...(elsewhere.length > 0 && { elsewhere: [...new Set(elsewhere.map(destinationOf))].toSorted() }),
    unconnected: addressesOf(link).filter((address) => !isConnected(address, name, routes)),
    // The kernel gives one once the link has a carrier.
    ...(link.flags?.includes('LOWER_UP') === true && !hasLinkLocal(link) && { withoutLinkLocal: true }),
  };
}

/** Ours have the mark. One without it that is what we want was made by an older agent, or by Kube-OVN. Every other one is another program's. */
function routesByOwner(
  routes: readonly RouteJson[],
  device: string,
  wanted: readonly DeviceRoute[],
): Record<'ours' | 'unmarked' | 'elsewhere', RouteJson[]> {
  const found: Record<'ours' | 'unmarked' | 'elsewhere', RouteJson[]> = { ours: [], unmarked: [], elsewhere: [] };
  for (const route of routes) {
    const { dev, protocol = 'boot', gateway, metric } = route;
    const destination = destinationOf(route);
    if (dev === device && protocol === MARK) found.ours.push(route);
    else if (dev === device && protocol === 'kernel') continue;
    else if (wanted.some((one) => one.destination === destination)) {
      const isMeant = wanted.some((one) => one.destination === destination && one.gateway === gateway);
      const isPlain = metric === undefined || (destination.includes(':') && metric === DEFAULT_METRIC_V6);
      found[dev === device && protocol === 'boot' && isMeant && isPlain ? 'unmarked' : 'elsewhere'].push(route);
    }
  }
  return found;
}

function hasLinkLocal({ addr_info: info = [] }: LinkJson): boolean {
  return info.some(({ scope, local = '' }) => scope === 'link' && local.includes(':'));
}

/** Whether there is the route that the kernel makes of an address: another program may have flushed it, and then no gateway can be set. */
function isConnected(address: string, device: string, routes: readonly RouteJson[]): boolean {
  const network = canonicalCidr(address);
  const isHost = network?.endsWith(network.includes(':') ? '/128' : '/32') === true;
  return isHost || routes.some(({ dev, dst = '', protocol }) => dev === device && protocol === 'kernel' && canonicalCidr(dst) === network);
}

/** Whether the node forwards packets of the families of these addresses. */
export async function forwards(programs: Programs, addresses: readonly string[]): Promise<boolean> {
  const ran = await programs.run(['sysctl', '-n', ...forwardingKeys(addresses)]);
  return (
    ran.ok &&
    ran.output
      .trim()
      .split('\n')
      .every((value) => value === '1')
  );
}

/** Devices with a default route that a router announced, and that would hear no other announcement once the node forwards IPv6. */
export async function advertisedDevices(programs: Programs, { routes }: HostState): Promise<readonly string[]> {
  const announced = routes.filter(({ dst, protocol }) => dst === 'default' && protocol === 'ra').map(({ dev = '' }) => dev);
  const devices = [...new Set(announced)].toSorted();
  const read = devices.map(async (device) => {
    const ran = await programs.run(['sysctl', '-n', advertisementsKey(device)]);
    return ran.ok && ran.output.trim() === '1' ? [device] : [];
  });
  return (await Promise.all(read)).flat();
}

/** The links that the agent made: by name, their aliases. */
export function ourLinks({ links }: HostState): ReadonlyMap<string, string> {
  return new Map(links.map(({ ifname = '', ifalias = '' }) => [ifname, ifalias] as const).filter(([, alias]) => isOurAlias(alias)));
}

/** Those that the kernel does not make by itself, of addresses or of what a router announces. */
function routesOf(routes: readonly RouteJson[]): readonly string[] {
  return routes
    .flatMap((route) => {
      const { gateway, protocol, prefsrc } = route;
      if (protocol === 'kernel' || protocol === 'ra' || gateway === undefined) return [];
      return [routeText({ destination: destinationOf(route), gateway, ...(prefsrc === undefined ? {} : { source: prefsrc }) })];
    })
    .toSorted();
}

/** `ip` shows a host without the length of its prefix. */
function destinationOf(route: RouteJson): string {
  const { dst = '' } = route;
  if (dst === 'default') return anywhere(route);
  const host = dst.includes('/') ? '' : dst.includes(':') ? '/128' : '/32';
  return canonicalCidr(`${dst}${host}`) ?? dst;
}

function addressesOf({ addr_info: info = [] }: LinkJson, of: (address: AddressJson) => boolean = () => true): readonly string[] {
  return info
    .filter((address) => address.scope !== 'link' && address.dadfailed !== true && of(address))
    .map(addressText)
    .toSorted();
}

function isUp({ flags = [] }: LinkJson): boolean {
  return flags.includes('UP');
}
