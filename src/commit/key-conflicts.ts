/** Keys of shared columns that objects want with different values: reported on all of them, while the oldest one has its value. */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { equal } from '../engine/equal.ts';
import type { RowConflict, World } from '../world/world.ts';
import { rowText, shown } from './found-conflict.ts';

export class KeyConflicts {
  readonly #world: World;
  readonly #desired: DesiredRows;
  /** Of a row, the identities of its conflicts in the World's table. */
  readonly #reported = new Map<RowId, readonly string[]>();

  constructor(world: World, desired: DesiredRows) {
    this.#world = world;
    this.#desired = desired;
  }

  /** The diff has compared members of the row. Cost: one pass over the keys that several rules emit. */
  compared(id: RowId): void {
    const { rowConflicts } = this.#world;
    const found = this.#found(id);
    for (const one of this.#reported.get(id) ?? []) if (!found.has(one)) rowConflicts.delete(one);
    for (const [one, conflict] of found) if (!equal(conflict, rowConflicts.peek(one))) rowConflicts.set(one, conflict);
    if (found.size > 0) this.#reported.set(id, [...found.keys()]);
    else this.#reported.delete(id);
  }

  #found(id: RowId): ReadonlyMap<string, RowConflict> {
    const found = new Map<string, RowConflict>();
    for (const [key, [first, ...others]] of this.#desired.sharedKeys(id)) {
      if (first === undefined) continue;
      const winner = ownerText(first.owner);
      const against = others.filter(({ member }) => member.value !== first.member.value);
      const owners = [...new Set(against.map(({ owner }) => ownerText(owner)))].filter((owner) => owner !== winner);
      if (owners.length === 0) continue;
      const { object, look } = shown(winner);
      const lost = owners.map((owner) => shown(owner).object).join(', ');
      const where = `${first.column} ${JSON.stringify(first.member.key)} of ${rowText(id)}`;
      const message = `${where} is as the older ${object} has it; what ${lost} asks for has no effect; change one of them; ${look}`;
      found.set(`${id}\n${key}`, { owners, winner, message });
    }
    return found;
  }
}
