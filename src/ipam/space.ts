/**
 * One family of a Subnet, or its MACs: the held offsets, and their number in each zone. `occupancy.ts` decides what follows when a hold
 * is added or removed.
 */

import type { Family } from '../net/address.ts';
import { grownInt32, grownUint8 } from './columns.ts';
import { FreeAddresses } from './free-addresses.ts';
import { none } from './none.ts';
import { toOffset } from './offset.ts';
import type { Offset } from './offset.ts';
import { OffsetTable } from './offset-table.ts';
import type { OverlappingPool, SubnetSpec } from './subnet-spec.ts';
import { Zones } from './zones.ts';

export type SpaceKind = Family | 'mac';

/** A Subnet in the ledger. Without a spec the Subnet does not exist (yet, or any longer), but holders have addresses in it. */
export interface SubnetState {
  readonly name: string;
  spec: SubnetSpec | undefined;
  /** Names of the pools in effect, by number: '' is the default pool. */
  pools: readonly string[];
  overlappingPools: readonly OverlappingPool[];
  gatewayMacs: ReadonlySet<number>;
  readonly v4: Space;
  readonly v6: Space;
  readonly mac: Space;
  /** Number of claimants with a hold, without foreign ports. */
  claimants: number;
}

export class Space {
  readonly id: number;
  readonly kind: SpaceKind;
  #origin = 0n;
  /** The origin as a number, for IPv4. */
  #start = 0;
  zones: Zones = Zones.empty;
  readonly held = new OffsetTable();
  readonly free: FreeAddresses;
  /** Slots with conflicting claimants, or with a claimant and the gateway. */
  readonly conflicted = new Set<number>();
  #firstHold = new Int32Array(0);
  #counted = new Uint8Array(0);
  #heldInZone = new Float64Array(0);
  #countedInZone = new Float64Array(0);
  #countedOutside = 0;

  constructor(id: number, kind: SpaceKind, remember: number) {
    this.id = id;
    this.kind = kind;
    this.free = new FreeAddresses(remember);
  }

  /** The address at offset 0. */
  get origin(): bigint {
    return this.#origin;
  }

  /** The address (or the MAC) at an offset. */
  valueAt(offset: Offset): bigint {
    return this.kind === 4 && typeof offset === 'number' ? BigInt(this.#start + offset) : this.#origin + BigInt(offset);
  }

  /** The offset of an address. */
  offsetOf(value: bigint): Offset {
    return this.kind === 4 ? Number(value) - this.#start : toOffset(value - this.#origin);
  }

  /** Replaces origin and zones. All holds remain. */
  recut(origin: bigint, zones: Zones, pools: number): void {
    const shift = this.#origin - origin;
    if (shift !== 0n) this.held.shift(shift);
    this.#origin = origin;
    this.#start = Number(origin);
    this.zones = zones;
    this.free.recut(zones, pools, shift);
    this.#heldInZone = new Float64Array(zones.all.length);
    this.#countedInZone = new Float64Array(zones.all.length);
    this.#countedOutside = 0;
    for (const slot of this.held.slots()) {
      const offset = this.held.at(slot);
      const zone = zones.indexOf(offset);
      if (zone !== none) this.#heldInZone[zone] = this.heldIn(zone) + 1;
      if (this.#counted[slot] === 1) this.#addCounted(zone, 1);
    }
  }

  /** Adds a held offset, counted as in use or not. Returns its slot, which has no hold yet. */
  occupy(offset: Offset, counted: boolean): number {
    const slot = this.held.add(offset);
    if (slot >= this.#firstHold.length) {
      this.#firstHold = grownInt32(this.#firstHold, slot + 1);
      this.#counted = grownUint8(this.#counted, this.#firstHold.length);
    }
    this.#firstHold[slot] = none;
    this.#counted[slot] = counted ? 1 : 0;
    this.free.take(offset);
    const zone = this.zones.indexOf(offset);
    if (zone !== none) this.#heldInZone[zone] = this.heldIn(zone) + 1;
    if (counted) this.#addCounted(zone, 1);
    return slot;
  }

  /** Frees the offset of a slot without holds. */
  vacate(slot: number): void {
    const offset = this.held.at(slot);
    const index = this.zones.indexOf(offset);
    this.held.remove(slot);
    if (this.conflicted.size > 0) this.conflicted.delete(slot);
    if (this.#counted[slot] === 1) this.#addCounted(index, -1);
    if (index === none) return;
    this.#heldInZone[index] = this.heldIn(index) - 1;
    const zone = this.zones.all[index];
    if (zone?.standing === 'open') this.free.release(offset, zone.pool);
  }

  /** Sets whether a held offset counts as in use. */
  count(slot: number, counted: boolean): void {
    if ((this.#counted[slot] === 1) === counted) return;
    this.#counted[slot] = counted ? 1 : 0;
    this.#addCounted(this.zones.indexOf(this.held.at(slot)), counted ? 1 : -1);
  }

  isCounted(slot: number): boolean {
    return this.#counted[slot] === 1;
  }

  firstHold(slot: number): number {
    return this.#firstHold[slot] as number;
  }

  setFirstHold(slot: number, hold: number): void {
    this.#firstHold[slot] = hold;
  }

  heldIn(zone: number): number {
    return this.#heldInZone[zone] ?? 0;
  }

  countedIn(zone: number): number {
    return this.#countedInZone[zone] ?? 0;
  }

  /** Number of held addresses outside of the usable ones: the CIDR was narrowed. */
  get countedOutside(): number {
    return this.#countedOutside;
  }

  #addCounted(zone: number, by: 1 | -1): void {
    if (zone === none) this.#countedOutside += by;
    else this.#countedInZone[zone] = this.countedIn(zone) + by;
  }
}
