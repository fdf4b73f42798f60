/**
 * A row that an object wants and cannot have: somebody else's row has its name, an older object claims it, or OVN refused it.
 */
import type { Owner } from '../nb/ownership.ts';
import { ownerText } from '../nb/ownership.ts';
import type { World } from '../world/world.ts';

/** The sentence about the first of them; undefined where there is none. */
export function rowConflictOf(world: World, owner: Owner): string | undefined {
  const [first, ...others] = world.rowConflicts.select('owner', ownerText(owner));
  if (first === undefined) return undefined;
  return others.length === 0 ? first.message : `${first.message} (and ${others.length} more rows)`;
}
