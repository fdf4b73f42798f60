/**
 * The graph of what holds what as trees around one object: upwards what it holds, downwards what holds it.
 */
import type { Dependency } from '../blockers/dependency.ts';
import { DEPENDENCIES } from '../blockers/dependencies.ts';
import { isAddressResource } from '../world/address-objects.ts';
import { heldTexts } from '../world/claimants.ts';
import type { ResourceName } from '../world/resources.ts';
import { splitKey, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { typedName } from './kind-names.ts';
import type { ObjectState } from './object-state.ts';
import { stateOf } from './object-state.ts';

/** What is drawn of an object, of whatever kind. */
export interface DrawnObject {
  /** As a person types its kind. */
  readonly type: string;
  readonly kind: string;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
  /** Undefined where it is named and does not exist. */
  readonly uid: string | undefined;
  readonly created: string | undefined;
  /** Addresses it has. */
  readonly addresses: readonly string[];
  readonly state: ObjectState;
  readonly children: readonly DrawnObject[];
  /** Children that were left out. */
  readonly more: number;
}

/** An object in a tree of what holds what. */
export interface TreeObject extends DrawnObject {
  readonly resource: ResourceName;
  /** False where the object above goes although this one depends on it. */
  readonly blocks: boolean;
  readonly children: readonly TreeObject[];
}

export interface TreeLimits {
  /** Children of one object at most. */
  readonly children: number;
}

const GONE: ObjectState = { ready: '-', reason: 'NotFound', message: '', since: '' };
/** Deeper than any chain of kinds: a guard against kinds that would hold each other. */
const DEEPEST = 8;

/** What holds an object, and what holds that: the order in which they have to go is from the leaves. */
export function holdersOf(world: World, resource: ResourceName, key: string, limits: TreeLimits, depth = 0): Branches {
  const lines = DEPENDENCIES.filter(({ on, blocks }) => on === resource && (depth === 0 || blocks !== false));
  return branches(world, lines, limits, depth, (line) => ({ resource: line.dependent, keys: line.dependents(world, key) }), holdersOf);
}

/** What an object holds, and what that holds. */
export function heldOf(world: World, resource: ResourceName, key: string, limits: TreeLimits, depth = 0): Branches {
  const lines = DEPENDENCIES.filter(({ dependent, blocks }) => dependent === resource && (depth === 0 || blocks !== false));
  return branches(world, lines, limits, depth, (line) => ({ resource: line.on, keys: line.dependsOn(world, key) }), heldOf);
}

export interface Branches {
  readonly objects: readonly TreeObject[];
  readonly more: number;
}

function branches(
  world: World,
  lines: readonly Dependency[],
  limits: TreeLimits,
  depth: number,
  neighbours: (line: Dependency) => { readonly resource: ResourceName; readonly keys: Iterable<string> },
  follow: (world: World, resource: ResourceName, key: string, limits: TreeLimits, depth: number) => Branches,
): Branches {
  if (depth >= DEEPEST) return { objects: [], more: 0 };
  const objects: TreeObject[] = [];
  let more = 0;
  for (const line of lines) {
    const { resource, keys } = neighbours(line);
    const sorted = [...keys].filter((key) => key !== '').toSorted();
    for (const key of sorted.slice(0, limits.children)) {
      const below = line.blocks === false ? { objects: [], more: 0 } : follow(world, resource, key, limits, depth + 1);
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
    addresses: addressesOf(world, resource, key),
    state: object === undefined ? GONE : stateOf(resource, object),
    blocks: true,
    children: [],
    more: 0,
  };
}

function addressesOf(world: World, resource: ResourceName, key: string): readonly string[] {
  if (resource === 'subnets') return [world.subnets.peek(key)?.spec.cidrBlock ?? ''].filter((text) => text !== '');
  if (isAddressResource(resource)) {
    const { v4 = '', v6 = '' } = world.addressObject(resource, key)?.held ?? {};
    return [v4, v6].filter((text) => text !== '');
  }
  const ip = resource === 'ips' ? world.ips.peek(key) : undefined;
  return ip === undefined ? [] : heldTexts(ip);
}
