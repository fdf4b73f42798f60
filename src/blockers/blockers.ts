/** The blockers of an object: their number, and the names of the first ones. */
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { DEPENDENCIES } from './dependencies.ts';

/** The most names in a message. */
const NAMED = 10;

export interface Blockers {
  readonly count: number;
  /** `<kind> <key>` of the first ten, sorted. */
  readonly names: readonly string[];
}

const NONE: Blockers = { count: 0, names: [] };

/** The blockers of an object. The reader runs again when their number changes. Cost: constant, however many there are. */
export function blockersOf(world: World, resource: ResourceName, key: string): Blockers {
  const names: string[] = [];
  let count = 0;
  for (const { on, dependent, dependents, blocks } of DEPENDENCIES) {
    if (on !== resource || blocks === false) continue;
    const set = world.set(dependents, key);
    count += set.count;
    if (names.length < NAMED) names.push(...set.first(NAMED - names.length).map((name) => `${traitsOf(dependent).kind} ${name}`));
  }
  return count === 0 ? NONE : { count, names };
}

/** The blockers for which `counts` is true. Cost: one pass over all blockers. */
export function blockersAmong(
  world: World,
  resource: ResourceName,
  key: string,
  counts: (dependent: ResourceName, key: string) => boolean,
): Blockers {
  const names: string[] = [];
  let count = 0;
  for (const { on, dependent, dependents, blocks } of DEPENDENCIES) {
    if (on !== resource || blocks === false) continue;
    const first: string[] = [];
    for (const name of world.set(dependents, key).all()) {
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
