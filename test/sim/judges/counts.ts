/**
 * What a Subnet says of its addresses: what is free, what is in use and what is kept back are apart, and together they are its network. Held
 * against its own spec and status, by no rule and without the ledger.
 */
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import { parseRange } from '../../../src/net/range.ts';

export interface Stretch {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Of one that is in place, all of it.
 * @param foreign addresses of ports in its switch that are nobody's here: kept back, and in use by no object
 */
export function countFaults({ spec, status = {} }: Subnet, foreign: readonly string[]): readonly string[] {
  const said = status as Readonly<Record<string, unknown>>;
  return splitList(spec.cidrBlock ?? '').flatMap((text): readonly string[] => {
    const cidr = parseCidr(text);
    if (cidr === undefined) return [];
    const { family, base, prefix } = cidr;
    const [free, used] = [stretchesOf(said[`v${family}availableIPrange`]), stretchesOf(said[`v${family}usingIPrange`])];
    if (free === undefined || used === undefined) return [];
    const gateways = splitList(spec.gateway ?? '').flatMap((one) => {
      const address = parseAddress(one);
      return address?.family === family ? [{ first: address.value, last: address.value }] : [];
    });
    const excluded = (spec.excludeIps ?? []).flatMap((item) => {
      const range = parseRange(item);
      return range?.family === family ? [range] : [];
    });
    const strange = foreign.flatMap((one) => {
      const address = parseAddress(one);
      return address?.family === family ? [{ first: address.value, last: address.value }] : [];
    });
    const [available, using] = [BigInt(String(said[`v${family}availableIPs`] ?? 0)), BigInt(String(said[`v${family}usingIPs`] ?? 0))];
    const size = 1n << BigInt((family === 4 ? 32 : 128) - prefix);
    const inner = { first: base + 1n, last: base + size - 2n };
    const within = [...free, ...used, ...gateways, ...excluded, ...strange].flatMap((one) => overlap(one, inner));
    return [
      ...(available === sum(free) ? [] : [`v${family}availableIPs is ${available}, and its ranges have ${sum(free)}`]),
      ...(using === sum(used) ? [] : [`v${family}usingIPs is ${using}, and its ranges have ${sum(used)}`]),
      ...(meetAny(free, excluded) ? [`v${family}availableIPrange has what spec.excludeIps keeps back`] : []),
      ...(meetAny(free, gateways) ? [`v${family}availableIPrange has the gateway`] : []),
      ...(meetAny(free, strange) ? [`v${family}availableIPrange has what a port of another program has`] : []),
      ...(meetAny(free, used) ? [`v${family}availableIPrange has what is in use`] : []),
      ...(family === 4 && size > 2n && covered(within) !== size - 2n
        ? [`counts of IPv4 are of ${covered(within)} addresses, and it has ${size - 2n}`]
        : []),
    ];
  });
}

/** Undefined where it cannot be read, or is cut short. */
export function stretchesOf(text: unknown): readonly Stretch[] | undefined {
  if (typeof text !== 'string') return undefined;
  const found: Stretch[] = [];
  for (const item of splitList(text)) {
    const [first, last = first] = item.split('-').map((one) => parseAddress(one)?.value);
    if (first === undefined || last === undefined) return undefined;
    found.push({ first, last });
  }
  return found;
}

export function overlap(one: Stretch, other: Stretch): readonly Stretch[] {
  const first = one.first > other.first ? one.first : other.first;
  const last = one.last < other.last ? one.last : other.last;
  return first > last ? [] : [{ first, last }];
}

export function meetAny(some: readonly Stretch[], others: readonly Stretch[]): boolean {
  return some.some((one) => others.some((other) => overlap(one, other).length > 0));
}

export function sum(stretches: readonly Stretch[]): bigint {
  return stretches.reduce((all, { first, last }) => all + last - first + 1n, 0n);
}

/** How many addresses they have together. */
function covered(stretches: readonly Stretch[]): bigint {
  let [count, next] = [0n, 0n];
  for (const { first, last } of stretches.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    const from = first > next ? first : next;
    if (last >= from) count += last - from + 1n;
    if (last + 1n > next) next = last + 1n;
  }
  return count;
}
