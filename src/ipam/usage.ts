/**
 * A Subnet's address usage: counts and ranges from one snapshot, per family, for the Subnet and for each named pool. Subnet.status and
 * IPPool.status have these values.
 */

import type { Address, Family } from '../net/address.ts';
import type { Dual } from '../net/dual.ts';
import { IntervalSet } from '../net/interval-set.ts';
import type { Interval } from '../net/interval-set.ts';
import type { Occupancy } from './occupancy.ts';
import { nextOffset, previousOffset } from './offset.ts';
import type { Offset } from './offset.ts';
import { RangeText } from './range-text.ts';
import type { Space, SubnetState } from './space.ts';
import type { Zone } from './zones.ts';

export interface Counts {
  /** Usable, not reserved, not held. */
  readonly available: bigint;
  /**
   * Held by claimants, not by passive holders alone, and not reserved; also outside of a CIDR that was narrowed while addresses were in use.
   */
  readonly using: bigint;
}

export interface FamilyUsage extends Counts {
  /** `10.16.0.3-10.16.0.9,10.16.0.12`; empty if there are none. */
  readonly availableRange: string;
  readonly usingRange: string;
}

export interface Usage extends Dual<FamilyUsage> {
  /** By named pool in effect; without the families in which the pool has no usable address. */
  readonly pools: ReadonlyMap<string, Dual<FamilyUsage>>;
}

/** Addresses that only passive holders have and that a request for any address would otherwise get. */
export interface KeptBack {
  /** Those of foreign ports. The range is in the format of the ranges above. */
  readonly foreignPorts: { readonly count: bigint; readonly range: string } | undefined;
  /** Those of nodes, each with its claimants. */
  readonly nodeAddresses: readonly { readonly claimants: readonly string[]; readonly address: Address }[];
}

/** Offsets of one family by state, for the Subnet or one of its pools. */
export interface AddressSets {
  /** All usable ones. */
  readonly all: IntervalSet;
  /** The gateway and the excluded. */
  readonly reserved: IntervalSet;
  readonly held: IntervalSet;
  readonly available: IntervalSet;
  /** Available addresses that were held before, as far as remembered. */
  readonly freed: IntervalSet;
}

/** Counts of the Subnet. Costs O(zones), not O(addresses). */
export function countsOf(space: Space): Counts {
  let available = 0n;
  let using = space.countedOutside;
  for (const [index, zone] of space.zones.all.entries()) {
    if (zone.standing !== 'open') continue;
    available += space.zones.size(index) - BigInt(space.heldIn(index));
    using += space.countedIn(index);
  }
  return { available, using: BigInt(using) };
}

/** Counts of one pool. Held excluded addresses count as in use, as in Kube-OVN's IPPool.status. */
export function poolCountsOf(space: Space, pool: number): Counts {
  let available = 0n;
  let using = 0;
  for (const index of space.zones.ofPool(pool)) {
    const standing = space.zones.all[index]?.standing;
    if (standing === 'gateway') continue;
    if (standing === 'open') available += space.zones.size(index) - BigInt(space.heldIn(index));
    using += space.countedIn(index);
  }
  return { available, using: BigInt(using) };
}

/** Undefined if there are none: then no address is visited. */
export function keptBackOf(space: Space, family: Family, occupancy: Pick<Occupancy, 'holdersAt'>): KeptBack | undefined {
  let left = 0;
  for (const [index, zone] of space.zones.all.entries()) if (isOpen(zone)) left += space.heldIn(index) - space.countedIn(index);
  if (left === 0) return undefined;
  const range = new RangeText(family, space.origin);
  let count = 0n;
  const nodeAddresses: { claimants: readonly string[]; address: Address }[] = [];
  for (const offset of Array.from(space.held.sorted())) {
    const zone = space.zones.zoneAt(offset);
    const slot = space.held.find(offset);
    if (zone === undefined || !isOpen(zone) || space.isCounted(slot)) continue;
    const holders = occupancy.holdersAt(space, slot);
    const claimants = holders.filter(({ kind }) => kind === 'node-address').map(({ claimant }) => claimant);
    if (claimants.length > 0) nodeAddresses.push({ claimants, address: { family, value: space.valueAt(offset) } });
    if (claimants.length === holders.length) continue;
    range.add(offset, offset);
    count++;
  }
  return { foreignPorts: count === 0n ? undefined : { count, range: range.finish() }, nodeAddresses };
}

export function usageOf(subnet: SubnetState): Usage {
  const { spec } = subnet;
  const pools = new Map<string, Dual<FamilyUsage>>(subnet.pools.slice(1).map((name) => [name, {}]));
  const families: { v4?: FamilyUsage; v6?: FamilyUsage } = {};
  for (const family of [4, 6] as const) {
    const field = family === 4 ? 'v4' : 'v6';
    const space = subnet[field];
    // The Subnet lost a family while addresses were in use: they count until they are released.
    if (spec === undefined || (spec.cidrs[field] === undefined && space.countedOutside === 0)) continue;
    const sorted = space.held.sorted();
    families[field] = {
      ...countsOf(space),
      ...rangesOf(space, family, sorted, space.zones.all.keys(), (zone) => zone === undefined || isOpen(zone), isOpen),
    };
    for (const [index, name] of subnet.pools.entries()) {
      const own = space.zones.ofPool(index);
      if (index === 0 || own.length === 0) continue;
      const usage = {
        ...poolCountsOf(space, index),
        ...rangesOf(space, family, sorted, own, (zone) => zone !== undefined && zone.standing !== 'gateway', isOpen),
      };
      pools.set(name, { ...pools.get(name), [field]: usage });
    }
  }
  return { ...families, pools };
}

/** The sets behind the counts, of the whole Subnet or of one pool. */
export function addressSetsOf(space: Space, pool: number | undefined, pools: number): AddressSets {
  const zones = space.zones.all.filter((zone) => zone.standing !== 'unlisted' && (pool === undefined || zone.pool === pool));
  const all = IntervalSet.of(zones);
  const held = IntervalSet.of(Array.from(space.held.sorted(), single)).intersect(all);
  const available = IntervalSet.of(zones.filter(isOpen)).subtract(held);
  const numbers = pool === undefined ? Array.from({ length: pools }, (_, index) => index) : [pool];
  const freed = IntervalSet.of(numbers.flatMap((number) => space.free.freedOf(number).map(single)));
  return {
    all: moved(all, space),
    reserved: moved(IntervalSet.of(zones.filter((zone) => !isOpen(zone))), space),
    held: moved(held, space),
    available: moved(available, space),
    freed: moved(freed, space),
  };
}

function isOpen(zone: Zone): boolean {
  return zone.standing === 'open';
}

function single(offset: Offset): Interval {
  return { first: BigInt(offset), last: BigInt(offset) };
}

function moved(set: IntervalSet, space: Space): IntervalSet {
  return IntervalSet.of(set.intervals.map(({ first, last }) => ({ first: first + space.origin, last: last + space.origin })));
}

/**
 * One pass over zones and held offsets, both ascending. Held offsets outside of these zones are skipped unless they count.
 * @param zones indices, ascending
 * @param countsAsUsing called with undefined for offsets in no zone
 */
function rangesOf(
  space: Space,
  family: Family,
  sorted: ArrayLike<Offset>,
  zones: Iterable<number>,
  countsAsUsing: (zone: Zone | undefined) => boolean,
  countsAsAvailable: (zone: Zone) => boolean,
): { availableRange: string; usingRange: string } {
  const using = new RangeText(family, space.origin);
  const available = new RangeText(family, space.origin);
  const giveOutside = space.countedOutside > 0 && countsAsUsing(undefined);
  const addCounted = (offset: Offset): void => {
    if (space.isCounted(space.held.find(offset))) using.add(offset, offset);
  };
  let next = 0;
  for (const index of zones) {
    const zone = space.zones.all[index] as Zone;
    const giveUsing = countsAsUsing(zone);
    const giveAvailable = countsAsAvailable(zone);
    const allCounted = space.heldIn(index) === space.countedIn(index);
    const first = space.zones.firstOf(index);
    let from = first;
    if (!giveOutside) next = firstFrom(sorted, next, first);
    for (; next < sorted.length; next++) {
      const offset = sorted[next] as Offset;
      if (!space.zones.reaches(index, offset)) break;
      if (offset < first) {
        addCounted(offset);
        continue;
      }
      if (giveAvailable && offset > from) available.add(from, previousOffset(offset));
      from = nextOffset(offset);
      if (giveUsing && allCounted) using.add(offset, offset);
      else if (giveUsing) addCounted(offset);
    }
    if (giveAvailable && space.zones.reaches(index, from)) available.add(from, space.zones.lastOf(index));
  }
  if (giveOutside) for (; next < sorted.length; next++) addCounted(sorted[next] as Offset);
  return { availableRange: available.finish(), usingRange: using.finish() };
}

/** Index of the first offset, from `from` on, that is not below `least`. */
function firstFrom(sorted: ArrayLike<Offset>, from: number, least: Offset): number {
  if (from >= sorted.length || (sorted[from] as Offset) >= least) return from;
  let low = from + 1;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as Offset) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
