/**
 * CIDR blocks (RFC 4632, RFC 4291 section 2.3), and the addresses of a block that hosts may have.
 *
 * Usable are all but the first (the network, or the anycast address of its routers) and, for IPv4, the last, which is the broadcast address:
 * IPv6 has none. Of a /31 or /127 both are (RFC 3021, RFC 6164), of a /32 or /128 the one.
 */

import { bitsOf, formatAddress, parseAddress, partProblem } from './address.ts';
import type { Address, Family } from './address.ts';

/** A block: `base` has no bit set beyond `prefix`. */
export interface Cidr {
  readonly family: Family;
  readonly base: bigint;
  readonly prefix: number;
}

/** Canonical text of a block: canonical network address, slash, prefix length. */
export type CidrText = string & { readonly __text: 'cidr' };

/** An address and its block, as in `10.16.0.1/16`. */
export interface InterfaceAddress {
  readonly address: Address;
  readonly cidr: Cidr;
}

/** The block of a text, host bits cleared, or undefined. */
export function parseCidr(text: string): Cidr | undefined {
  return parseInterfaceAddress(text)?.cidr;
}

/** A network, or an address as the network of that address alone; undefined for other text. */
export function hostOrCidr(text: string): Cidr | undefined {
  const address = parseAddress(text);
  return address === undefined ? parseCidr(text) : cidrOf(address, bitsOf(address.family));
}

/** The address before the slash and its block, or undefined. */
export function parseInterfaceAddress(text: string): InterfaceAddress | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined;
  const cidr = cidrOf(address, Number(length));
  return cidr === undefined ? undefined : { address, cidr };
}

/** The block of that prefix length around an address, or undefined if the family has fewer bits. */
export function cidrOf(address: Address, prefix: number): Cidr | undefined {
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > bitsOf(address.family)) return undefined;
  const host = BigInt(bitsOf(address.family) - prefix);
  return { family: address.family, base: (address.value >> host) << host, prefix };
}

export function formatCidr(cidr: Cidr): CidrText {
  return `${formatAddress(networkAddress(cidr))}/${cidr.prefix}` as CidrText;
}

/** The canonical spelling of a CIDR text, host bits cleared, or undefined if it is none. */
export function canonicalCidr(text: string): CidrText | undefined {
  const cidr = parseCidr(text);
  return cidr === undefined ? undefined : formatCidr(cidr);
}

/** The rule that the text breaks, or undefined if it is a CIDR. For messages. */
export function cidrProblem(text: string): string | undefined {
  if (parseCidr(text) !== undefined) return undefined;
  if (text === '') return 'is empty';
  const slash = text.indexOf('/');
  if (slash < 0) return 'has no prefix length';
  const address = parseAddress(text.slice(0, slash));
  if (address === undefined) return partProblem('begin', text.slice(0, slash));
  return `has a prefix length that is not a number from 0 to ${bitsOf(address.family)}`;
}

/** Number of addresses in the block, with the first and the last. */
export function cidrSize(cidr: Cidr): bigint {
  return 1n << BigInt(bitsOf(cidr.family) - cidr.prefix);
}

export function networkAddress(cidr: Cidr): Address {
  return { family: cidr.family, value: cidr.base };
}

/** The last address of the block: for IPv4 the broadcast address. */
export function lastAddress(cidr: Cidr): Address {
  return { family: cidr.family, value: cidr.base + cidrSize(cidr) - 1n };
}

export function firstUsable(cidr: Cidr): Address {
  return { family: cidr.family, value: cidr.base + edgeOf(cidr) };
}

export function lastUsable(cidr: Cidr): Address {
  const { family, value } = lastAddress(cidr);
  return { family, value: family === 4 ? value - edgeOf(cidr) : value };
}

/** Subject and verb of a sentence about the addresses of a block that no host may have. */
export function unusableAre(cidr: Cidr): string {
  return cidr.family === 4 ? `the first and the last address of ${formatCidr(cidr)} are` : `the first address of ${formatCidr(cidr)} is`;
}

/** Whether a host may have the address: it is between `firstUsable` and `lastUsable`. */
export function isUsable(cidr: Cidr, address: Address): boolean {
  if (address.family !== cidr.family) return false;
  return address.value >= firstUsable(cidr).value && address.value <= lastUsable(cidr).value;
}

export function cidrContains(cidr: Cidr, address: Address): boolean {
  if (address.family !== cidr.family) return false;
  const host = BigInt(bitsOf(cidr.family) - cidr.prefix);
  return address.value >> host === cidr.base >> host;
}

/** Whether every address of `inner` is in `outer`. */
export function cidrCovers(outer: Cidr, inner: Cidr): boolean {
  return inner.prefix >= outer.prefix && cidrContains(outer, networkAddress(inner));
}

/** Whether an address is in both. Two blocks overlap only if one covers the other. */
export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  return cidrCovers(a, b) || cidrCovers(b, a);
}

export function sameCidr(a: Cidr, b: Cidr): boolean {
  return a.family === b.family && a.prefix === b.prefix && a.base === b.base;
}

/** Number of addresses at an end of the block that are not for hosts. */
function edgeOf(cidr: Cidr): bigint {
  return bitsOf(cidr.family) - cidr.prefix > 1 ? 1n : 0n;
}
