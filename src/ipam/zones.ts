/**
 * The usable addresses of one family of a Subnet, divided into zones: disjoint offset ranges of one pool and one standing. Depends on the
 * Subnet's spec alone, not on holds.
 */

import { IntervalSet } from '../net/interval-set.ts';
import { none } from './none.ts';
import { toOffset } from './offset.ts';
import type { Offset } from './offset.ts';

/**
 * `open`: any request may get it. `excluded`: only a request for exactly this address. `unlisted`: likewise, and it counts as no address of
 * the Subnet. `gateway`: never allocated.
 */
export type Standing = 'open' | 'excluded' | 'unlisted' | 'gateway';

export interface Zone {
  readonly first: bigint;
  readonly last: bigint;
  /** 0 is the default pool; the named pools follow in their order. */
  readonly pool: number;
  readonly standing: Standing;
}

export class Zones {
  readonly all: readonly Zone[];
  /** Bounds as numbers; infinite if only a bigint is exact, which compares correctly with every number offset. */
  readonly #firsts: Float64Array;
  readonly #lasts: Float64Array;
  readonly #bounds: readonly (readonly [Offset, Offset])[];
  /** By pool: indices of its zones, ascending. */
  readonly #pools = new Map<number, number[]>();

  constructor(zones: readonly Zone[]) {
    this.all = zones;
    this.#firsts = Float64Array.from(zones, ({ first }) => approximate(first));
    this.#lasts = Float64Array.from(zones, ({ last }) => approximate(last));
    this.#bounds = zones.map(({ first, last }) => [toOffset(first), toOffset(last)]);
    for (const [index, { pool }] of zones.entries()) {
      const own = this.#pools.get(pool);
      if (own === undefined) this.#pools.set(pool, [index]);
      else own.push(index);
    }
  }

  static readonly empty: Zones = new Zones([]);

  /** Index of an offset's zone, or -1 for an offset outside of the usable addresses. */
  indexOf(offset: Offset): number {
    let low = 0;
    let high = this.all.length;
    if (typeof offset === 'number') {
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((this.#lasts[middle] as number) < offset) low = middle + 1;
        else high = middle;
      }
      return low < this.all.length && (this.#firsts[low] as number) <= offset ? low : none;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.all[middle] as Zone).last < offset) low = middle + 1;
      else high = middle;
    }
    const zone = this.all[low];
    return zone !== undefined && zone.first <= offset ? low : none;
  }

  /** The zone of an offset, or undefined. */
  zoneAt(offset: Offset): Zone | undefined {
    const index = this.indexOf(offset);
    return index === none ? undefined : this.all[index];
  }

  firstOf(index: number): Offset {
    return this.#bounds[index]?.[0] ?? none;
  }

  lastOf(index: number): Offset {
    return this.#bounds[index]?.[1] ?? none;
  }

  /** Whether an offset is not beyond the end of a zone. */
  reaches(index: number, offset: Offset): boolean {
    return typeof offset === 'number' ? offset <= (this.#lasts[index] as number) : offset <= (this.all[index] as Zone).last;
  }

  /** Indices of a pool's zones, ascending. */
  ofPool(pool: number): readonly number[] {
    return this.#pools.get(pool) ?? [];
  }

  /** Number of addresses in a zone. */
  size(index: number): bigint {
    const zone = this.all[index];
    return zone === undefined ? 0n : zone.last - zone.first + 1n;
  }
}

/** Divides `universe`. `named` are disjoint; the gateway is reserved in any pool. What a pool names is listed. */
export function cutZones(
  universe: IntervalSet,
  gateways: IntervalSet,
  excluded: IntervalSet,
  named: readonly IntervalSet[],
  unlisted: IntervalSet,
): Zones {
  const zones: Zone[] = [];
  const add = (pool: number, set: IntervalSet): void => {
    const inside = set.intersect(universe);
    const hidden = pool === 0 ? unlisted.subtract(gateways) : IntervalSet.empty;
    const listed = inside.subtract(gateways).subtract(hidden);
    const parts: [Standing, IntervalSet][] = [
      ['gateway', inside.intersect(gateways)],
      ['unlisted', inside.intersect(hidden)],
      ['excluded', listed.intersect(excluded)],
      ['open', listed.subtract(excluded)],
    ];
    for (const [standing, part] of parts) for (const { first, last } of part.intervals) zones.push({ first, last, pool, standing });
  };
  let rest = universe;
  for (const [index, pool] of named.entries()) {
    add(index + 1, pool);
    rest = rest.subtract(pool);
  }
  add(0, rest);
  zones.sort((a, b) => (a.first < b.first ? -1 : 1));
  return new Zones(zones);
}

function approximate(bound: bigint): number {
  return bound > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(bound);
}
