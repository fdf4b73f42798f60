/**
 * All holders, by number; found by kind and key, or by claimant. Keys and claimants share one name table: a reservation, whose key is its
 * claimant, costs one lookup instead of two.
 */

import { grownFloat64, grownInt32 } from './columns.ts';
import type { Holder, HolderKind } from './holder.ts';
import { isPassive } from './holder.ts';
import { Names } from './names.ts';
import { none } from './none.ts';

const kinds: readonly HolderKind[] = ['ip', 'pod', 'reservation', 'row', 'vip', 'eip', 'node', 'foreign-port', 'node-address'];
const kindIds = new Map(kinds.map((kind, id) => [kind, id]));
const passive = kinds.map(isPassive);

/** Fields of a row. The fields that one call reads are in one cache line. */
const [KEY_AND_KIND, NEXT_OF_KEY, CLAIMANT, NEXT_OF_CLAIMANT] = [0, 1, 2, 3];
const rowLength = 4;
/** KEY_AND_KIND has the kind in its lowest bits and the number of the name above them. */
const kindBits = 4;
const kindMask = (1 << kindBits) - 1;
/** Fields of a name: the first holder with that key, and the first holder of that claimant. */
const [FIRST_OF_KEY, FIRST_OF_CLAIMANT] = [0, 1];
const nameLength = 2;

export class Holders {
  readonly #names = new Names();
  #byName = new Int32Array(0);
  #rows = new Int32Array(0);
  #rank = new Float64Array(0);
  #length = 0;
  readonly #sharingGroup = new Map<number, string>();
  readonly #vacant: number[] = [];

  /** The number of a claimant or key, or -1. A number does not mean that a holder has this name. */
  findName(text: string): number {
    return this.#names.find(text);
  }

  nameText(name: number): string {
    return this.#names.text(name);
  }

  /** The holder of that kind and key, or -1. */
  find(kind: HolderKind, key: string): number {
    return this.findByName(kind, this.#names.find(key));
  }

  /** As `find`, by the number of the key, which may be -1. */
  findByName(kind: HolderKind, key: number): number {
    if (key === none) return none;
    const kindId = kindIds.get(kind) as number;
    let id = this.#byName[key * nameLength + FIRST_OF_KEY] as number;
    while (id !== none && this.#kindOf(id) !== kindId) id = this.#rows[id * rowLength + NEXT_OF_KEY] as number;
    return id;
  }

  /** Adds a new holder; `claimant` and `key` are the results of `findName` for its texts. */
  add(holder: Holder, claimant: number, key: number): number {
    const id = this.#vacant.pop() ?? this.#length++;
    if (id >= this.#rank.length) {
      this.#rank = grownFloat64(this.#rank, id + 1);
      this.#rows = grownInt32(this.#rows, this.#rank.length * rowLength);
    }
    const claimantName = claimant === none ? this.#addName(holder.claimant) : claimant;
    const keyName = key !== none ? key : holder.key === holder.claimant ? claimantName : this.#addName(holder.key);
    const row = id * rowLength;
    this.#rows[row + KEY_AND_KIND] = (keyName << kindBits) | (kindIds.get(holder.kind) as number);
    this.#push(id, NEXT_OF_KEY, keyName, FIRST_OF_KEY);
    this.#rows[row + CLAIMANT] = claimantName;
    this.#push(id, NEXT_OF_CLAIMANT, claimantName, FIRST_OF_CLAIMANT);
    this.#declare(id, holder);
    return id;
  }

  /** Removes a holder. The caller has removed all its holds. */
  remove(id: number): void {
    const key = this.#keyOf(id);
    const claimant = this.claimantOf(id);
    this.#pull(id, NEXT_OF_KEY, key, FIRST_OF_KEY);
    this.#pull(id, NEXT_OF_CLAIMANT, claimant, FIRST_OF_CLAIMANT);
    this.#dropName(key);
    if (claimant !== key) this.#dropName(claimant);
    if (this.#sharingGroup.size > 0) this.#sharingGroup.delete(id);
    this.#vacant.push(id);
  }

  /** Whether a known holder declares exactly this. */
  declares(id: number, { claimant, sharingGroup, rank }: Holder): boolean {
    return (
      this.#names.text(this.claimantOf(id)) === claimant &&
      this.sharingGroup(id) === sharingGroup &&
      this.#rank[id] === (rank ?? Number.POSITIVE_INFINITY)
    );
  }

  /** A known holder declares another claimant, group or rank. */
  redeclare(id: number, holder: Holder): void {
    this.#declare(id, holder);
    const before = this.claimantOf(id);
    if (this.#names.text(before) === holder.claimant) return;
    this.#pull(id, NEXT_OF_CLAIMANT, before, FIRST_OF_CLAIMANT);
    this.#dropName(before);
    const known = this.#names.find(holder.claimant);
    const claimant = known === none ? this.#addName(holder.claimant) : known;
    this.#rows[id * rowLength + CLAIMANT] = claimant;
    this.#push(id, NEXT_OF_CLAIMANT, claimant, FIRST_OF_CLAIMANT);
  }

  describe(id: number): Holder {
    const sharingGroup = this.sharingGroup(id);
    const rank = this.#rank[id] as number;
    return {
      kind: kinds[this.#kindOf(id)] as HolderKind,
      key: this.#names.text(this.#keyOf(id)),
      claimant: this.#names.text(this.claimantOf(id)),
      ...(sharingGroup === undefined ? {} : { sharingGroup }),
      ...(Number.isFinite(rank) ? { rank } : {}),
    };
  }

  isPassive(id: number): boolean {
    return passive[this.#kindOf(id)] === true;
  }

  sharingGroup(id: number): string | undefined {
    return this.#sharingGroup.size === 0 ? undefined : this.#sharingGroup.get(id);
  }

  claimantOf(id: number): number {
    return this.#rows[id * rowLength + CLAIMANT] as number;
  }

  /** The first holder of a claimant; -1 if no claimant has this name. */
  firstOfClaimant(claimant: number): number {
    return this.#byName[claimant * nameLength + FIRST_OF_CLAIMANT] as number;
  }

  nextOfClaimant(id: number): number {
    return this.#rows[id * rowLength + NEXT_OF_CLAIMANT] as number;
  }

  #kindOf(id: number): number {
    return (this.#rows[id * rowLength + KEY_AND_KIND] as number) & kindMask;
  }

  #keyOf(id: number): number {
    return (this.#rows[id * rowLength + KEY_AND_KIND] as number) >>> kindBits;
  }

  #declare(id: number, holder: Holder): void {
    this.#rank[id] = holder.rank ?? Number.POSITIVE_INFINITY;
    if (holder.sharingGroup !== undefined) this.#sharingGroup.set(id, holder.sharingGroup);
    else if (this.#sharingGroup.size > 0) this.#sharingGroup.delete(id);
  }

  #addName(text: string): number {
    const name = this.#names.add(text);
    const at = name * nameLength;
    if (at + nameLength > this.#byName.length) this.#byName = grownInt32(this.#byName, at + nameLength);
    this.#byName[at + FIRST_OF_KEY] = none;
    this.#byName[at + FIRST_OF_CLAIMANT] = none;
    return name;
  }

  #dropName(name: number): void {
    const at = name * nameLength;
    if (this.#byName[at + FIRST_OF_KEY] === none && this.#byName[at + FIRST_OF_CLAIMANT] === none) this.#names.remove(name);
  }

  #push(id: number, next: number, name: number, first: number): void {
    const at = name * nameLength + first;
    this.#rows[id * rowLength + next] = this.#byName[at] as number;
    this.#byName[at] = id;
  }

  #pull(id: number, next: number, name: number, first: number): void {
    const rows = this.#rows;
    const at = name * nameLength + first;
    const after = rows[id * rowLength + next] as number;
    let before = this.#byName[at] as number;
    if (before === id) {
      this.#byName[at] = after;
      return;
    }
    while (rows[before * rowLength + next] !== id) before = rows[before * rowLength + next] as number;
    rows[before * rowLength + next] = after;
  }
}
