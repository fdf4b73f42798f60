/**
 * What a device has that a move to a bridge would lose, or give back otherwise: `DeviceNetwork` has no words for it. Pure.
 */
import { canonicalCidr } from '../../net/cidr.ts';
import { type AddressJson, addressText, type LinkJson, type RouteJson } from '../kernel/host-network.ts';
import { PROTOCOL } from '../kernel/routing-commands.ts';

/** As `ip -json neighbour show nud permanent` prints it. */
export interface NeighbourJson {
  readonly dst?: string;
  readonly dev?: string;
  readonly state?: readonly string[];
}

/** Fields of a route that a move carries, or that say nothing of it. */
const CARRIED = new Set(['dst', 'gateway', 'dev', 'prefsrc', 'metric', 'protocol', 'scope', 'flags', 'table', 'pref']);
/** Of a router's announcement, of an address, and the agent's own, which is made again. */
const MADE_AGAIN = new Set(['kernel', 'ra', 'redirect', String(PROTOCOL)]);

/**
 * @param routes of every table
 * @returns sorted, each a noun with its value: `route 10.1.0.0/16 with several next hops`
 */
export function unmovable(
  { ifname = '', addr_info: addresses = [] }: LinkJson,
  routes: readonly RouteJson[],
  neighbours: readonly NeighbourJson[],
): readonly string[] {
  const own = routes.filter(({ dev, nexthops = [] }) => dev === ifname || nexthops.some((hop) => hop.dev === ifname));
  return [
    ...addresses.flatMap((address) => {
      const why = addressProblem(address, ifname, own);
      return why === undefined ? [] : [`address ${addressText(address)} ${why}`];
    }),
    ...own.flatMap((route) => {
      const why = routeProblem(route);
      return why === undefined ? [] : [`route ${route.dst ?? ''} ${why}`];
    }),
    ...neighbours.flatMap(({ dst = '', dev, state = [] }) =>
      dev === ifname && state.includes('PERMANENT') ? [`permanent neighbour ${dst}`] : [],
    ),
  ].toSorted();
}

function addressProblem(address: AddressJson, device: string, routes: readonly RouteJson[]): string | undefined {
  const { address: peer, local = '', prefixlen = 0, scope, label, noprefixroute, temporary } = address;
  if (scope === 'link' || temporary === true) return undefined;
  if (peer !== undefined) return `with peer ${peer}`;
  if (label !== undefined && label !== device && !label.startsWith(`${device}:`)) return `with label ${label}`;
  // NetworkManager makes the route itself, and the kernel's serves as well. Without one, the node would get a route that it has not.
  const network = canonicalCidr(`${local}/${prefixlen}`);
  const isHost = prefixlen === (local.includes(':') ? 128 : 32);
  if (noprefixroute === true && !isHost && routes.every(({ dst, table }) => dst !== network || table !== undefined))
    return 'with noprefixroute';
  return undefined;
}

function routeProblem(route: RouteJson): string | undefined {
  const { table, protocol = '', dst = '', nexthops, via, pref, type } = route;
  if (table === 'local' || MADE_AGAIN.has(protocol) || dst.startsWith('fe80:')) return undefined;
  if (table !== undefined) return `of table ${table}`;
  if (nexthops !== undefined) return 'with several next hops';
  if (via !== undefined) return `via ${via.family ?? ''} ${via.host ?? ''}`;
  if (type !== undefined && type !== 'unicast') return `of type ${type}`;
  if (pref !== undefined && pref !== 'medium') return `with pref ${pref}`;
  const more = Object.keys(route).filter((key) => !CARRIED.has(key) && key !== 'type' && key !== 'metrics');
  const metrics = (route.metrics ?? []).flatMap((one) => Object.keys(one));
  const words = [...more, ...metrics];
  return words.length === 0 ? undefined : `with ${words.join(', ')}`;
}
