/** What is on a device of the node: in a ProviderNetwork it moves from an interface to a bridge. */

/** Addresses and routes of a device, as arguments of `ip`. */
export interface DeviceNetwork {
  /**
   * `172.18.0.2/16`, with `brd …`, `metric …` and `label :1` where it has these; without those of the link. In the order in which they have to be
   * added: of IPv4, the first one of a network is the primary one; of IPv6, the last one is preferred. A label is what follows the device's name.
   */
  readonly addresses: readonly string[];
  /** `0.0.0.0/0 via 172.18.0.1 metric 100`, without the device; without those that the kernel makes of addresses. */
  readonly routes: readonly string[];
}

/** A device of the node that a ProviderNetwork uses: the node's interface, or a bridge. */
export interface HostLink extends DeviceNetwork {
  /** Default routes that a router announced on it, as text. Missing: none. */
  readonly announced?: readonly string[];
  readonly mac: string;
  readonly mtu: number;
  readonly up: boolean;
  /** The device that has it as a part, by name; empty for none. Open vSwitch in the kernel is `ovs-system`. */
  readonly master: string;
  /** As `ip` calls it: `vlan`, `veth`, `bond`; missing for a device of hardware. */
  readonly type?: string;
  /** Of a VLAN interface: the device that it is on, and its tag. */
  readonly vlan?: { readonly parent: string; readonly tag: number };
  readonly alias?: string;
  /** What it has that would be lost with a move to another device, as nouns for a message; missing for nothing. */
  readonly unmovable?: readonly string[];
  /** Addresses with a lifetime, with their length alone; missing for none. */
  readonly leased?: readonly string[];
}

/** Whether Open vSwitch made the device: for the kernel's datapath, or for that of userspace. */
export function isOfSwitch({ type = '' }: HostLink): boolean {
  return type === 'openvswitch' || type === 'tun';
}

/** The alias of a VLAN interface that the agent made. The network is in it, so that the interface goes with the network. */
const MADE_FOR = 'kiln-vlan:';

export function aliasFor(network: string): string {
  return MADE_FOR + network;
}

/** The network that a VLAN interface was made for; undefined for one of another program. */
export function madeFor({ alias = '' }: HostLink): string | undefined {
  return alias.startsWith(MADE_FOR) ? alias.slice(MADE_FOR.length) : undefined;
}

/** A VLAN interface of the node, as it was on an interface that a ProviderNetwork has taken. */
export interface VlanInterface extends DeviceNetwork {
  readonly name: string;
  readonly tag: number;
  readonly mac: string;
  readonly mtu: number;
}

export function vlanInterfacesText(interfaces: readonly VlanInterface[]): string {
  return JSON.stringify(interfaces.map(plain));
}

function plain({ name, tag, mac, mtu, addresses, routes }: VlanInterface): VlanInterface {
  return { name, tag, mac, mtu, addresses, routes };
}

/** @returns none of a text that is not such a one */
export function parseVlanInterfaces(text: string): readonly VlanInterface[] {
  return vlansIn(jsonOf(text));
}

function vlansIn(value: unknown): readonly VlanInterface[] {
  return (Array.isArray(value) ? value : []).flatMap((one: unknown) => {
    const { name, tag, mac, mtu } = (one ?? {}) as Partial<Record<string, unknown>>;
    if (typeof name !== 'string' || typeof tag !== 'number' || typeof mac !== 'string' || typeof mtu !== 'number') return [];
    return [{ name, tag, mac, mtu, ...networkIn(one) }];
  });
}

/** An interface of the node that a network uses, and what it had before; it may have another name meanwhile. */
export interface TakenInterface extends DeviceNetwork {
  readonly original: string;
  readonly name: string;
  /** VLAN interfaces that were on it. */
  readonly vlans: readonly VlanInterface[];
  /** Of its addresses those that had a lifetime; missing for none. */
  readonly leased?: readonly string[];
}

/** By network. */
export function takenText(interfaces: Readonly<Record<string, TakenInterface>>): string {
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(interfaces).map(([network, { original, name, addresses, routes, vlans, leased = [] }]) => [
        network,
        { original, name, addresses, routes, ...(vlans.length > 0 && { vlans: vlans.map(plain) }), ...(leased.length > 0 && { leased }) },
      ]),
    ),
  );
}

/** @returns none of a text that is not such a one */
export function parseTaken(text: string): Readonly<Record<string, TakenInterface>> {
  const parsed = jsonOf(text);
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(
    Object.entries(parsed).flatMap(([network, one]: [string, unknown]) => {
      const { original, name, vlans, leased } = (one ?? {}) as Partial<Record<string, unknown>>;
      return typeof original === 'string' && typeof name === 'string'
        ? [[network, { original, name, vlans: vlansIn(vlans), ...(Array.isArray(leased) && { leased: texts(leased) }), ...networkIn(one) }]]
        : [];
    }),
  );
}

/** @param address as in a `DeviceNetwork` */
export function withoutLength(address: string): string {
  return address.split('/', 1)[0] ?? address;
}

export const NO_NETWORK: DeviceNetwork = { addresses: [], routes: [] };

export function isEmpty({ addresses, routes }: DeviceNetwork): boolean {
  return addresses.length + routes.length === 0;
}

/** All of both, each once; of an address that both have, with other options, what `first` says. Its addresses come first. */
export function union(first: DeviceNetwork, second: DeviceNetwork): DeviceNetwork {
  const known = new Set(first.addresses.map(withoutOptions));
  return {
    addresses: [...first.addresses, ...second.addresses.filter((address) => !known.has(withoutOptions(address)))],
    routes: [...new Set([...first.routes, ...second.routes])].toSorted(),
  };
}

/** @param address as in a `DeviceNetwork` @returns it with its length alone */
export function withoutOptions(address: string): string {
  return address.split(' ', 1)[0] ?? address;
}

const LABEL = ' label :';

/** @param address as in a `DeviceNetwork` @returns `:1`, or nothing */
export function labelOf(address: string): string {
  const at = address.indexOf(LABEL);
  return at === -1 ? '' : (address.slice(at + LABEL.length - 1).split(' ', 1)[0] ?? '');
}

/** @param address as in a `DeviceNetwork` @returns it as arguments of `ip`, which wants the whole label */
export function addressOn(address: string, device: string): string {
  return address.replace(LABEL, ` label ${device}:`);
}

/** Whether `whole` has all of `part`. */
export function hasAll(whole: DeviceNetwork, part: DeviceNetwork): boolean {
  return part.addresses.every((address) => whole.addresses.includes(address)) && part.routes.every((route) => whole.routes.includes(route));
}

/** As it is kept in the Open_vSwitch database, so that no death of the agent loses it. */
export function networkText({ addresses, routes }: DeviceNetwork): string {
  return JSON.stringify({ addresses, routes });
}

/** @returns nothing of a text that is not such a one */
export function parseNetwork(text: string): DeviceNetwork {
  return networkIn(jsonOf(text));
}

function networkIn(value: unknown): DeviceNetwork {
  const { addresses, routes } = (value ?? {}) as Partial<Record<'addresses' | 'routes', unknown>>;
  return { addresses: texts(addresses), routes: texts(routes).filter(isRoute).toSorted() };
}

/**
 * An older agent wrote a route `via inet6` without its next hop. The kernel shows no route of IPv4 so, without next hop and scope: it would never be
 * seen, and the bridge would wait for it.
 */
function isRoute(route: string): boolean {
  return / (?:via|scope) /.test(route) || (route.split(' ', 1)[0] ?? '').includes(':');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
