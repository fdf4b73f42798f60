/** Every hold there is: a holder has an offset of a space. Chained by holder and by slot. */

import { grownInt32 } from './columns.ts';
import { none } from './none.ts';

/** Fields of a row. */
const [HOLDER, SPACE, SLOT, NEXT_OF_SLOT, NEXT_OF_HOLDER] = [0, 1, 2, 3, 4];
const rowLength = 5;

export class Holds {
  #rows = new Int32Array(0);
  /** By holder. */
  #first = new Int32Array(0);
  #length = 0;
  readonly #vacant: number[] = [];

  /** A holder with no hold yet. */
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

  /** Adds a hold before `head`, the first of its slot (or -1); the new head. */
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

  /** Takes a hold out of both chains; the new head of its slot, -1 where it was the only one. */
  unlink(hold: number, head: number): number {
    const holder = this.holderOf(hold);
    this.#first[holder] = this.#without(hold, this.#first[holder] as number, NEXT_OF_HOLDER);
    this.#vacant.push(hold);
    return this.#without(hold, head, NEXT_OF_SLOT);
  }

  /** Takes one out of a chain; the first that is left. */
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
