/**
 * Inclusive address ranges. Kube-OVN reads `a..b` (excludeIps, IPPool) and writes `a-b` (status).
 */

import { addressProblem, formatAddress, parseAddress, partProblem } from './address.ts';
import type { Family } from './address.ts';
import { cidrProblem, cidrSize, parseCidr } from './cidr.ts';
import type { Cidr } from './cidr.ts';
import type { Interval } from './interval-set.ts';

/** All addresses of one family from `first` to `last`; `first` <= `last`. */
export interface AddressRange {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

/** `a` or `a..b`, as in Subnet.spec.excludeIps; undefined for another text, or if b is below a. */
export function parseRange(text: string): AddressRange | undefined {
  const dots = text.indexOf('..');
  const first = parseAddress(dots < 0 ? text : text.slice(0, dots));
  if (first === undefined) return undefined;
  if (dots < 0) return { family: first.family, first: first.value, last: first.value };
  const last = parseAddress(text.slice(dots + 2));
  if (last === undefined || last.family !== first.family || last.value < first.value) return undefined;
  return { family: first.family, first: first.value, last: last.value };
}

/** `a`, `a..b` or a CIDR (all of its addresses), as in IPPool.spec.ips. */
export function parseRangeOrCidr(text: string): AddressRange | undefined {
  if (!text.includes('/')) return parseRange(text);
  const cidr = parseCidr(text);
  return cidr === undefined ? undefined : cidrRange(cidr);
}

/** The rule that the text breaks, or undefined if it is `a` or `a..b`. For messages. */
export function rangeProblem(text: string): string | undefined {
  if (parseRange(text) !== undefined) return undefined;
  if (text === '') return 'is empty';
  const dots = text.indexOf('..');
  if (dots < 0) return text.includes('-') ? 'is not an address; a range is written with two dots, a..b' : addressProblem(text);
  const first = parseAddress(text.slice(0, dots));
  const last = parseAddress(text.slice(dots + 2));
  if (first === undefined) return partProblem('begin', text.slice(0, dots));
  if (last === undefined) return partProblem('end', text.slice(dots + 2));
  return first.family === last.family ? 'ends before it begins' : 'mixes IPv4 and IPv6';
}

export type RangesResult =
  | { readonly ok: true; readonly ranges: readonly AddressRange[] }
  | { readonly ok: false; readonly item: string; readonly form: 'IP address' | 'CIDR address'; readonly problem: string };

/** A list of `a`, `a..b` and, if allowed, CIDRs. The problem is worded to follow the quoted item. */
export function parseRanges(items: readonly string[], allowed: 'ranges' | 'ranges-and-cidrs'): RangesResult {
  const ranges: AddressRange[] = [];
  for (const item of items) {
    const asCidr = allowed === 'ranges-and-cidrs' && item.includes('/');
    const range = asCidr ? parseRangeOrCidr(item) : parseRange(item);
    if (range === undefined) {
      return {
        ok: false,
        item,
        form: asCidr ? 'CIDR address' : 'IP address',
        problem: `${asCidr ? cidrProblem(item) : rangeProblem(item)}`,
      };
    }
    ranges.push(range);
  }
  return { ok: true, ranges };
}

/** Every address of a block, with the first and the last. */
export function cidrRange(cidr: Cidr): AddressRange {
  return { family: cidr.family, first: cidr.base, last: cidr.base + cidrSize(cidr) - 1n };
}

/** `a`, or `a-b`: Kube-OVN's spelling in a status. */
export function formatRange(range: AddressRange): string {
  return formatInterval(range.family, range);
}

/** Intervals as in Subnet.status.v4availableIPrange: `10.16.0.3-10.16.0.9,10.16.0.12`; empty text for none. */
export function formatIntervals(family: Family, intervals: Iterable<Interval>): string {
  const parts: string[] = [];
  for (const interval of intervals) parts.push(formatInterval(family, interval));
  return parts.join(',');
}

function formatInterval(family: Family, { first, last }: Interval): string {
  const from = formatAddress({ family, value: first });
  return first === last ? from : `${from}-${formatAddress({ family, value: last })}`;
}
