/** Routes of a pod's interface. Every value was parsed and is printed anew: none is a user's text. */
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import type { AddressReply, RouteRequest } from '../../../cni/agent-protocol.ts';
import { routeOf } from '../../../agent/rules/device-route.ts';
import { routesOfText } from '../../../agent/world/attachment-routes.ts';
import type { DeviceRoute } from '../../../agent/world/outputs.ts';

/**
 * The default routes, then those to the cluster, those of the network configuration and those of the pod's annotation. Of two with the same destination the later
 * one is in effect.
 */
export function podRoutes(
  addresses: readonly AddressReply[],
  ofCluster: readonly DeviceRoute[],
  configured: readonly RouteRequest[],
  annotated: readonly DeviceRoute[],
): readonly DeviceRoute[] {
  const defaults = addresses.flatMap(({ gateway }) => (gateway === undefined ? [] : (routeOf('', gateway) ?? [])));
  const requested = configured.flatMap(({ dst, gw }) => routeOf(dst, gw) ?? []);
  return [...new Map([...defaults, ...ofCluster, ...requested, ...annotated].map((route) => [route.destination, route])).values()];
}

/** Where routes of a pod come from, besides its default routes: for messages. */
interface RouteSources {
  readonly configured: readonly RouteRequest[];
  readonly annotated: readonly DeviceRoute[];
  /** The key of the annotation. */
  readonly annotation: string;
}

/** With where each comes from, in the order of `podRoutes`. */
function named({ configured, annotated, annotation }: RouteSources): readonly (DeviceRoute & { readonly from: string })[] {
  return [
    ...configured.flatMap(({ dst, gw }) => routeOf(dst, gw) ?? []).map((route) => ({ ...route, from: 'the network configuration' })),
    ...annotated.map((route) => ({ ...route, from: `annotation ${annotation}` })),
  ];
}

/** Routes that have no effect, since a later one has their destination, in words. One in place of a default route is what it is for. */
export function hiddenRoutes(sources: RouteSources): readonly string[] {
  const all = named(sources);
  return all.flatMap(({ destination, gateway, from }, at) => {
    const later = all.slice(at + 1).findLast((other) => other.destination === destination);
    return later === undefined || later.gateway === gateway
      ? []
      : [
          `route ${destination} by gateway ${gateway} of ${from} has no effect: that by ${later.gateway} of ${later.from} has the same destination; take one of them away`,
        ];
  });
}

/** Which routes no kernel takes, in words; undefined for none. @param networks of the interface */
export function unreachedGateways(sources: RouteSources, networks: readonly string[]): string | undefined {
  const stray = named(sources).filter(({ gateway }) => {
    const address = parseAddress(gateway);
    return !networks.some((network) => {
      const cidr = parseCidr(network);
      return address !== undefined && cidr !== undefined && cidr.family === address.family && cidrContains(cidr, address);
    });
  });
  if (stray.length === 0) return undefined;
  const texts = stray.map(({ destination, gateway, from }) => `route ${destination} by gateway ${gateway} of ${from}`);
  return `${texts.join(', ')}: the gateway is in no network of the interface (${networks.join(', ')})`;
}

/** The routes of an annotation; undefined if an item is no route, or the text no list. */
export function routesIn(text: string): readonly DeviceRoute[] | undefined {
  const routes = routesOfText(text)?.map((route) => (route === undefined ? undefined : routeOf(route.dst, route.gw)));
  return routes?.every((route) => route !== undefined) === true ? routes : undefined;
}
