/** The blockers of an object: their number, and the names of the first ones. */
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { DEPENDENCIES } from './dependencies.ts';
import type { Dependency, FreeingEdit } from './dependency.ts';

/** The most names in a message. */
const NAMED = 10;

export interface Blockers {
  readonly count: number;
  /** `<kind> <key>` of the first ten, sorted. */
  readonly names: readonly string[];
  /** What frees the object without a deletion: edits of objects that ask for those that are named. */
  readonly edits: readonly FreeingEdit[];
}

export const NO_BLOCKERS: Blockers = { count: 0, names: [], edits: [] };
/** The most edits in a message. */
const EDITS = 3;

/** The blockers of an object. The reader runs again when their number changes. Cost: constant, however many there are. */
export function blockersOf(world: World, resource: ResourceName, key: string): Blockers {
  const found: Found[] = [];
  let count = 0;
  for (const line of blockingLines(resource)) {
    const set = world.set(line.dependents, key);
    count += set.count;
    if (found.length < NAMED) found.push(...set.first(NAMED - found.length).map((name) => ({ line, name })));
  }
  return blockersFound(world, key, count, found);
}

/** The blockers for which `counts` is true. Cost: one pass over all blockers. */
export function blockersAmong(
  world: World,
  resource: ResourceName,
  key: string,
  counts: (dependent: ResourceName, key: string) => boolean,
): Blockers {
  const found: Found[] = [];
  let count = 0;
  for (const line of blockingLines(resource)) {
    const first: string[] = [];
    for (const name of world.set(line.dependents, key).all()) {
      if (!counts(line.dependent, name)) continue;
      count++;
      keepFirst(first, name);
    }
    found.push(...first.map((name) => ({ line, name })));
  }
  return blockersFound(world, key, count, found.slice(0, NAMED));
}

interface Found {
  readonly line: Dependency;
  readonly name: string;
}

function blockersFound(world: World, key: string, count: number, found: readonly Found[]): Blockers {
  if (count === 0) return NO_BLOCKERS;
  const edits = found.flatMap(({ line, name }) => editsBehind(world, line, name, key)).slice(0, EDITS);
  return { count, names: found.map(({ line, name }) => `${traitsOf(line.dependent).kind} ${name}`), edits };
}

/** The edit that frees an object of a blocker, or the blocker of what only asks for it. */
function editsBehind(world: World, line: Dependency, name: string, key: string): readonly FreeingEdit[] {
  if (line.freedBy !== undefined) return [line.freedBy(world, name, key)];
  return blockingLines(line.dependent).flatMap(({ dependents, freedBy }) =>
    freedBy === undefined
      ? []
      : world
          .set(dependents, name)
          .first(1)
          .map((by) => freedBy(world, by, name)),
  );
}

function blockingLines(resource: ResourceName): readonly Dependency[] {
  return DEPENDENCIES.filter(({ on, blocks }) => on === resource && blocks !== false);
}

/** Keeps the first ten in order, without sorting all: there may be very many blockers. */
function keepFirst(first: string[], name: string): void {
  if (first.length === NAMED && name >= (first[NAMED - 1] as string)) return;
  const at = first.findIndex((other) => name < other);
  first.splice(at === -1 ? first.length : at, 0, name);
  if (first.length > NAMED) first.pop();
}
