/** Devices as the kernel shows them, by `ip -json`. */
import { canonicalAddress } from '../../net/address.ts';
import { canonicalCidr } from '../../net/cidr.ts';
import type { AddressedDevice, ObservedDevice } from '../world/node-world.ts';
import { forwardingKeys, routeText } from './ip-commands.ts';
import { isOurAlias } from './link-alias.ts';
import { inNamespace, type Programs } from './programs.ts';

interface LinkJson {
  readonly ifname?: string;
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly ifalias?: string;
  readonly addr_info?: readonly AddressJson[];
}

interface AddressJson {
  readonly local?: string;
  readonly prefixlen?: number;
  readonly scope?: string;
  readonly tentative?: boolean;
  readonly dadfailed?: boolean;
}

interface RouteJson {
  readonly dst?: string;
  readonly gateway?: string;
  readonly prefsrc?: string;
  readonly protocol?: string;
}

/** Reads one device from both of its ends. @throws Error with the reason if the kernel cannot be asked */
export async function observeDevice(programs: Programs, name: string, namespacePath: string, innerName: string): Promise<ObservedDevice> {
  const inner = await programs.run(inNamespace(namespacePath, 'ip', '-json', 'address', 'show', 'dev', innerName));
  if (!inner.ok) {
    if (/^nsenter: .*No such file|^nsenter: reassociate/m.test(inner.message)) {
      const { ok } = await programs.run(['ip', '-json', 'link', 'show', 'dev', name]);
      return ok ? { kind: 'no-namespace', linked: true } : { kind: 'no-namespace' };
    }
    if (/does not exist/.test(inner.message)) return { kind: 'absent' };
    throw new Error(inner.message);
  }
  const outer = await programs.run(['ip', '-json', 'link', 'show', 'dev', name]);
  if (!outer.ok) {
    if (/does not exist/.test(outer.message)) return { kind: 'absent' };
    throw new Error(outer.message);
  }
  const [link] = parse(inner.output) as readonly LinkJson[];
  const [host] = parse(outer.output) as readonly LinkJson[];
  if (link === undefined || host === undefined) return { kind: 'absent' };
  const addresses = addressesOf(link);
  return {
    kind: 'present',
    mac: link.address ?? '',
    mtu: link.mtu ?? 0,
    up: isUp(link) && isUp(host),
    addresses,
    tentative: addressesOf(link, ({ tentative }) => tentative === true),
    routes: await routesOf(programs, (...command) => inNamespace(namespacePath, ...command), innerName, hasV6(addresses)),
  };
}

/** Reads a device of the node itself. @throws as `observeDevice` */
export async function observeLink(programs: Programs, name: string): Promise<ObservedDevice> {
  const shown = await programs.run(['ip', '-json', 'address', 'show', 'dev', name]);
  if (!shown.ok) {
    if (/does not exist/.test(shown.message)) return { kind: 'absent' };
    throw new Error(shown.message);
  }
  const [link] = parse(shown.output) as readonly LinkJson[];
  if (link === undefined) return { kind: 'absent' };
  const addresses = addressesOf(link);
  const forwarding = await programs.run(['sysctl', '-n', ...forwardingKeys(addresses)]);
  return {
    kind: 'present',
    mac: link.address ?? '',
    mtu: link.mtu ?? 0,
    up: isUp(link),
    addresses,
    routes: await routesOf(programs, (...command) => command, name, hasV6(addresses)),
    forwards:
      forwarding.ok &&
      forwarding.output
        .trim()
        .split('\n')
        .every((value) => value === '1'),
  };
}

export interface ObservedLinks {
  /** Those that the agent made: by name, their aliases. */
  readonly ours: ReadonlyMap<string, string>;
  /** By address. */
  readonly addressed: ReadonlyMap<string, AddressedDevice>;
}

/** The links of this node. @throws as `observeDevice` */
export async function observeLinks(programs: Programs): Promise<ObservedLinks> {
  const listed = await programs.run(['ip', '-json', '-details', 'address', 'show']);
  if (!listed.ok) throw new Error(listed.message);
  const links = parse(listed.output) as readonly LinkJson[];
  const addressed = new Map<string, AddressedDevice>();
  for (const { ifname: device = '', mtu = 0, addr_info: info = [] } of links)
    for (const { local = '', scope } of info) if (scope === 'global') addressed.set(canonicalAddress(local) ?? local, { device, mtu });
  const ours = links.map(({ ifname = '', ifalias = '' }) => [ifname, ifalias] as const).filter(([, alias]) => isOurAlias(alias));
  return { ours: new Map(ours), addressed };
}

/** The kernel's search for other hosts with IPv6 addresses of a device. */
export interface CheckedAddresses {
  /** It is not complete, for the link-local address either. */
  readonly tentative: boolean;
  /** Given up, with the length of the prefix. */
  readonly addresses: readonly string[];
  /** The device's own link-local address, which is made of its MAC address, is refused as well: the other host has the same. */
  readonly sameMac: boolean;
}

/** IPv6 addresses of a pod's device that the kernel gave up since another host has them. @throws as `observeDevice` */
export async function checkedAddresses(programs: Programs, namespacePath: string, innerName: string): Promise<CheckedAddresses> {
  const shown = await programs.run(inNamespace(namespacePath, 'ip', '-json', '-6', 'address', 'show', 'dev', innerName));
  if (!shown.ok) throw new Error(shown.message);
  const [link = {}] = parse(shown.output) as readonly LinkJson[];
  const refused = (link.addr_info ?? []).filter(({ dadfailed }) => dadfailed === true);
  return {
    tentative: (link.addr_info ?? []).some(({ tentative, dadfailed }) => tentative === true && dadfailed !== true),
    addresses: refused
      .filter(({ scope }) => scope !== 'link')
      .map(({ local = '', prefixlen = 0 }) => `${canonicalAddress(local) ?? local}/${prefixlen}`),
    sameMac: refused.some(({ scope }) => scope === 'link'),
  };
}

type Where = (...command: readonly [string, ...string[]]) => readonly [string, ...string[]];

async function routesOf(programs: Programs, where: Where, device: string, withV6: boolean): Promise<readonly string[]> {
  const families = [['-4', '0.0.0.0/0'] as const, ...(withV6 ? [['-6', '::/0'] as const] : [])];
  const routes: string[] = [];
  for (const [family, anywhere] of families) {
    const listed = await programs.run(where('ip', '-json', family, 'route', 'show', 'dev', device));
    if (!listed.ok) throw new Error(listed.message);
    for (const { dst = '', gateway, protocol, prefsrc } of parse(listed.output) as readonly RouteJson[]) {
      if (protocol === 'kernel' || gateway === undefined) continue;
      const destination = dst === 'default' ? anywhere : (canonicalCidr(dst) ?? dst);
      routes.push(routeText({ destination, gateway, ...(prefsrc === undefined ? {} : { source: prefsrc }) }));
    }
  }
  return routes.toSorted();
}

function addressesOf({ addr_info: info = [] }: LinkJson, of: (address: AddressJson) => boolean = () => true): readonly string[] {
  return info
    .filter((address) => address.scope !== 'link' && address.dadfailed !== true && of(address))
    .map(({ local = '', prefixlen = 0 }) => `${canonicalAddress(local) ?? local}/${prefixlen}`)
    .toSorted();
}

function hasV6(addresses: readonly string[]): boolean {
  return addresses.some((address) => address.includes(':'));
}

/** `ip -json` prints nothing where a list is empty. */
function parse(output: string): unknown {
  return output.trim() === '' ? [] : JSON.parse(output);
}

function isUp({ flags = [] }: LinkJson): boolean {
  return flags.includes('UP');
}
