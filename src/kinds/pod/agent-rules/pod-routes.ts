/** Routes of a pod's interface. Every value was parsed and is printed anew: none is a user's text. */
import type { AddressReply, RouteRequest } from '../../../cni/agent-protocol.ts';
import { routeOf } from '../../../agent/rules/device-route.ts';
import { routesOfText } from '../../../agent/world/attachment-routes.ts';
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

/** The routes of an annotation; undefined if an item is no route, or the text no list. */
export function routesIn(text: string): readonly DeviceRoute[] | undefined {
  const routes = routesOfText(text)?.map((route) => (route === undefined ? undefined : routeOf(route.dst, route.gw)));
  return routes?.every((route) => route !== undefined) === true ? routes : undefined;
}
