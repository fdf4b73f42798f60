/** Routes of a pod's interface. Every value was parsed and is printed anew: none is a user's text. */
import type { AddressReply, RouteRequest } from '../../cni/agent-protocol.ts';
import { canonicalAddress, parseAddress } from '../../net/address.ts';
import { canonicalCidr, parseCidr } from '../../net/cidr.ts';
import type { DeviceRoute } from '../world/outputs.ts';

const ANYWHERE = { 4: '0.0.0.0/0', 6: '::/0' } as const;
const HOST = { 4: 32, 6: 128 } as const;

/**
 * The default routes, then those of the network configuration, then those of the pod's annotation. Of two with the same destination the later
 * one is in effect.
 */
export function podRoutes(
  addresses: readonly AddressReply[],
  configured: readonly RouteRequest[],
  annotated: readonly DeviceRoute[],
): readonly DeviceRoute[] {
  const defaults = addresses.flatMap(({ gateway }) => (gateway === undefined ? [] : (routeOf('', gateway) ?? [])));
  const requested = configured.flatMap(({ dst, gw }) => routeOf(dst, gw) ?? []);
  return [...new Map([...defaults, ...requested, ...annotated].map((route) => [route.destination, route])).values()];
}

/** `[{"dst":"10.0.0.0/8","gw":"10.16.0.254"}]`; undefined if it is no such list. */
export function routesIn(text: string): readonly DeviceRoute[] | undefined {
  if (text.trim() === '') return [];
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  const routes = (list as readonly unknown[]).map((one) => {
    const { dst = '', gw } = (one ?? {}) as { readonly dst?: unknown; readonly gw?: unknown };
    return typeof dst === 'string' && typeof gw === 'string' ? routeOf(dst, gw) : undefined;
  });
  return routes.every((route) => route !== undefined) ? routes : undefined;
}

/** Without a destination it is the default route. Undefined: one of the two cannot be parsed, or they are of two families. */
export function routeOf(destination: string, via: string): DeviceRoute | undefined {
  const gateway = canonicalAddress(via);
  const family = parseAddress(via)?.family;
  if (gateway === undefined || family === undefined) return undefined;
  const length = destination.includes('/') || destination === '' ? '' : `/${HOST[family]}`;
  const network = destination === '' ? ANYWHERE[family] : canonicalCidr(`${destination}${length}`);
  return network === undefined || parseCidr(network)?.family !== family ? undefined : { destination: network, gateway };
}
