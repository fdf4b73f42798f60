/** Finds the IPPools of a Subnet by address. The pools do not overlap, so each look-up is a binary search. */
import type { Family } from '../../net/address.ts';
import { IntervalSet } from '../../net/interval-set.ts';
import type { Interval } from '../../net/interval-set.ts';
import type { AddressRange } from '../../net/range.ts';
import { parseRangeOrCidr } from '../../net/range.ts';

interface Held extends Interval {
  readonly pool: string;
}

/** The addresses of a pool by family; unreadable items have none. */
export type PoolAddresses = Readonly<Record<Family, IntervalSet>>;

export function poolAddresses(items: readonly string[]): PoolAddresses {
  const ranges = items.flatMap((item) => parseRangeOrCidr(item) ?? []);
  const of = (family: Family): IntervalSet => IntervalSet.of(ranges.filter((range) => range.family === family));
  return { 4: of(4), 6: of(6) };
}

export class PoolRanges {
  /** Ascending and disjoint. */
  readonly #held: Record<Family, Held[]> = { 4: [], 6: [] };

  /** Adds a pool that does not overlap with those already added. */
  add(pool: string, addresses: PoolAddresses): void {
    for (const family of [4, 6] as const)
      for (const { first, last } of addresses[family].intervals)
        this.#held[family].splice(this.#from(family, first), 0, { first, last, pool });
  }

  /** Names of the pools that overlap with the range, each once, in the order of their addresses. */
  meeting({ family, first, last }: AddressRange): readonly string[] {
    const names = new Set<string>();
    for (let i = this.#from(family, first); ; i += 1) {
      const held = this.#held[family][i];
      if (held === undefined || held.first > last) return [...names];
      names.add(held.pool);
    }
  }

  /** Index of the first range that ends at the address or after it. */
  #from(family: Family, address: bigint): number {
    const held = this.#held[family];
    let [low, high] = [0, held.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((held[middle]?.last ?? 0n) < address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
