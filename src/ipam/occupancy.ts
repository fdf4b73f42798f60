/**
 * Attaches holders to offsets, and maintains what follows: which offsets are in use, which are in conflict, and how many claimants a Subnet
 * has.
 */

import type { Holder } from './holder.ts';
import { Holders } from './holders.ts';
import { Holds } from './holds.ts';
import { none } from './none.ts';
import { compareOffsets } from './offset.ts';
import type { Offset } from './offset.ts';
import type { Space, SubnetState } from './space.ts';

export interface OccupancyOptions {
  /**
   * Called when an address or MAC of a Subnet gets or loses a claimant, and when the Subnet itself changes: requests that failed there may
   * have another answer now. It must not call the ledger.
   */
  readonly onChanged?: (subnet: string) => void;
  /**
   * Called with the conflicting claimants of an address or MAC when a hold on it is added or removed: another claimant may have precedence
   * now. It must not call the ledger.
   */
  readonly onContested?: (claimants: readonly string[]) => void;
}

export class Occupancy {
  readonly holders = new Holders();
  readonly holds = new Holds();
  /** Subnets with a changed spec or changed holders, until `takeChanged`. */
  readonly changed = new Set<SubnetState>();
  readonly #spaces: (Space | undefined)[] = [];
  readonly #subnets: (SubnetState | undefined)[] = [];
  readonly #vacantSpaces: number[] = [];
  readonly #options: OccupancyOptions;

  constructor(options: OccupancyOptions) {
    this.#options = options;
  }

  specChanged(subnet: SubnetState): void {
    this.changed.add(subnet);
    this.#options.onChanged?.(subnet.name);
  }

  /** Whether a claimant has an address or a MAC of the Subnet. */
  hasIn(subnet: SubnetState, claimant: string): boolean {
    const { holders, holds } = this;
    const name = holders.findName(claimant);
    if (name === none) return false;
    for (let holder = holders.firstOfClaimant(name); holder !== none; holder = holders.nextOfClaimant(holder))
      for (let hold = holds.firstOf(holder); hold !== none; hold = holds.nextOfHolder(hold))
        if (this.subnetOf(hold) === subnet) return true;
    return false;
  }

  /** Allocates the id of a new space. `unregister` frees it. */
  reserveSpaceId(): number {
    return this.#vacantSpaces.pop() ?? this.#spaces.push(undefined) - 1;
  }

  register(space: Space, subnet: SubnetState): void {
    this.#spaces[space.id] = space;
    this.#subnets[space.id] = subnet;
  }

  /** Removes a space without holds. */
  unregister(space: Space): void {
    this.#spaces[space.id] = undefined;
    this.#subnets[space.id] = undefined;
    this.#vacantSpaces.push(space.id);
  }

  spaceOf(hold: number): Space {
    return this.#spaces[this.holds.spaceOf(hold)] as Space;
  }

  subnetOf(hold: number): SubnetState {
    return this.#subnets[this.holds.spaceOf(hold)] as SubnetState;
  }

  /** Adds or updates a holder and returns its number; `claimant` is the number of its claimant, or -1. */
  enrol(holder: Holder, claimant: number): number {
    const key = holder.key === holder.claimant ? claimant : this.holders.findName(holder.key);
    const known = this.holders.findByName(holder.kind, key);
    if (known === none) {
      const id = this.holders.add(holder, claimant, key);
      this.holds.admit(id);
      return id;
    }
    if (!this.holders.declares(known, holder)) this.#redeclare(known, holder);
    return known;
  }

  /** Adds a hold of the holder on the offset. Idempotent. */
  attach(holder: number, subnet: SubnetState, space: Space, offset: Offset): void {
    const { holds } = this;
    const known = space.held.find(offset);
    if (known !== none && this.holdOn(holder, space, known) !== none) return;
    const counts = !this.holders.isPassive(holder);
    if (counts && !this.#isIn(subnet, this.holders.claimantOf(holder))) subnet.claimants++;
    this.changed.add(subnet);
    const slot = known === none ? space.occupy(offset, counts) : known;
    const isNew = known === none || this.#matters(space.firstHold(slot), holder);
    space.setFirstHold(slot, holds.link(holder, space.id, slot, space.firstHold(slot)));
    if (known !== none) this.evaluate(subnet, space, slot);
    else if (counts && this.isGateway(subnet, space, slot)) space.conflicted.add(slot);
    if (isNew) this.#options.onChanged?.(subnet.name);
  }

  /** Removes a hold. Keeps the holder, even if this was its last hold. */
  detach(hold: number): void {
    const { holds } = this;
    const space = this.spaceOf(hold);
    const subnet = this.subnetOf(hold);
    const slot = holds.slotOf(hold);
    const holder = holds.holderOf(hold);
    const head = holds.unlink(hold, space.firstHold(slot));
    space.setFirstHold(slot, head);
    this.changed.add(subnet);
    if (!this.holders.isPassive(holder) && !this.#isIn(subnet, this.holders.claimantOf(holder))) subnet.claimants--;
    if (head === none) space.vacate(slot);
    else this.evaluate(subnet, space, slot);
    if (head === none || this.#matters(head, holder)) this.#options.onChanged?.(subnet.name);
  }

  /** Whether failed requests may have another answer with or without this holder, beside the others of a slot. */
  #matters(head: number, holder: number): boolean {
    if (this.holders.sharingGroup(holder) !== undefined) return true;
    const claimant = this.holders.claimantOf(holder);
    for (let hold = head; hold !== none; hold = this.holds.nextOfSlot(hold))
      if (this.holders.claimantOf(this.holds.holderOf(hold)) === claimant) return false;
    return true;
  }

  /** Removes the holds of a holder that match the predicate, ascending; removes the holder if none is left. */
  detachWhere(holder: number, goes: (hold: number) => boolean): void {
    const { holds } = this;
    const going: number[] = [];
    for (let hold = holds.firstOf(holder); hold !== none; hold = holds.nextOfHolder(hold)) if (goes(hold)) going.push(hold);
    if (going.length > 1) going.sort((a, b) => compareOffsets(this.offsetOf(a), this.offsetOf(b)));
    for (const hold of going) this.detach(hold);
    if (holds.firstOf(holder) === none) this.holders.remove(holder);
  }

  offsetOf(hold: number): Offset {
    return this.spaceOf(hold).held.at(this.holds.slotOf(hold));
  }

  /** The hold of that holder on a slot, or -1. */
  holdOn(holder: number, space: Space, slot: number): number {
    for (let hold = space.firstHold(slot); hold !== none; hold = this.holds.nextOfSlot(hold)) {
      if (this.holds.holderOf(hold) === holder) return hold;
    }
    return none;
  }

  /** The holders of a slot: lowest rank first, then by claimant, kind and key. */
  holdersAt(space: Space, slot: number): Holder[] {
    const holders: Holder[] = [];
    for (let hold = space.firstHold(slot); hold !== none; hold = this.holds.nextOfSlot(hold))
      holders.push(this.holders.describe(this.holds.holderOf(hold)));
    return holders.sort(compareHolders);
  }

  /** Computes again whether a slot is in use and in conflict. */
  evaluate(subnet: SubnetState, space: Space, slot: number): void {
    const { holders, holds } = this;
    let counted = false;
    let several = false;
    const head = space.firstHold(slot);
    const claimant = holders.claimantOf(holds.holderOf(head));
    for (let hold = head; hold !== none; hold = holds.nextOfSlot(hold)) {
      const holder = holds.holderOf(hold);
      counted ||= !holders.isPassive(holder);
      several ||= holders.claimantOf(holder) !== claimant;
    }
    space.count(slot, counted);
    const contested = several && !this.#isShared(head);
    if (contested) this.#options.onContested?.([...new Set(this.holdersAt(space, slot).map((one) => one.claimant))]);
    if (contested || (counted && this.isGateway(subnet, space, slot))) space.conflicted.add(slot);
    else if (space.conflicted.size > 0) space.conflicted.delete(slot);
  }

  /** Whether a claimant with this sharing group may have a slot together with its present claimants. */
  admits(space: Space, slot: number, claimant: number, sharingGroup: string | undefined): boolean {
    const others = this.sharesByClaimant(space.firstHold(slot));
    others.delete(claimant);
    return others.size === 0 || (sharingGroup !== undefined && [...others.values()].every((groups) => groups.has(sharingGroup)));
  }

  /** The groups that each claimant of a slot declares, by claimant. */
  sharesByClaimant(head: number): Map<number, Set<string>> {
    const result = new Map<number, Set<string>>();
    for (let hold = head; hold !== none; hold = this.holds.nextOfSlot(hold)) {
      const holder = this.holds.holderOf(hold);
      const claimant = this.holders.claimantOf(holder);
      const groups = result.get(claimant) ?? new Set();
      const sharingGroup = this.holders.sharingGroup(holder);
      if (sharingGroup !== undefined) groups.add(sharingGroup);
      result.set(claimant, groups);
    }
    return result;
  }

  #isShared(head: number): boolean {
    const [first, ...others] = this.sharesByClaimant(head).values();
    return first !== undefined && [...first].some((group) => others.every((groups) => groups.has(group)));
  }

  /** Whether the gateway has the offset of a slot. */
  isGateway(subnet: SubnetState, space: Space, slot: number): boolean {
    const offset = space.held.at(slot);
    if (space.kind === 'mac') return subnet.gatewayMacs.size > 0 && subnet.gatewayMacs.has(Number(offset));
    return space.zones.zoneAt(offset)?.standing === 'gateway';
  }

  /** Whether a claimant has a hold in the Subnet that is not of a passive holder. */
  #isIn(subnet: SubnetState, claimant: number): boolean {
    const { holders, holds } = this;
    for (let holder = holders.firstOfClaimant(claimant); holder !== none; holder = holders.nextOfClaimant(holder)) {
      if (holders.isPassive(holder)) continue;
      for (let hold = holds.firstOf(holder); hold !== none; hold = holds.nextOfHolder(hold)) {
        if (this.#subnets[holds.spaceOf(hold)] === subnet) return true;
      }
    }
    return false;
  }

  #redeclare(holder: number, declared: Holder): void {
    const { holders, holds } = this;
    const before = holders.describe(holder);
    const subnets = new Set<SubnetState>();
    for (let hold = holds.firstOf(holder); hold !== none; hold = holds.nextOfHolder(hold)) subnets.add(this.subnetOf(hold));
    const present = (subnet: SubnetState): number => {
      const names = new Set([before.claimant, declared.claimant]);
      return [...names].filter((text) => {
        const name = holders.findName(text);
        return name !== none && this.#isIn(subnet, name);
      }).length;
    };
    const counts = new Map([...subnets].map((subnet) => [subnet, present(subnet)]));
    holders.redeclare(holder, declared);
    for (const [subnet, count] of counts) {
      subnet.claimants += present(subnet) - count;
      this.changed.add(subnet);
    }
    const isOther = before.claimant !== declared.claimant || before.sharingGroup !== declared.sharingGroup;
    for (let hold = holds.firstOf(holder); hold !== none; hold = holds.nextOfHolder(hold)) {
      const [subnet, space] = [this.subnetOf(hold), this.spaceOf(hold)];
      this.evaluate(subnet, space, holds.slotOf(hold));
      // A request that failed because of the old claimant may have this claimant now, or may share with it.
      if (isOther) this.#options.onChanged?.(subnet.name);
    }
  }
}

export function compareHolders(a: Holder, b: Holder): number {
  const rank = (a.rank ?? Number.POSITIVE_INFINITY) - (b.rank ?? Number.POSITIVE_INFINITY);
  if (rank !== 0 && !Number.isNaN(rank)) return rank;
  return compareTexts(a.claimant, b.claimant) || compareTexts(a.kind, b.kind) || compareTexts(a.key, b.key);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
