/**
 * A set of offsets. Each has a small integer (its slot) that is stable while the offset is a member; callers have their own columns by
 * slot. Open addressing over typed arrays: 8 bytes for the offset and about 8 for the index, where a Map of objects takes a hundred.
 * Offsets beyond the safe integers are in a separate Map.
 */

import { grownFloat64 } from './columns.ts';
import type { Offset } from './offset.ts';
import { compareOffsets, toOffset } from './offset.ts';
import { sortNumbers } from './sort-numbers.ts';

export class OffsetTable {
  /** Slot + 1 by hash position; 0 is vacant. The length is a power of two, at least 4/3 of the members. */
  #index = new Int32Array(16);
  /** NaN at a vacant slot and at the slot of a bigint. */
  #offsets = new Float64Array(0);
  #slots = 0;
  #vacant: number[] = [];
  #numbers = 0;
  readonly #big = new Map<bigint, number>();
  readonly #bigBySlot = new Map<number, bigint>();

  get size(): number {
    return this.#numbers + this.#big.size;
  }

  /** The slot of a member, or -1. */
  find(offset: Offset): number {
    if (typeof offset === 'bigint') return this.#big.get(offset) ?? -1;
    const mask = this.#index.length - 1;
    for (let at = hash(offset) & mask; ; at = (at + 1) & mask) {
      const entry = this.#index[at] as number;
      if (entry === 0) return -1;
      if (this.#offsets[entry - 1] === offset) return entry - 1;
    }
  }

  /** Adds a new offset and returns its slot. */
  add(offset: Offset): number {
    const slot = this.#vacant.pop() ?? this.#slots++;
    if (slot >= this.#offsets.length) this.#offsets = grownFloat64(this.#offsets, slot + 1);
    if (typeof offset === 'bigint') {
      this.#offsets[slot] = Number.NaN;
      this.#big.set(offset, slot);
      this.#bigBySlot.set(slot, offset);
      return slot;
    }
    this.#offsets[slot] = offset;
    this.#numbers++;
    if (4 * this.#numbers > 3 * this.#index.length) this.#reindex(2 * this.#index.length);
    else this.#place(offset, slot);
    return slot;
  }

  remove(slot: number): void {
    const offset = this.at(slot);
    this.#vacant.push(slot);
    if (typeof offset === 'bigint') {
      this.#big.delete(offset);
      this.#bigBySlot.delete(slot);
      return;
    }
    this.#numbers--;
    this.#displace(offset, slot);
    this.#offsets[slot] = Number.NaN;
  }

  /** The offset at the slot of a member. */
  at(slot: number): Offset {
    const offset = this.#offsets[slot] as number;
    return Number.isNaN(offset) ? (this.#bigBySlot.get(slot) ?? Number.NaN) : offset;
  }

  /** Slots of all members, in order of slot. */
  *slots(): Generator<number> {
    for (let slot = 0; slot < this.#slots; slot++) {
      if (!Number.isNaN(this.#offsets[slot]) || this.#bigBySlot.has(slot)) yield slot;
    }
  }

  /** All members, ascending. Sorts unless they were added in order. */
  sorted(): ArrayLike<Offset> {
    const numbers = new Float64Array(this.#numbers);
    let count = 0;
    let ascending = true;
    for (let slot = 0; slot < this.#slots; slot++) {
      const offset = this.#offsets[slot] as number;
      if (Number.isNaN(offset)) continue;
      ascending &&= count === 0 || (numbers[count - 1] as number) < offset;
      numbers[count++] = offset;
    }
    if (!ascending) sortNumbers(numbers);
    if (this.#big.size === 0) return numbers;
    return [...numbers, ...this.#big.keys()].toSorted(compareOffsets);
  }

  /** Moves the origin: every member grows by `delta` and keeps its slot. */
  shift(delta: bigint): void {
    const members: [number, bigint][] = [];
    for (const slot of this.slots()) members.push([slot, BigInt(this.at(slot)) + delta]);
    this.#big.clear();
    this.#bigBySlot.clear();
    this.#numbers = 0;
    for (const [slot, value] of members) {
      const offset = toOffset(value);
      if (typeof offset === 'bigint') {
        this.#offsets[slot] = Number.NaN;
        this.#big.set(offset, slot);
        this.#bigBySlot.set(slot, offset);
      } else {
        this.#offsets[slot] = offset;
        this.#numbers++;
      }
    }
    let length = 16;
    while (4 * this.#numbers > 3 * length) length *= 2;
    this.#reindex(length);
  }

  #place(offset: number, slot: number): void {
    const mask = this.#index.length - 1;
    let at = hash(offset) & mask;
    while (this.#index[at] !== 0) at = (at + 1) & mask;
    this.#index[at] = slot + 1;
  }

  /** Removes the entry and moves back the entries that were probed past it. */
  #displace(offset: number, slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let hole = hash(offset) & mask;
    while (index[hole] !== slot + 1) hole = (hole + 1) & mask;
    for (let at = (hole + 1) & mask; ; at = (at + 1) & mask) {
      const entry = index[at] as number;
      if (entry === 0) break;
      const home = hash(this.#offsets[entry - 1] as number) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      index[hole] = entry;
      hole = at;
    }
    index[hole] = 0;
  }

  #reindex(length: number): void {
    this.#index = new Int32Array(length);
    for (let slot = 0; slot < this.#slots; slot++) {
      const offset = this.#offsets[slot] as number;
      if (!Number.isNaN(offset)) this.#place(offset, slot);
    }
  }
}

/** Mixes both halves of a 53-bit number, so that consecutive numbers and multiples of a power of two spread alike. */
function hash(offset: number): number {
  let mixed = Math.imul((offset | 0) ^ Math.imul((offset / 0x1_0000_0000) | 0, 0x85ebca6b), 0x9e3779b1);
  mixed ^= mixed >>> 15;
  return mixed;
}
