/** One line of the table of dependencies. */
import type { ResourceName } from '../world/resources.ts';
import type { World } from '../world/world.ts';

/** Objects of one kind (the holders) depend on an object of another (the held one). */
export interface Dependency {
  readonly held: ResourceName;
  readonly holder: ResourceName;
  /** Keys of the holders, by an index of the World. Live or not: one that terminates holds until it is gone. */
  readonly holders: (world: World, key: string) => Iterable<string>;
  /** The way back: keys of what a holder holds. */
  readonly holds: (world: World, key: string) => Iterable<string>;
  /** False where the object goes all the same, and its dependents report that in their conditions. */
  readonly blocks?: false;
}
