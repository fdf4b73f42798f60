/** All holds: a hold is one holder's use of one offset in a space. Linked by holder and by slot. */

import { grownInt32 } from './columns.ts';
import { none } from './none.ts';

/** Fields of a row. */
const [HOLDER, SPACE, SLOT, NEXT_OF_SLOT, NEXT_OF_HOLDER] = [0, 1, 2, 3, 4];
const rowLength = 5;

export class Holds {
  #rows = new Int32Array(0);
  /** First hold, by holder. */
  #first = new Int32Array(0);
  #length = 0;
  readonly #vacant: number[] = [];

  /** Prepares a holder without holds. */
  admit(holder: number): void {
    if (holder >= this.#first.length) this.#first = grownInt32(this.#first, holder + 1);
    this.#first[holder] = none;
  }

  /** The first hold of a holder, or -1. */
  firstOf(holder: number): number {
    return this.#first[holder] as number;
  }

  nextOfHolder(hold: number): number {
    return this.#rows[hold * rowLength + NEXT_OF_HOLDER] as number;
  }

  nextOfSlot(hold: number): number {
    return this.#rows[hold * rowLength + NEXT_OF_SLOT] as number;
  }

  holderOf(hold: number): number {
    return this.#rows[hold * rowLength + HOLDER] as number;
  }

  spaceOf(hold: number): number {
    return this.#rows[hold * rowLength + SPACE] as number;
  }

  slotOf(hold: number): number {
    return this.#rows[hold * rowLength + SLOT] as number;
  }

  /** Adds a hold before `head`, the first hold of its slot (or -1). Returns the new head. */
  link(holder: number, space: number, slot: number, head: number): number {
    const hold = this.#vacant.pop() ?? this.#length++;
    const row = hold * rowLength;
    if (row + rowLength > this.#rows.length) this.#rows = grownInt32(this.#rows, row + rowLength);
    const rows = this.#rows;
    rows[row + HOLDER] = holder;
    rows[row + SPACE] = space;
    rows[row + SLOT] = slot;
    rows[row + NEXT_OF_SLOT] = head;
    rows[row + NEXT_OF_HOLDER] = this.#first[holder] as number;
    this.#first[holder] = hold;
    return hold;
  }

  /** Removes a hold from both lists. Returns the new head of its slot, -1 if it was the only hold. */
  unlink(hold: number, head: number): number {
    const holder = this.holderOf(hold);
    this.#first[holder] = this.#without(hold, this.#first[holder] as number, NEXT_OF_HOLDER);
    this.#vacant.push(hold);
    return this.#without(hold, head, NEXT_OF_SLOT);
  }

  /** Removes a hold from a list. Returns the first that is left. */
  #without(hold: number, first: number, next: number): number {
    const rows = this.#rows;
    const after = rows[hold * rowLength + next] as number;
    if (first === hold) return after;
    let at = first;
    while (rows[at * rowLength + next] !== hold) at = rows[at * rowLength + next] as number;
    rows[at * rowLength + next] = after;
    return first;
  }
}
