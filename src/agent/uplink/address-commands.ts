/**
 * The lines for `ip -batch` that give a device its addresses, in their order and with their labels. Pure.
 *
 * The first address of a network of IPv4 is its primary one: the node sends from it, and the others go with it where the kernel does not promote
 * them. A label cannot be changed, and the kernel makes labels of its own for a device that gets another name. So an address that comes too late,
 * or with another label, is taken away and added again, with those after it.
 */
import { canonicalCidr } from '../../net/cidr.ts';
import { addressOn, labelOf, withoutOptions } from '../world/device-network.ts';

export interface AddressLines {
  readonly lines: readonly string[];
  /** Addresses were away for a moment: the kernel took their routes. */
  readonly takesRoutes: boolean;
}

/** @param wanted all that the device must have, and `present` all that it has, as in a `DeviceNetwork` */
export function addressLines(device: string, wanted: readonly string[], present: readonly string[]): AddressLines {
  const differing = wanted.filter((address) => !present.includes(address));
  const networks = [...new Set(differing.flatMap((address) => networkOf(address) ?? []))];
  const again = networks.flatMap((network) => {
    const isIn = (address: string): boolean => networkOf(address) === network;
    return againLines(device, wanted.filter(isIn), present.filter(isIn));
  });
  return {
    // One that cannot be added ends the lines before any is taken away.
    lines: [...differing.map((address) => addLine(device, address)), ...again],
    takesRoutes: again.length > 0,
  };
}

/** Secondary ones before their primary one: they go with it. */
export function removalLines(device: string, addresses: readonly string[]): readonly string[] {
  return addresses.toReversed().map((address) => `address delete ${withoutOptions(address)} dev ${device}`);
}

/** @param present before those that are missing were added @returns nothing where order and labels are right then */
function againLines(device: string, wanted: readonly string[], present: readonly string[]): readonly string[] {
  const missing = wanted.filter((address) => !isAmong(address, present));
  const others = present.filter((address) => !isAmong(address, wanted));
  const [now, goal] = [
    [...present, ...missing],
    [...wanted, ...others],
  ];
  const from = goal.findIndex((address, at) => !isSame(address, now[at] ?? ''));
  return from === -1 ? [] : [...removalLines(device, now.slice(from)), ...goal.slice(from).map((address) => addLine(device, address))];
}

function isAmong(address: string, addresses: readonly string[]): boolean {
  return addresses.some((one) => withoutOptions(one) === withoutOptions(address));
}

function isSame(a: string, b: string): boolean {
  return withoutOptions(a) === withoutOptions(b) && labelOf(a) === labelOf(b);
}

/** Undefined for IPv6, which knows neither primary addresses nor labels. */
function networkOf(address: string): string | undefined {
  return withoutOptions(address).includes(':') ? undefined : canonicalCidr(withoutOptions(address));
}

/** It may be there, with other options. */
function addLine(device: string, address: string): string {
  // Another device of the node still answers for it: it is no duplicate.
  const nodad = withoutOptions(address).includes(':') ? ' nodad' : '';
  return `address replace ${addressOn(address, device)} dev ${device}${nodad}`;
}
