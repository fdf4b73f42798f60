/** One line of the table of dependencies: objects of one kind (the dependents) depend on an object of another kind. */
import type { ResourceName } from '../world/resources.ts';
import type { SetDefinition } from '../engine/sets/set-definition.ts';
import type { World } from '../world/world.ts';

export interface Dependency {
  /** Kind of the object that the dependents need. */
  readonly on: ResourceName;
  readonly dependent: ResourceName;
  /** The dependents of an object, by the object's key. One that is being deleted counts until it is gone. */
  readonly dependents: SetDefinition<World>;
  /** The inverse: keys of the objects that a dependent needs. */
  readonly dependsOn: (world: World, key: string) => Iterable<string>;
  /** False if the dependents do not keep the object from being deleted; they report its absence in their conditions. */
  readonly blocks?: false;
  /** For a dependent that only asks for the other object: the edit after which it needs that no longer. Nothing deletes such a dependent for it. */
  readonly freedBy?: (world: World, dependent: string, on: string) => FreeingEdit;
}

export interface FreeingEdit {
  /** What asks for the object, and when that ends. */
  readonly sentence: string;
  readonly command: string;
}
