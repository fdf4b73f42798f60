/** The fewest CIDR blocks with exactly the addresses of a range, for an address set or a route. */

import { bitsOf } from './address.ts';
import type { Cidr } from './cidr.ts';
import type { AddressRange } from './range.ts';

/** Ascending. At most 2 × bits − 2 blocks. */
export function cidrCover(range: AddressRange): Cidr[] {
  const bits = bitsOf(range.family);
  const blocks: Cidr[] = [];
  for (let at = range.first; at <= range.last;) {
    let host = 0;
    // Doubles the block while it stays aligned and inside.
    while (host < bits && (at >> BigInt(host)) % 2n === 0n && at + (2n << BigInt(host)) - 1n <= range.last) host++;
    blocks.push({ family: range.family, base: at, prefix: bits - host });
    at += 1n << BigInt(host);
  }
  return blocks;
}
