/** Routes of a pod's interface. Every value was parsed and is printed anew: none is a user's text. */
import type { AddressReply, RouteRequest } from '../../../cni/agent-protocol.ts';
import { routeOf } from '../../../agent/rules/device-route.ts';
import type { DeviceRoute } from '../../../agent/world/outputs.ts';

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
