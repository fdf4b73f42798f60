/**
 * Which address a pool allocates next: never-used ones ascending, then freed ones, longest unused first.
 *
 * A cursor marks the never-used addresses: every address below it was held, freed or reserved, so no search visits it twice. Freed
 * addresses are in a queue per pool. If the queue has more than `remember` addresses, the longest unused one comes before never-used ones,
 * so that memory is bounded in a large Subnet with much churn.
 */

import { grownInt32 } from './columns.ts';
import { none } from './none.ts';
import type { Offset } from './offset.ts';
import { nextOffset } from './offset.ts';
import { OffsetTable } from './offset-table.ts';
import { Zones } from './zones.ts';

interface PoolState {
  /** Indices of its open zones. */
  readonly zones: readonly number[];
  /** Index into `zones`, and the next offset to try in that zone. */
  zone: number;
  cursor: Offset | undefined;
  oldest: number;
  newest: number;
  freed: number;
}

export class FreeAddresses {
  readonly #remember: number;
  #zones: Zones = Zones.empty;
  #pools: PoolState[] = [];
  readonly #freed = new OffsetTable();
  #older = new Int32Array(0);
  #newer = new Int32Array(0);
  /** Increases with each freed address. Keeps the order across queues when pools are cut again. */
  #order: number[] = [];
  #count = 0;

  constructor(remember: number) {
    this.#remember = remember;
  }

  /** Replaces the zones. Freed addresses keep their order; those that no pool may allocate any longer are dropped. */
  recut(zones: Zones, pools: number, shift: bigint): void {
    if (shift !== 0n) this.#freed.shift(shift);
    const slots = [...this.#freed.slots()].sort((a, b) => (this.#order[a] ?? 0) - (this.#order[b] ?? 0));
    this.#zones = zones;
    this.#pools = [];
    for (let pool = 0; pool < pools; pool++) {
      const open = zones.all.flatMap((zone, index) => (zone.pool === pool && zone.standing === 'open' ? [index] : []));
      this.#pools.push({ zones: open, zone: 0, cursor: undefined, oldest: none, newest: none, freed: 0 });
    }
    for (const slot of slots) {
      const zone = zones.zoneAt(this.#freed.at(slot));
      if (zone?.standing === 'open') this.#append(zone.pool, slot);
      else this.#freed.remove(slot);
    }
  }

  /** An address of an open zone of the pool becomes free. */
  release(offset: Offset, pool: number): void {
    const slot = this.#freed.add(offset);
    if (slot >= this.#older.length) {
      this.#older = grownInt32(this.#older, slot + 1);
      this.#newer = grownInt32(this.#newer, this.#older.length);
    }
    this.#order[slot] = ++this.#count;
    this.#append(pool, slot);
  }

  /** An address becomes held. */
  take(offset: Offset): void {
    if (this.#freed.size === 0) return;
    const slot = this.#freed.find(offset);
    if (slot === none) return;
    const zone = this.#zones.zoneAt(offset);
    const pool = zone === undefined ? undefined : this.#pools[zone.pool];
    if (pool !== undefined) {
      const older = this.#older[slot] as number;
      const newer = this.#newer[slot] as number;
      if (older === none) pool.oldest = newer;
      else this.#newer[older] = newer;
      if (newer === none) pool.newest = older;
      else this.#older[newer] = older;
      pool.freed--;
    }
    this.#freed.remove(slot);
  }

  /** The next offset of a pool, or undefined. Does not allocate it. */
  next(pool: number, held: OffsetTable, skip: ReadonlySet<Offset> | undefined): Offset | undefined {
    const state = this.#pools[pool];
    if (state === undefined) return undefined;
    if (state.freed > this.#remember) return this.#nextFreed(state, skip) ?? this.#nextFresh(state, held, skip);
    return this.#nextFresh(state, held, skip) ?? this.#nextFreed(state, skip);
  }

  /** Freed addresses of a pool, longest unused first. */
  freedOf(pool: number): Offset[] {
    const result: Offset[] = [];
    for (let slot = this.#pools[pool]?.oldest ?? none; slot !== none; slot = this.#newer[slot] as number) result.push(this.#freed.at(slot));
    return result;
  }

  #append(pool: number, slot: number): void {
    const state = this.#pools[pool];
    if (state === undefined) return;
    this.#older[slot] = state.newest;
    this.#newer[slot] = none;
    if (state.newest === none) state.oldest = slot;
    else this.#newer[state.newest] = slot;
    state.newest = slot;
    state.freed++;
  }

  #nextFreed(state: PoolState, skip: ReadonlySet<Offset> | undefined): Offset | undefined {
    for (let slot = state.oldest; slot !== none; slot = this.#newer[slot] as number) {
      const offset = this.#freed.at(slot);
      if (skip === undefined || !skip.has(offset)) return offset;
    }
    return undefined;
  }

  #nextFresh(state: PoolState, held: OffsetTable, skip: ReadonlySet<Offset> | undefined): Offset | undefined {
    const freed = this.#freed;
    let movesCursor = true;
    let { zone, cursor } = state;
    for (; zone < state.zones.length; zone++, cursor = undefined) {
      const index = state.zones[zone] as number;
      for (let offset = cursor ?? this.#zones.firstOf(index); this.#zones.reaches(index, offset); offset = nextOffset(offset)) {
        if (held.find(offset) !== none || (freed.size > 0 && freed.find(offset) !== none)) continue;
        if (movesCursor) {
          state.zone = zone;
          state.cursor = offset;
        }
        if (skip === undefined || !skip.has(offset)) return offset;
        // Another request may accept what this one skips: the cursor stays before it.
        movesCursor = false;
      }
    }
    if (movesCursor) {
      state.zone = state.zones.length;
      state.cursor = undefined;
    }
    return undefined;
  }
}
