/** The blockers of an object: their number, and the names of the first ones. */
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { DEPENDENCIES } from './dependencies.ts';

/** Limit of names in a message. */
const NAMED = 10;

export interface Blockers {
  readonly count: number;
  /** `<kind> <key>` of the first ten, sorted. */
  readonly names: readonly string[];
}

const NONE: Blockers = { count: 0, names: [] };

/** The blockers of an object. Cost: one pass over its dependents. @param counts whether a blocker counts */
export function blockersOf(
  world: World,
  resource: ResourceName,
  key: string,
  counts: (dependent: ResourceName, key: string) => boolean = () => true,
): Blockers {
  const names: string[] = [];
  let count = 0;
  for (const { on, dependent, dependents, blocks } of DEPENDENCIES) {
    if (on !== resource || blocks === false) continue;
    const first: string[] = [];
    for (const name of dependents(world, key)) {
      if (!counts(dependent, name)) continue;
      count++;
      keepFirst(first, name);
    }
    names.push(...first.map((name) => `${traitsOf(dependent).kind} ${name}`));
  }
  return count === 0 ? NONE : { count, names: names.slice(0, NAMED) };
}

/** Keeps the first ten in order, without sorting all: there may be very many blockers. */
function keepFirst(first: string[], name: string): void {
  if (first.length === NAMED && name >= (first[NAMED - 1] as string)) return;
  const at = first.findIndex((other) => name < other);
  first.splice(at === -1 ? first.length : at, 0, name);
  if (first.length > NAMED) first.pop();
}
