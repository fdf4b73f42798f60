/** The fields of a Subnet and its IPPools that decide which addresses can be allocated. */

import { cidrContains, cidrSize, firstUsable, lastUsable, sameCidr } from '../net/cidr.ts';
import type { Cidr } from '../net/cidr.ts';
import { parseDualAddress, parseDualCidr, splitList } from '../net/dual.ts';
import type { Dual } from '../net/dual.ts';
import type { Address, Family } from '../net/address.ts';
import { IntervalSet } from '../net/interval-set.ts';
import { macToNumber } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import { parseRanges } from '../net/range.ts';
import type { AddressRange } from '../net/range.ts';
import type { Zones } from './zones.ts';
import { cutZones } from './zones.ts';

export interface SubnetSpec {
  /** Neither family: a Subnet of MACs alone. */
  readonly cidrs: Dual<Cidr>;
  /** Never allocated, even on request. Gateways outside of the CIDR reserve nothing. */
  readonly gateways: readonly Address[];
  /** Allocated only on request of exactly this address. Ranges may overlap, repeat, and reach outside of the CIDR. */
  readonly excluded: readonly AddressRange[];
  /** Named pools in order of creation. A pool that overlaps an earlier one is not in effect at all. */
  readonly pools: readonly PoolSpec[];
  /** MACs of router ports and DHCP servers: no holder may have one. */
  readonly gatewayMacs: readonly Mac[];
}

export interface PoolSpec {
  readonly name: string;
  readonly ranges: readonly AddressRange[];
}

/** The fields with the spelling of Subnet.spec and IPPool.spec. */
export interface SubnetFields {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly pools?: readonly { readonly name: string; readonly ips: readonly string[] }[];
  readonly gatewayMacs?: readonly Mac[];
}

export type SpecCode = 'CIDRInvalid' | 'GatewayInvalid' | 'ExcludeInvalid' | 'PoolInvalid';

export type SpecResult =
  | { readonly ok: true; readonly spec: SubnetSpec }
  | { readonly ok: false; readonly code: SpecCode; readonly field: string; readonly value: string; readonly problem: string };

/** Parses the fields strictly. A dual-stack Subnet has a gateway of each family; an empty CIDR is a Subnet of MACs alone. */
export function parseSubnetFields(fields: SubnetFields): SpecResult {
  const cidrs = fields.cidrBlock.trim() === '' ? { ok: true as const } : parseDualCidr(fields.cidrBlock);
  if (!cidrs.ok) return { ok: false, code: 'CIDRInvalid', field: 'spec.cidrBlock', value: fields.cidrBlock, problem: cidrs.problem };

  const gateways: Address[] = [];
  for (const item of splitList(fields.gateway)) {
    const gateway = parseDualAddress(item);
    if (!gateway.ok) return { ok: false, code: 'GatewayInvalid', field: 'spec.gateway', value: fields.gateway, problem: gateway.problem };
    for (const address of [gateway.v4, gateway.v6]) if (address !== undefined) gateways.push(address);
  }
  const families: Family[] = [4, 6];
  const dual = cidrs.v4 !== undefined && cidrs.v6 !== undefined;
  const missing = dual ? families.find((family) => !gateways.some((gateway) => gateway.family === family)) : undefined;
  if (missing !== undefined) {
    return {
      ok: false,
      code: 'GatewayInvalid',
      field: 'spec.gateway',
      value: fields.gateway,
      problem: `names no IPv${missing} gateway for a dual-stack CIDR`,
    };
  }

  const excluded = parseRanges(fields.excludeIps, 'ranges');
  if (!excluded.ok) return { ok: false, code: 'ExcludeInvalid', field: 'spec.excludeIps', value: excluded.item, problem: excluded.problem };

  const pools: PoolSpec[] = [];
  for (const { name, ips } of fields.pools ?? []) {
    const parsed = parseRanges(ips, 'ranges-and-cidrs');
    if (!parsed.ok) return { ok: false, code: 'PoolInvalid', field: `pool ${name}`, value: parsed.item, problem: parsed.problem };
    pools.push({ name, ranges: parsed.ranges });
  }
  const spec = {
    cidrs: { ...(cidrs.v4 && { v4: cidrs.v4 }), ...(cidrs.v6 && { v6: cidrs.v6 }) },
    gateways,
    excluded: excluded.ranges,
    pools,
    gatewayMacs: fields.gatewayMacs ?? [],
  };
  return { ok: true, spec };
}

export interface OverlappingPool {
  readonly name: string;
  /** The earlier pool that has one of its addresses. */
  readonly overlaps: string;
}

/** Separates the pools in effect from those that overlap an earlier one. */
export function separatePools(pools: readonly PoolSpec[]): { admitted: PoolSpec[]; overlapping: OverlappingPool[] } {
  const admitted: { pool: PoolSpec; v4: IntervalSet; v6: IntervalSet }[] = [];
  const overlapping: OverlappingPool[] = [];
  for (const pool of pools) {
    const v4 = rangesOf(pool.ranges, 4, 0n);
    const v6 = rangesOf(pool.ranges, 6, 0n);
    const clash = admitted.find((other) => !other.v4.intersect(v4).isEmpty || !other.v6.intersect(v6).isEmpty);
    if (clash === undefined) admitted.push({ pool, v4, v6 });
    else overlapping.push({ name: pool.name, overlaps: clash.pool.name });
  }
  return { admitted: admitted.map(({ pool }) => pool), overlapping };
}

/** The zones of one family, in offsets from the CIDR's base. */
export function zonesOf(cidr: Cidr, spec: SubnetSpec, pools: readonly PoolSpec[]): Zones {
  const { family, base } = cidr;
  const universe = IntervalSet.between(firstUsable(cidr).value - base, lastUsable(cidr).value - base);
  const gateways = spec.gateways
    .filter((gateway) => cidrContains(cidr, gateway))
    .map(({ value }) => ({ first: value - base, last: value - base }));
  const named = pools.map((pool) => rangesOf(pool.ranges, family, base));
  return cutZones(universe, IntervalSet.of(gateways), rangesOf(spec.excluded, family, base), named, unlisted(cidr));
}

/** The last address of an IPv6 network: Kube-OVN gives it to nobody and does not count it, so it is for who names it, or a pool with it. */
function unlisted(cidr: Cidr): IntervalSet {
  const last = cidrSize(cidr) - 1n;
  return cidr.family === 6 && last > 1n ? IntervalSet.between(last, last) : IntervalSet.empty;
}

/** Whether all fields that this folder reads are equal. */
export function sameSpec(a: SubnetSpec, b: SubnetSpec): boolean {
  return (
    hasSameLimits(a, b) &&
    sameList(a.excluded, b.excluded, sameRange) &&
    sameList(a.pools, b.pools, (x, y) => x.name === y.name && sameList(x.ranges, y.ranges, sameRange))
  );
}

/** Whether both specs allow the same requests for an address or MAC by name. */
export function hasSameLimits(a: SubnetSpec, b: SubnetSpec): boolean {
  return (
    sameDualCidr(a.cidrs, b.cidrs) &&
    sameList(a.gateways, b.gateways, (x, y) => x.family === y.family && x.value === y.value) &&
    sameList(a.gatewayMacs, b.gatewayMacs, (x, y) => macToNumber(x) === macToNumber(y))
  );
}

function rangesOf(ranges: readonly AddressRange[], family: Family, base: bigint): IntervalSet {
  const own = ranges.filter((range) => range.family === family);
  return IntervalSet.of(own.map(({ first, last }) => ({ first: first - base, last: last - base })));
}

function sameRange(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family && a.first === b.first && a.last === b.last;
}

function sameDualCidr(a: Dual<Cidr>, b: Dual<Cidr>): boolean {
  const same = (x: Cidr | undefined, y: Cidr | undefined): boolean => (x === undefined || y === undefined ? x === y : sameCidr(x, y));
  return same(a.v4, b.v4) && same(a.v6, b.v6);
}

function sameList<T>(a: readonly T[], b: readonly T[], same: (x: T, y: T) => boolean): boolean {
  return a.length === b.length && a.every((item, index) => same(item, b[index] as T));
}
