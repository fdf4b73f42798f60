/** What is on a device of the node: in a ProviderNetwork it moves from an interface to a bridge. */

/** Addresses and routes of a device, as arguments of `ip`. */
export interface DeviceNetwork {
  /** `172.18.0.2/16`, with `brd …` where it has a broadcast address; without those of the link. */
  readonly addresses: readonly string[];
  /** `0.0.0.0/0 via 172.18.0.1 metric 100`, without the device; without those that the kernel makes of addresses. */
  readonly routes: readonly string[];
}

/** A device of the node that a ProviderNetwork uses: the node's interface, or a bridge. */
export interface HostLink extends DeviceNetwork {
  readonly mac: string;
  readonly mtu: number;
  readonly up: boolean;
  /** The device that has it as a part, by name; empty for none. Open vSwitch in the kernel is `ovs-system`. */
  readonly master: string;
}

/** @param address as in a `DeviceNetwork` */
export function withoutLength(address: string): string {
  return address.split('/', 1)[0] ?? address;
}

export const NO_NETWORK: DeviceNetwork = { addresses: [], routes: [] };

export function isEmpty({ addresses, routes }: DeviceNetwork): boolean {
  return addresses.length + routes.length === 0;
}

/** All of both, each once, in order. */
export function union(a: DeviceNetwork, b: DeviceNetwork): DeviceNetwork {
  return { addresses: merged(a.addresses, b.addresses), routes: merged(a.routes, b.routes) };
}

function merged(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].toSorted();
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
  try {
    const { addresses, routes } = JSON.parse(text) as Partial<Record<'addresses' | 'routes', unknown>>;
    return { addresses: texts(addresses), routes: texts(routes) };
  } catch {
    return NO_NETWORK;
  }
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string').toSorted() : [];
}
