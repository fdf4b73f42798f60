/** IPv6 addresses that follow from a MAC (RFC 4291 appendix A: modified EUI-64). */

import type { Address } from './address.ts';
import { macToNumber } from './mac.ts';
import type { Mac } from './mac.ts';

/** The low 64 bits of an address that a host with this MAC makes for itself. */
export function eui64(mac: Mac): bigint {
  const bits = BigInt(macToNumber(mac)) ^ (2n << 40n);
  return ((bits >> 24n) << 40n) | (0xfffen << 24n) | (bits & 0xffffffn);
}

/** The link-local address that OVN gives a router port with this MAC. */
export function linkLocal(mac: Mac): Address {
  return { family: 6, value: (0xfe80n << 112n) | eui64(mac) };
}
