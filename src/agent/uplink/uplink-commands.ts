/**
 * The lines for `ip -batch` that make the node's own interfaces as they should be. Addresses and routes that go from one device to another
 * are on both for a moment, or replaced, so that the node has each of them at every moment, wherever the agent dies. Pure.
 */
import type { HostLinkOutput, RenamedLinkOutput, VlanLinkOutput } from '../world/outputs.ts';
import { type DeviceNetwork, hasAll, type HostLink, NO_NETWORK } from '../world/device-network.ts';
import { addressLines, removalLines } from './address-commands.ts';
import { NO_HOLDERS, type RouteHolders, routeLine } from './route-lines.ts';

/** What routers announce by default. */
const ANNOUNCED_SECONDS = 1_800;

/**
 * @param links all devices of the node, by name
 * @param holders of all routes, whose others stay as they are
 * @param busy the lines before these failed, as an interface that is up could not be renamed
 * @returns nothing if all is as it should be, or if a device that is needed is not there yet
 */
export function hostLinkLines(
  output: HostLinkOutput,
  links: ReadonlyMap<string, HostLink>,
  busy: boolean,
  holders: RouteHolders = NO_HOLDERS,
): readonly string[] {
  switch (output.kind) {
    case 'move': {
      const target = links.get(output.to);
      // Open vSwitch has not made the bridge's device yet, or the interface is gone.
      return target === undefined
        ? []
        : moveLines(output.from, output.to, output.network, links.get(output.from) ?? NO_NETWORK, target, holders);
    }
    case 'renamed-link':
      return renameLines(output, links, busy, holders);
    case 'used-link':
      return links.get(output.name)?.up === false ? [`link set dev ${output.name} up`] : [];
    case 'vlan-link':
      return vlanLines(output, links, holders);
    case 'absent-link':
      return absentLines(output.name, links.get(output.name), links);
  }
}

/**
 * Since Linux 6.2 a device that is up can be renamed, and keeps all it has. Elsewhere the first attempt fails: then it is down for a moment, in
 * which it loses its routes and the addresses of IPv6.
 */
function renameLines(
  { from, to, network }: RenamedLinkOutput,
  links: ReadonlyMap<string, HostLink>,
  busy: boolean,
  holders: RouteHolders,
): readonly string[] {
  const [source, target] = [links.get(from), links.get(to)];
  if (target !== undefined) return [...(target.up ? [] : [`link set dev ${to} up`]), ...restoreLines(to, network, target, holders)];
  if (source === undefined) return [];
  const rename = `link set dev ${from} name ${to}`;
  if (!busy && source.up) return [rename];
  return [`link set dev ${from} down`, rename, `link set dev ${to} up`, ...restoreLines(to, network, NO_NETWORK, holders, [from])];
}

/** The kernel deletes no device of its own Open vSwitch, which does so itself when ovs-vswitchd is there again: until then it has another name. */
function absentLines(name: string, present: HostLink | undefined, links: ReadonlyMap<string, HostLink>): readonly string[] {
  if (present === undefined) return [];
  if (present.type !== 'openvswitch') return [`link delete dev ${name}`];
  const free = Array.from({ length: links.size + 1 }, (_, at) => `kiln-old${at}`).find((one) => !links.has(one));
  return [`link set dev ${name} down`, `link set dev ${name} name ${free}`];
}

/** The device that it is on cannot be changed: it is made again, with the name that programs of the node know it by. */
function vlanLines(
  { name, parent, tag, mac, mtu, alias, network }: VlanLinkOutput,
  links: ReadonlyMap<string, HostLink>,
  holders: RouteHolders,
): readonly string[] {
  const present = links.get(name);
  if (!links.has(parent)) return [];
  if (present !== undefined && present.vlan?.parent === parent && present.vlan.tag === tag)
    return [...(present.up ? [] : [`link set dev ${name} up`]), ...restoreLines(name, network, present, holders)];
  // One of another program keeps its name, and the line that would make ours says so.
  const isOwn = present?.vlan?.tag === tag || (alias !== undefined && present?.alias === alias);
  const options = [...(mac === undefined ? [] : ['address', mac]), ...(mtu === undefined ? [] : ['mtu', String(mtu)])];
  return [
    ...(isOwn ? [`link delete dev ${name}`] : []),
    ['link add link', parent, 'name', name, ...options, 'type vlan id', String(tag)].join(' '),
    ...(alias === undefined ? [] : [`link set dev ${name} alias ${alias}`]),
    `link set dev ${name} up`,
    ...restoreLines(name, network, NO_NETWORK, holders),
  ];
}

/** @param own devices beside it whose routes these are */
function restoreLines(
  device: string,
  network: DeviceNetwork,
  present: DeviceNetwork,
  holders: RouteHolders,
  own: readonly string[] = [],
): readonly string[] {
  if (hasAll(present, network)) return [];
  return networkLines(device, network, present, holders, own);
}

/** What is missing of a network on a device. */
function networkLines(
  device: string,
  network: DeviceNetwork,
  present: DeviceNetwork,
  holders: RouteHolders,
  own: readonly string[],
): readonly string[] {
  const { lines, takesRoutes } = addressLines(device, network.addresses, present.addresses);
  const routes = network.routes.filter((route) => takesRoutes || !present.routes.includes(route));
  return [...lines, ...routes.toSorted(directFirst).map((route) => routeLine(route, device, holders, [device, ...own]))];
}

/**
 * @param network all that `to` must have
 * @returns nothing if `to` has it, and `from` nothing
 */
export function moveLines(
  from: string,
  to: string,
  network: DeviceNetwork,
  source: DeviceNetwork & Pick<HostLink, 'announced'>,
  target: HostLink,
  holders: RouteHolders = NO_HOLDERS,
): readonly string[] {
  const { announced = [] } = source;
  const lines = [
    ...networkLines(to, network, target, holders, [from]),
    // The router says it again before long: until then the node would have no default route.
    ...announced
      .filter((route) => target.announced?.includes(route) !== true)
      .map((route) => `route append ${route} dev ${to} expires ${ANNOUNCED_SECONDS}`),
    ...announced.map((route) => `route delete ${route} dev ${from}`),
    ...removalLines(from, source.addresses),
    // What was not replaced, seen after the first lines: a route of IPv6, or one that another program added again.
    ...source.routes.filter((route) => target.routes.includes(route)).map((route) => `route delete ${route} dev ${from}`),
  ];
  return target.up || lines.length === 0 ? lines : [`link set dev ${to} up`, ...lines];
}

/** A next hop must be reachable before the route over it. */
function directFirst(a: string, b: string): number {
  return Number(a.includes(' via ')) - Number(b.includes(' via ')) || (a < b ? -1 : 1);
}
