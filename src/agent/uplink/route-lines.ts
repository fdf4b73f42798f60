/**
 * Lines for `ip -batch` that give a device a route which another one had, and take none of another program. `replace` takes whatever has the
 * destination and the metric, also by a third device: it is for routes that only the two devices have. Pure.
 */
import { anywhere, type HostState, type RouteJson } from '../kernel/host-network.ts';
import { canonicalCidr } from '../../net/cidr.ts';

/** Devices of the routes of the main table, by destination and metric; empty for one without a device of its own. */
export type RouteHolders = ReadonlyMap<string, readonly string[]>;

export const NO_HOLDERS: RouteHolders = new Map();
const DEFAULT_METRIC_V6 = 1_024;

export function routeHolders({ routes }: Pick<HostState, 'routes'>): RouteHolders {
  const holders = new Map<string, string[]>();
  for (const route of routes) {
    const key = keyOf(destinationOf(route), route.metric);
    holders.set(key, [...(holders.get(key) ?? []), route.dev ?? '']);
  }
  return holders;
}

/** @param route as in a `DeviceNetwork` @param own devices whose route it is */
export function routeLine(route: string, device: string, holders: RouteHolders, own: readonly string[]): string {
  const [destination = ''] = route.split(' ', 1);
  const metric = / metric (\d+)/.exec(route)?.[1];
  const present = holders.get(keyOf(withLength(destination), metric === undefined ? undefined : Number(metric))) ?? [];
  // Behind those of others, as it was before.
  const verb = present.every((one) => own.includes(one)) ? 'replace' : 'append';
  return `route ${verb} ${route} dev ${device}`;
}

function keyOf(destination: string, metric: number | undefined): string {
  return `${destination} ${metric ?? (destination.includes(':') ? DEFAULT_METRIC_V6 : 0)}`;
}

function destinationOf(route: RouteJson): string {
  const { dst = '' } = route;
  return dst === 'default' ? anywhere(route) : withLength(dst);
}

function withLength(destination: string): string {
  const text = destination.includes('/') ? destination : `${destination}/${destination.includes(':') ? 128 : 32}`;
  return canonicalCidr(text) ?? text;
}
