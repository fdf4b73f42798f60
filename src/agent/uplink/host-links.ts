/** The devices of the node with their addresses and routes, of what `ip` shows. Pure. */
import { addressText, anywhere, type HostState, type RouteJson } from '../kernel/host-network.ts';
import type { HostLink } from '../world/device-network.ts';

export function hostLinks({ links, routes }: HostState): ReadonlyMap<string, HostLink> {
  const texts = Map.groupBy(
    routes.map((route) => ({ dev: route.dev, text: routeOf(route) })),
    ({ dev }) => dev,
  );
  return new Map(
    links.map(({ ifname = '', address = '', mtu = 0, flags = [], master = '', addr_info: info = [] }) => [
      ifname,
      {
        mac: address,
        mtu,
        up: flags.includes('UP'),
        master,
        addresses: info
          .filter(({ scope, temporary }) => scope !== 'link' && temporary !== true)
          .map((one) => (one.broadcast === undefined ? addressText(one) : `${addressText(one)} brd ${one.broadcast}`))
          .toSorted(),
        routes: (texts.get(ifname) ?? []).flatMap(({ text }) => text ?? []).toSorted(),
      },
    ]),
  );
}

/** Undefined for a route that the kernel makes of an address, or of what a router announces. */
function routeOf(route: RouteJson): string | undefined {
  const { dst = '', gateway, prefsrc, metric, protocol, scope, flags = [] } = route;
  if (protocol === 'kernel' || protocol === 'ra' || dst.startsWith('fe80:')) return undefined;
  const words = [
    dst === 'default' ? anywhere(route) : dst,
    ...(gateway === undefined ? [] : ['via', gateway]),
    ...(protocol === undefined || protocol === 'boot' ? [] : ['proto', protocol]),
    ...(scope === undefined || scope === 'global' || gateway !== undefined ? [] : ['scope', scope]),
    ...(prefsrc === undefined ? [] : ['src', prefsrc]),
    ...(metric === undefined ? [] : ['metric', String(metric)]),
    ...(flags.includes('onlink') ? ['onlink'] : []),
  ];
  return words.join(' ');
}
