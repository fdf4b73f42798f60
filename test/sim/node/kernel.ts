/** The kernel of a simulated node: network namespaces with links, addresses and routes, and tables of nftables. */

import { parseAddress } from '../../../src/net/address.ts';
import { canonicalCidr, cidrContains, parseCidr } from '../../../src/net/cidr.ts';
import { ADDRESSES, ROUTE, UPLINK } from './uplink.ts';

/** Made a thing: the agent under test, the programs that belong to the node (Open vSwitch, kubelet), or another program. */
export type Hand = 'agent' | 'node' | 'other';

export interface Address {
  /** `10.16.0.5/16` */
  readonly text: string;
  /** The kernel made it by itself. */
  readonly scope: 'global' | 'link';
}

export interface Link {
  name: string;
  readonly by: Hand;
  readonly kind: 'veth' | 'internal' | 'dummy';
  readonly inside: Namespace;
  mac: string;
  mtu: number;
  up: boolean;
  alias: string;
  addresses: readonly Address[];
  /** ARP is off. */
  isDeaf?: true;
  /** Likewise IPv6. */
  withoutV6?: true;
  /** Of its root. */
  queue: 'noqueue' | 'htb' | 'netem';
  /** The other end of a pair. */
  peer?: Link;
}

export interface Route {
  readonly family: 4 | 6;
  readonly by: Hand;
  readonly dst: string;
  readonly via?: string;
  readonly dev?: string;
  readonly src?: string;
  readonly table: string;
  readonly proto: string;
  readonly type?: string;
}

export interface RoutingRule {
  readonly family: 4 | 6;
  readonly by: Hand;
  readonly from: string;
  readonly table: string;
  readonly priority: number;
  readonly proto: string;
}

export interface FilterTable {
  readonly by: Hand;
  readonly text: string;
}

export interface Namespace {
  /** Empty for the node's own. */
  readonly path: string;
  readonly links: Map<string, Link>;
  routes: readonly Route[];
  rules: readonly RoutingRule[];
  readonly sysctls: Map<string, string>;
  /** Asked for: by device and address. */
  readonly neighbours: Set<string>;
}

/** Number of the table that a lookup without rules of its own uses. */
export const MAIN = '254';

export class KernelError extends Error {
  /** What the program printed before. */
  readonly output: string;

  constructor(message: string, output = '') {
    super(message);
    this.output = output;
  }
}

export const FILE_EXISTS = 'RTNETLINK answers: File exists';

export class SimulatedKernel {
  host = emptyNamespace('');
  readonly namespaces = new Map<string, Namespace>();
  /** By `<family> <name>`. */
  readonly tables = new Map<string, FilterTable>();
  readonly #numbers = new Map<string, number>();
  readonly #changed: () => void;

  /** @param changed called after each change of a link of the node itself */
  constructor(changed: () => void) {
    this.#changed = changed;
    this.#boot();
  }

  /** Everything in memory is gone. */
  reboot(): void {
    this.host = emptyNamespace('');
    this.namespaces.clear();
    this.tables.clear();
    this.#boot();
  }

  /** Neither the agent's nor another program's: the agent may move what is on it. */
  #bootUplink(): void {
    const link = this.addLink(this.host, { name: UPLINK, by: 'node', kind: 'dummy', mac: '02:00:00:00:00:05', mtu: 1500 });
    this.setUp(link, true);
    for (const address of ADDRESSES) this.addAddress(link, address, true);
    this.addRoute(this.host, { ...ROUTE, by: 'node', dev: UPLINK }, true);
  }

  /** The node's own device, as the programs of the host set it up. */
  #boot(): void {
    const link = this.addLink(this.host, { name: 'eth0', by: 'other', kind: 'dummy', mac: '02:00:00:00:00:04', mtu: 1500 });
    this.#bootUplink();
    this.setUp(link, true);
    this.addAddress(link, '192.0.2.11/24', false);
    this.addRoute(
      this.host,
      { family: 4, by: 'other', dst: '0.0.0.0/0', via: '192.0.2.1', dev: 'eth0', table: MAIN, proto: 'static' },
      false,
    );
  }

  addNamespace(path: string): void {
    this.namespaces.set(path, emptyNamespace(path));
  }

  /** Its links go with it, and so the other ends. */
  removeNamespace(path: string): void {
    for (const link of this.namespaces.get(path)?.links.values() ?? []) this.removeLink(link);
    this.namespaces.delete(path);
  }

  /** By which the node knows a namespace that it has links to, as `ip` shows it. */
  numberOf({ path }: Namespace): number {
    const number = this.#numbers.get(path) ?? this.#numbers.size;
    this.#numbers.set(path, number);
    return number;
  }

  addLink(inside: Namespace, fields: Pick<Link, 'name' | 'by' | 'kind' | 'mac' | 'mtu'>): Link {
    if (inside.links.has(fields.name)) throw new KernelError(FILE_EXISTS);
    const link: Link = { ...fields, inside, up: false, alias: '', addresses: [], queue: 'noqueue' };
    inside.links.set(link.name, link);
    if (inside === this.host) this.#changed();
    return link;
  }

  /** Since Linux 6.2 also one that is up. */
  rename(link: Link, name: string): void {
    const { inside } = link;
    if (inside.links.has(name)) throw new KernelError(FILE_EXISTS);
    inside.links.delete(link.name);
    inside.routes = inside.routes.map((route) => (route.dev === link.name ? { ...route, dev: name } : route));
    link.name = name;
    inside.links.set(name, link);
    if (inside === this.host) this.#changed();
  }

  removeLink(link: Link): void {
    this.setUp(link, false);
    for (const one of [link, link.peer]) one?.inside.links.delete(one.name);
    if (link.peer !== undefined) this.setUp(link.peer, false);
    if (link.inside === this.host || link.peer?.inside === this.host) this.#changed();
  }

  /** Routes over a link that goes down are lost, and with it its IPv6 addresses. */
  setUp(link: Link, up: boolean): void {
    if (link.up === up) return;
    link.up = up;
    if (!up) {
      link.inside.routes = link.inside.routes.filter(({ dev }) => dev !== link.name);
      link.addresses = link.addresses.filter(({ text }) => familyOf(text) === 4);
      return;
    }
    for (const { text } of link.addresses) this.#connect(link, text);
    if (link.withoutV6 !== true) link.addresses = [...link.addresses, { text: 'fe80::1/64', scope: 'link' }];
  }

  addAddress(link: Link, text: string, replace: boolean): void {
    if (link.addresses.some((one) => one.text === text)) {
      if (!replace) throw new KernelError(FILE_EXISTS);
      return;
    }
    link.addresses = [...link.addresses, { text, scope: 'global' }];
    if (link.up) this.#connect(link, text);
  }

  removeAddress(link: Link, text: string): void {
    if (!link.addresses.some((one) => one.text === text)) throw new KernelError('RTNETLINK answers: Cannot assign requested address');
    // The kernel promotes no secondary address, unless it is told to: they go with the primary one.
    const isPrimary = familyOf(text) === 4 && link.addresses.find((one) => networkOf(one.text) === networkOf(text))?.text === text;
    link.addresses = link.addresses.filter((one) => one.text !== text && !(isPrimary && networkOf(one.text) === networkOf(text)));
    const [address = ''] = text.split('/');
    const { inside } = link;
    inside.routes = inside.routes.filter(
      ({ dev, src, dst, proto }) =>
        dev !== link.name ||
        (src !== address && !(proto === 'kernel' && dst === networkOf(text) && !link.addresses.some((one) => networkOf(one.text) === dst))),
    );
    // Without an address of IPv4 a link has no routes of IPv4.
    if (familyOf(text) === 4 && !link.addresses.some((one) => familyOf(one.text) === 4))
      inside.routes = inside.routes.filter(({ dev, family }) => dev !== link.name || family !== 4);
  }

  addRoute(inside: Namespace, route: Route, replace: boolean): void {
    const dev = route.dev ?? this.#deviceTo(inside, route);
    if (route.type !== 'throw') {
      const link = inside.links.get(dev ?? '');
      if (link === undefined)
        throw new KernelError(route.dev === undefined ? 'RTNETLINK answers: Network is unreachable' : cannotFind(dev ?? ''));
      if (!link.up) throw new KernelError('RTNETLINK answers: Network is down');
      const connected = link.addresses.some(({ text }) => route.via === undefined || isWithin(route.via, text));
      if (!connected) throw new KernelError('Error: Nexthop has invalid gateway.');
      const isOwn = ({ addresses }: Link): boolean => addresses.some(({ text }) => text.startsWith(`${route.src}/`));
      if (route.src !== undefined && !Array.from(inside.links.values()).some(isOwn))
        throw new KernelError('Error: Invalid prefsrc address.');
    }
    const isSame = (one: Route): boolean => one.family === route.family && one.dst === route.dst && one.table === route.table;
    if (!replace && inside.routes.some(isSame)) throw new KernelError(FILE_EXISTS);
    inside.routes = [...inside.routes.filter((one) => !isSame(one)), { ...route, ...(dev === undefined ? {} : { dev }) }];
  }

  removeRoute(inside: Namespace, route: Route): void {
    const found = inside.routes.find(
      (one) =>
        (['family', 'dst', 'table'] as const).every((key) => one[key] === route[key]) &&
        (['via', 'dev', 'src'] as const).every((key) => route[key] === undefined || one[key] === route[key]),
    );
    if (found === undefined) throw new KernelError('RTNETLINK answers: No such process');
    inside.routes = inside.routes.filter((one) => one !== found);
  }

  #deviceTo(inside: Namespace, { via = '' }: Route): string | undefined {
    return Array.from(inside.links.values()).find(({ up, addresses }) => up && addresses.some(({ text }) => isWithin(via, text)))?.name;
  }

  #connect(link: Link, text: string): void {
    const family = familyOf(text);
    const route: Route = { family, by: link.by, dst: networkOf(text), dev: link.name, table: MAIN, proto: 'kernel' };
    const isSame = (one: Route): boolean => one.dst === route.dst && one.dev === route.dev && one.proto === route.proto;
    if (link.inside.routes.some(isSame)) return;
    link.inside.routes = [...link.inside.routes, route];
  }
}

export function cannotFind(name: string): string {
  return `Cannot find device "${name}"`;
}

export function familyOf(text: string): 4 | 6 {
  return text.includes(':') ? 6 : 4;
}

function emptyNamespace(path: string): Namespace {
  return { path, links: new Map(), routes: [], rules: [], sysctls: new Map(), neighbours: new Set() };
}

function networkOf(text: string): string {
  return canonicalCidr(text) ?? text;
}

/** Whether an address is in the network of an interface's address. */
function isWithin(address: string, text: string): boolean {
  const [parsed, network] = [parseAddress(address), parseCidr(text)];
  return parsed !== undefined && network !== undefined && cidrContains(network, parsed);
}
