/** The devices of the node with their addresses and routes, of what `ip` shows. Pure. */
import { type AddressJson, addressText, anywhere, type HostState, listsOf, type RouteJson } from '../kernel/host-network.ts';
import type { HostLink } from '../world/device-network.ts';
import { type NeighbourJson, unmovable } from './unmovable.ts';

/** What kind of device each is, which `ip -batch` shows of all or of none; and neighbours. Links come last: `ip` keeps the family of what it showed. */
export const LINK_DETAILS = {
  command: ['ip', '-details', '-json', '-batch', '-'],
  input: 'neighbour show nud permanent\nlink show\n',
} as const;

type LinkDetails = Pick<HostLink, 'type' | 'vlan'>;

export interface HostDetails {
  /** By name. */
  readonly links: ReadonlyMap<string, LinkDetails>;
  readonly neighbours: readonly NeighbourJson[];
}

interface DetailsJson {
  readonly ifname?: string;
  /** The device below. */
  readonly link?: string;
  readonly linkinfo?: { readonly info_kind?: string; readonly info_data?: { readonly id?: number } };
}

/** @param output of `LINK_DETAILS` */
export function hostDetails(output: string): HostDetails {
  const lists = listsOf(output) as readonly (readonly object[])[];
  // Without neighbours some versions of `ip` print no list of them.
  const [neighbours, links] = lists.length < 2 ? [[], lists[0] ?? []] : lists;
  return { links: linkDetails(links ?? []), neighbours: neighbours ?? [] };
}

function linkDetails(links: readonly DetailsJson[]): ReadonlyMap<string, LinkDetails> {
  return new Map(
    links.map(({ ifname = '', link = '', linkinfo: { info_kind: type = '', info_data: data = {} } = {} }) => [
      ifname,
      { ...(type !== '' && { type }), ...(type === 'vlan' && { vlan: { parent: link, tag: data.id ?? 0 } }) },
    ]),
  );
}

export function hostLinks({ links, routes, otherRoutes }: HostState, details: HostDetails): ReadonlyMap<string, HostLink> {
  const all = [...routes, ...otherRoutes];
  const texts = Map.groupBy(
    routes.map((route) => ({ dev: route.dev, text: routeOf(route) })),
    ({ dev }) => dev,
  );
  return new Map(
    links.map((link) => {
      const { ifname = '', address = '', mtu = 0, flags = [], master = '', ifalias = '', addr_info: info = [] } = link;
      const stuck = unmovable(link, all, details.neighbours);
      // One with a peer would not be the same elsewhere: it stays.
      const own = info.filter(({ scope, temporary, address: peer }) => scope !== 'link' && temporary !== true && peer === undefined);
      const leased = own.filter(({ dynamic }) => dynamic === true).map(addressText);
      return [
        ifname,
        {
          mac: address,
          mtu,
          up: flags.includes('UP'),
          master,
          ...details.links.get(ifname),
          ...(ifalias !== '' && { alias: ifalias }),
          ...(stuck.length > 0 && { unmovable: stuck }),
          ...(leased.length > 0 && { leased: leased.toSorted() }),
          ...announcedOn(ifname, routes),
          addresses: inOrder(own).map((one) => addressOf(one, ifname)),
          routes: (texts.get(ifname) ?? []).flatMap(({ text }) => text ?? []).toSorted(),
        },
      ];
    }),
  );
}

/** Default routes that a router announced: `::/0 via fe80::1 metric 1024`. */
function announcedOn(device: string, routes: readonly RouteJson[]): Pick<HostLink, 'announced'> {
  const announced = routes.flatMap((route) => {
    const { dev, dst, gateway, metric, protocol } = route;
    if (dev !== device || dst !== 'default' || protocol !== 'ra' || gateway === undefined) return [];
    return [`${anywhere(route)} via ${gateway} proto ra${metric === undefined ? '' : ` metric ${metric}`}`];
  });
  return announced.length === 0 ? {} : { announced: announced.toSorted() };
}

/** The kernel shows addresses of IPv4 in the order in which they were added, and of IPv6 the newest first. */
function inOrder(addresses: readonly AddressJson[]): readonly AddressJson[] {
  const [four, six] = [false, true].map((isSix) => addresses.filter(({ local = '' }) => local.includes(':') === isSix));
  return [...(four ?? []), ...(six ?? []).toReversed()];
}

function addressOf(address: AddressJson, device: string): string {
  const { broadcast, metric, label = '' } = address;
  return [
    addressText(address),
    ...(broadcast === undefined ? [] : ['brd', broadcast]),
    ...(metric === undefined ? [] : ['metric', String(metric)]),
    // Another program's label, without the name, cannot be given to another device: see `unmovable`.
    ...(label.startsWith(`${device}:`) ? ['label', label.slice(device.length)] : []),
  ].join(' ');
}

/** Undefined for a route that the kernel makes of an address, or of what a router announces. */
function routeOf(route: RouteJson): string | undefined {
  const { dst = '', gateway, via, prefsrc, metric, protocol, scope, flags = [] } = route;
  if (protocol === 'kernel' || protocol === 'ra' || dst.startsWith('fe80:')) return undefined;
  const words = [
    dst === 'default' ? anywhere(route) : dst,
    ...(gateway === undefined ? [] : ['via', gateway]),
    ...(via === undefined ? [] : ['via', via.family ?? '', via.host ?? '']),
    ...(protocol === undefined || protocol === 'boot' ? [] : ['proto', protocol]),
    ...(scope === undefined || scope === 'global' || gateway !== undefined ? [] : ['scope', scope]),
    ...(prefsrc === undefined ? [] : ['src', prefsrc]),
    ...(metric === undefined ? [] : ['metric', String(metric)]),
    ...(flags.includes('onlink') ? ['onlink'] : []),
  ];
  return words.join(' ');
}
