/**
 * Every hold there is: a holder has an offset of a space. One table for holders, one for holds, one for claimants, each in columns;
 * holds are chained by holder and by slot, holders by claimant.
 */

import { grownFloat64, grownInt32, grownUint8 } from './columns.ts';
import type { Holder, HolderKind } from './holder.ts';

export const none = -1;

const kinds: readonly HolderKind[] = ['ip', 'pod', 'reservation', 'row', 'vip', 'eip', 'node', 'service'];
const kindIds = new Map(kinds.map((kind, id) => [kind, id]));
const serviceKind = kinds.indexOf('service');

export class Holds {
  readonly #byKey: readonly Map<string, number>[] = kinds.map(() => new Map());
  readonly #keys: string[] = [];
  #kind = new Uint8Array(0);
  #claimant = new Int32Array(0);
  #nextOfClaimant = new Int32Array(0);
  #firstHold = new Int32Array(0);
  #rank = new Float64Array(0);
  readonly #share = new Map<number, string>();
  readonly #vacantHolders: number[] = [];

  readonly #claimants = new Map<string, number>();
  readonly #names: string[] = [];
  #firstHolder = new Int32Array(0);
  readonly #vacantClaimants: number[] = [];

  #holder = new Int32Array(0);
  #space = new Int32Array(0);
  #slot = new Int32Array(0);
  #nextOfSlot = new Int32Array(0);
  #nextOfHolder = new Int32Array(0);
  #holds = 0;
  readonly #vacantHolds: number[] = [];

  /** The holder of that kind and key, or -1. */
  find(kind: HolderKind, key: string): number {
    return this.#byKey[kindIds.get(kind) as number]?.get(key) ?? none;
  }

  /** A holder with no hold yet. Who looked its claimant up before says what was found, -1 included. */
  addHolder(holder: Holder, claimant: number = this.findClaimant(holder.claimant)): number {
    const id = this.#vacantHolders.pop() ?? this.#keys.length;
    if (id >= this.#kind.length) {
      this.#kind = grownUint8(this.#kind, id + 1);
      this.#claimant = grownInt32(this.#claimant, this.#kind.length);
      this.#nextOfClaimant = grownInt32(this.#nextOfClaimant, this.#kind.length);
      this.#firstHold = grownInt32(this.#firstHold, this.#kind.length);
      this.#rank = grownFloat64(this.#rank, this.#kind.length);
    }
    const kind = kindIds.get(holder.kind) as number;
    this.#byKey[kind]?.set(holder.key, id);
    this.#keys[id] = holder.key;
    this.#kind[id] = kind;
    this.#firstHold[id] = none;
    this.#declare(id, holder);
    this.#joinClaimant(id, holder.claimant, claimant);
    return id;
  }

  /** True where a known holder declares just that. */
  declares(id: number, { claimant, share, rank }: Holder): boolean {
    return (
      this.#names[this.#claimant[id] as number] === claimant &&
      this.share(id) === share &&
      this.#rank[id] === (rank ?? Number.POSITIVE_INFINITY)
    );
  }

  /** A known holder now declares another claimant, group or rank. */
  redeclare(id: number, holder: Holder): void {
    this.#declare(id, holder);
    if (this.#names[this.#claimant[id] as number] === holder.claimant) return;
    this.#leaveClaimant(id);
    this.#joinClaimant(id, holder.claimant, this.findClaimant(holder.claimant));
  }

  /** Forgets a holder that has no hold. */
  removeHolder(id: number): void {
    this.#byKey[this.#kind[id] as number]?.delete(this.#keys[id] as string);
    this.#keys[id] = '';
    this.#share.delete(id);
    this.#leaveClaimant(id);
    this.#vacantHolders.push(id);
  }

  describe(id: number): Holder {
    const share = this.#share.get(id);
    const rank = this.#rank[id] as number;
    return {
      kind: kinds[this.#kind[id] as number] as HolderKind,
      key: this.#keys[id] as string,
      claimant: this.#names[this.#claimant[id] as number] as string,
      ...(share === undefined ? {} : { share }),
      ...(Number.isFinite(rank) ? { rank } : {}),
    };
  }

  isService(id: number): boolean {
    return this.#kind[id] === serviceKind;
  }

  share(id: number): string | undefined {
    return this.#share.size === 0 ? undefined : this.#share.get(id);
  }

  rank(id: number): number {
    return this.#rank[id] as number;
  }

  claimantOf(id: number): number {
    return this.#claimant[id] as number;
  }

  claimantName(claimant: number): string {
    return this.#names[claimant] as string;
  }

  /** The claimant of that name, or -1. */
  findClaimant(name: string): number {
    return this.#claimants.get(name) ?? none;
  }

  firstHolderOf(claimant: number): number {
    return this.#firstHolder[claimant] as number;
  }

  nextHolderOfClaimant(id: number): number {
    return this.#nextOfClaimant[id] as number;
  }

  firstHoldOf(id: number): number {
    return this.#firstHold[id] as number;
  }

  nextOfHolder(hold: number): number {
    return this.#nextOfHolder[hold] as number;
  }

  nextOfSlot(hold: number): number {
    return this.#nextOfSlot[hold] as number;
  }

  holderOf(hold: number): number {
    return this.#holder[hold] as number;
  }

  spaceOf(hold: number): number {
    return this.#space[hold] as number;
  }

  slotOf(hold: number): number {
    return this.#slot[hold] as number;
  }

  /** Adds a hold before `head`, the first of its slot (or -1); the new head. */
  link(holder: number, space: number, slot: number, head: number): number {
    const hold = this.#vacantHolds.pop() ?? this.#holds++;
    if (hold >= this.#holder.length) {
      this.#holder = grownInt32(this.#holder, hold + 1);
      this.#space = grownInt32(this.#space, this.#holder.length);
      this.#slot = grownInt32(this.#slot, this.#holder.length);
      this.#nextOfSlot = grownInt32(this.#nextOfSlot, this.#holder.length);
      this.#nextOfHolder = grownInt32(this.#nextOfHolder, this.#holder.length);
    }
    this.#holder[hold] = holder;
    this.#space[hold] = space;
    this.#slot[hold] = slot;
    this.#nextOfSlot[hold] = head;
    this.#nextOfHolder[hold] = this.#firstHold[holder] as number;
    this.#firstHold[holder] = hold;
    return hold;
  }

  /** Takes a hold out of both chains; the new head of its slot, -1 where it was the only one. */
  unlink(hold: number, head: number): number {
    const holder = this.#holder[hold] as number;
    this.#firstHold[holder] = without(this.#nextOfHolder, this.#firstHold[holder] as number, hold);
    this.#vacantHolds.push(hold);
    return without(this.#nextOfSlot, head, hold);
  }

  #declare(id: number, holder: Holder): void {
    this.#rank[id] = holder.rank ?? Number.POSITIVE_INFINITY;
    if (holder.share !== undefined) this.#share.set(id, holder.share);
    else if (this.#share.size > 0) this.#share.delete(id);
  }

  #joinClaimant(id: number, name: string, known: number): void {
    let claimant = known;
    if (claimant === none) {
      claimant = this.#vacantClaimants.pop() ?? this.#names.length;
      if (claimant >= this.#firstHolder.length) this.#firstHolder = grownInt32(this.#firstHolder, claimant + 1);
      this.#claimants.set(name, claimant);
      this.#names[claimant] = name;
      this.#firstHolder[claimant] = none;
    }
    this.#claimant[id] = claimant;
    this.#nextOfClaimant[id] = this.#firstHolder[claimant] as number;
    this.#firstHolder[claimant] = id;
  }

  #leaveClaimant(id: number): void {
    const claimant = this.#claimant[id] as number;
    const first = without(this.#nextOfClaimant, this.#firstHolder[claimant] as number, id);
    this.#firstHolder[claimant] = first;
    if (first !== none) return;
    this.#claimants.delete(this.#names[claimant] as string);
    this.#names[claimant] = '';
    this.#vacantClaimants.push(claimant);
  }
}

/** Takes one element out of a chain; the first that is left. */
function without(next: Int32Array, first: number, element: number): number {
  const after = next[element] as number;
  if (first === element) return after;
  let at = first;
  while (next[at] !== element) at = next[at] as number;
  next[at] = after;
  return first;
}
