/** What keeps an object from being deleted: how many objects, and the names of the first of them. */
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { DEPENDENCIES } from './dependencies.ts';

/** Longest list of names that a sentence gives. */
const NAMED = 10;

export interface Blockers {
  readonly count: number;
  /** `<kind> <key>` of the first ten, sorted. */
  readonly names: readonly string[];
}

const NONE: Blockers = { count: 0, names: [] };

/** What keeps an object from going. @param counts leaves some of it out */
export function blockersOf(
  world: World,
  resource: ResourceName,
  key: string,
  counts: (holder: ResourceName, key: string) => boolean = () => true,
): Blockers {
  const names: string[] = [];
  let count = 0;
  for (const { held, holder, holders, blocks } of DEPENDENCIES) {
    if (held !== resource || blocks === false) continue;
    const first: string[] = [];
    for (const name of holders(world, key)) {
      if (!counts(holder, name)) continue;
      count++;
      keepFirst(first, name);
    }
    names.push(...first.map((name) => `${traitsOf(holder).kind} ${name}`));
  }
  return count === 0 ? NONE : { count, names: names.slice(0, NAMED) };
}

/** Keeps the first ten in order; holders may be very many, so they are not all sorted. */
function keepFirst(first: string[], name: string): void {
  if (first.length === NAMED && name >= (first[NAMED - 1] as string)) return;
  const at = first.findIndex((other) => name < other);
  first.splice(at === -1 ? first.length : at, 0, name);
  if (first.length > NAMED) first.pop();
}
