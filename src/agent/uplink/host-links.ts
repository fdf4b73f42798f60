/** The devices of the node with their addresses and routes, of what `ip` shows. Pure. */
import { addressText, anywhere, type HostState, type RouteJson } from '../kernel/host-network.ts';
import type { HostLink } from '../world/device-network.ts';

/** What kind of device each is: `ip -batch` shows it of all or of none. */
export const LINK_DETAILS = ['ip', '-details', '-json', 'link', 'show'] as const;

type LinkDetails = Pick<HostLink, 'type' | 'vlan'>;

interface DetailsJson {
  readonly ifname?: string;
  /** The device below. */
  readonly link?: string;
  readonly linkinfo?: { readonly info_kind?: string; readonly info_data?: { readonly id?: number } };
}

/** By name. @param output of `LINK_DETAILS` */
export function linkDetails(output: string): ReadonlyMap<string, LinkDetails> {
  const links = output.trim() === '' ? [] : (JSON.parse(output) as readonly DetailsJson[]);
  return new Map(
    links.map(({ ifname = '', link = '', linkinfo: { info_kind: type = '', info_data: data = {} } = {} }) => [
      ifname,
      { ...(type !== '' && { type }), ...(type === 'vlan' && { vlan: { parent: link, tag: data.id ?? 0 } }) },
    ]),
  );
}

export function hostLinks({ links, routes }: HostState, details: ReadonlyMap<string, LinkDetails>): ReadonlyMap<string, HostLink> {
  const texts = Map.groupBy(
    routes.map((route) => ({ dev: route.dev, text: routeOf(route) })),
    ({ dev }) => dev,
  );
  return new Map(
    links.map(({ ifname = '', address = '', mtu = 0, flags = [], master = '', ifalias = '', addr_info: info = [] }) => [
      ifname,
      {
        mac: address,
        mtu,
        up: flags.includes('UP'),
        master,
        ...details.get(ifname),
        ...(ifalias !== '' && { alias: ifalias }),
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
