/**
 * The table of dependencies: which objects block the deletion of another one, and which merely depend on it. Deletion, its conditions, the
 * webhook and `kiln explain` read it. Each kind has its lines, with the look-ups in both directions, in part `dependencies` of its record.
 */
import { DEPENDENCIES_OF_KINDS } from '../kinds/generated/dependencies.ts';
import type { ResourceName } from '../world/resources.ts';
import type { Dependency } from './dependency.ts';
import { isInUse } from './in-use.ts';

const ALL: readonly Dependency[] = Object.values<readonly Dependency[]>(DEPENDENCIES_OF_KINDS).flat();

/** Those that block come first. */
export const DEPENDENCIES: readonly Dependency[] = [
  ...ALL.filter(({ blocks }) => blocks !== false),
  ...ALL.filter(({ blocks }) => blocks === false),
];

/** Kinds that can have blockers. */
export const BLOCKED_RESOURCES: readonly ResourceName[] = [
  ...new Set(DEPENDENCIES.filter(({ blocks }) => blocks !== false).map(({ on }) => on)),
];

isInUse.define((world, id) => {
  const at = id.indexOf('/');
  const [resource, key] = [id.slice(0, at), id.slice(at + 1)];
  return DEPENDENCIES.some(({ on, blocks, dependents }) => on === resource && blocks !== false && world.set(dependents, key).count > 0);
});
