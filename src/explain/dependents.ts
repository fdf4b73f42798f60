/**
 * The dependency graph as trees around one object: upwards its dependencies, downwards its dependents.
 */
import type { Dependency } from '../blockers/dependency.ts';
import { DEPENDENCIES } from '../blockers/dependencies.ts';
import type { ResourceName } from '../world/resources.ts';
import { splitKey, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { typedName } from './kind-names.ts';
import type { NamedObjects } from './kind-words.ts';
import type { ObjectState } from './object-state.ts';
import { stateOf } from './object-state.ts';
import { wordsOf } from './words.ts';

/** What a tree shows of an object. */
export interface DrawnObject {
  /** The kind as typed in commands, such as `subnet`. */
  readonly type: string;
  readonly kind: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  /** Undefined if the object does not exist. */
  readonly uid: string | undefined;
  readonly created: string | undefined;
  /** Its addresses or networks. */
  readonly addresses: readonly string[];
  readonly state: ObjectState;
  readonly children: readonly DrawnObject[];
  /** Number of children beyond the limit. */
  readonly more: number;
}

/** An object in a tree of dependencies. */
export interface TreeObject extends DrawnObject {
  readonly resource: ResourceName;
  /** False if this dependency does not block the deletion of the object above. */
  readonly blocks: boolean;
  readonly children: readonly TreeObject[];
}

export interface TreeLimits {
  /** Most children of one object. */
  readonly children: number;
}

const GONE: ObjectState = { ready: '-', reason: 'NotFound', message: '', since: '' };
/** Deeper than any chain of kinds. */
const DEEPEST = 8;

/** The dependents of an object, with theirs. */
export function dependentsOf(world: World, resource: ResourceName, key: string, limits: TreeLimits, above: Above = []): Branches {
  const lines = DEPENDENCIES.filter(({ on, blocks }) => on === resource && (above.length === 0 || blocks !== false));
  return branches(
    world,
    lines,
    limits,
    [...above, `${resource} ${key}`],
    (line) => ({ resource: line.dependent, keys: world.set(line.dependents, key).all() }),
    dependentsOf,
  );
}

/** The dependencies of an object, with theirs. */
export function dependenciesOf(world: World, resource: ResourceName, key: string, limits: TreeLimits, above: Above = []): Branches {
  const lines = DEPENDENCIES.filter(({ dependent, blocks }) => dependent === resource && (above.length === 0 || blocks !== false));
  const way = [...above, `${resource} ${key}`];
  return branches(world, lines, limits, way, (line) => ({ resource: line.on, keys: line.dependsOn(world, key) }), dependenciesOf);
}

/** The objects on the way from the root, as `<resource> <key>`. */
type Above = readonly string[];

export interface Branches {
  readonly objects: readonly TreeObject[];
  readonly more: number;
}

function branches(
  world: World,
  lines: readonly Dependency[],
  limits: TreeLimits,
  /** With the object itself. */
  way: Above,
  neighbours: (line: Dependency) => { readonly resource: ResourceName; readonly keys: Iterable<string> },
  follow: (world: World, resource: ResourceName, key: string, limits: TreeLimits, above: Above) => Branches,
): Branches {
  if (way.length > DEEPEST) return { objects: [], more: 0 };
  const objects: TreeObject[] = [];
  let more = 0;
  for (const line of lines) {
    const { resource, keys } = neighbours(line);
    const sorted = [...keys].filter((key) => key !== '').toSorted();
    for (const key of sorted.slice(0, limits.children)) {
      // A circle ends at the object that closes it.
      const ends = line.blocks === false || way.includes(`${resource} ${key}`);
      const below = ends ? { objects: [], more: 0 } : follow(world, resource, key, limits, way);
      objects.push({ ...treeObject(world, resource, key), blocks: line.blocks !== false, children: below.objects, more: below.more });
    }
    more += Math.max(sorted.length - limits.children, 0);
  }
  return { objects, more };
}

export function treeObject(world: World, resource: ResourceName, key: string): TreeObject {
  const object = world.tables[resource]?.peek(key);
  return {
    resource,
    type: typedName(resource),
    kind: traitsOf(resource).kind,
    ...splitKey(key),
    uid: object?.metadata.uid,
    created: object?.metadata.creationTimestamp,
    addresses: wordsOf(resource).addresses?.(world, key) ?? [],
    state: object === undefined ? GONE : stateOf(resource, object),
    blocks: true,
    children: [],
    more: 0,
  };
}

/** Objects with their dependents, which are no blockers here. */
export function branchesOf(world: World, { resource, keys }: NamedObjects, limits: TreeLimits): Branches {
  const objects = keys.slice(0, limits.children).map((key) => {
    const { objects: children, more } = dependentsOf(world, resource, key, limits);
    return { ...treeObject(world, resource, key), blocks: false, children, more };
  });
  return { objects, more: keys.length - objects.length };
}
