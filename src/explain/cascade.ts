/**
 * The plan of `kiln delete --cascade`: all dependents of an object, leaves first, and the effect on workloads.
 */
import type { OwnerReference } from '../api/kubernetes/meta.ts';
import { DEPENDENCIES } from '../blockers/dependencies.ts';
import type { FreeingEdit } from '../blockers/dependency.ts';
import { recreationSentence } from '../blockers/sentences.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { isReserved, isRetained } from '../world/claimants.ts';
import type { TreeObject } from './dependents.ts';
import { treeObject } from './dependents.ts';
import { wordsOf } from './words.ts';

/** Pods of one owner, which creates them again. */
export interface OwnedPods {
  readonly owner: OwnerReference;
  readonly namespace: string;
  readonly pods: readonly string[];
}

export interface Cascade {
  /** All objects to delete, each after its dependents; the object itself is last. */
  readonly steps: readonly TreeObject[];
  readonly owned: readonly OwnedPods[];
  /** Pods without an owner: no controller creates them again. */
  readonly loose: readonly string[];
  /** Reserved or retained addresses. */
  readonly retainedAddresses: readonly string[];
  /** Namespaces bound to the Subnets: they stay, and get another Subnet. */
  readonly namespaces: readonly string[];
  /** IPPools of the Subnets: they stay, without a Subnet. */
  readonly pools: readonly string[];
  /** Number of Northbound rows owned by these objects; 0 if the database was not read. */
  readonly rows: number;
  /** Why the cascade is not possible, as sentences. */
  readonly obstacles: readonly string[];
}

export function cascadeOf(world: World, resource: ResourceName, key: string): Cascade {
  const steps: TreeObject[] = [];
  const seen = new Set<string>();
  const again = recreationSentence(world.settings, resource, key);
  const obstacles = again === undefined ? [] : [again];
  const visit = (at: ResourceName, name: string): void => {
    const id = `${at}/${name}`;
    if (seen.has(id)) return;
    seen.add(id);
    for (const { on, dependent, blocks, dependents, freedBy } of DEPENDENCIES) {
      if (on !== at || blocks === false) continue;
      for (const by of world.set(dependents, name).all().toSorted()) {
        if (freedBy !== undefined) obstacles.push(editText(freedBy(world, by, name)));
        else if (wordsOf(dependent).neverDeleted === true)
          obstacles.push(
            `${traitsOf(dependent).kind} ${by} uses ${traitsOf(at).kind} ${name}, and kiln deletes no ${traitsOf(dependent).plural}`,
          );
        else visit(dependent, by);
      }
    }
    const step = treeObject(world, at, name);
    if (step.uid !== undefined) steps.push(step);
  };
  visit(resource, key);
  return {
    steps,
    obstacles,
    ...workloads(world, steps),
    retainedAddresses: retainedAddresses(world, steps),
    namespaces: namespacesServed(world, steps),
    pools: steps.flatMap(({ resource, name }) => (resource === 'subnets' ? [...world.ipPools.bucket('subnet', name)].toSorted() : [])),
    rows: rowsOf(world, steps),
  };
}

function editText({ sentence, command }: FreeingEdit): string {
  return `${sentence}, and this command edits no other object: ${command}`;
}

function workloads(world: World, steps: readonly TreeObject[]): Pick<Cascade, 'owned' | 'loose'> {
  const owned = new Map<string, { owner: OwnerReference; namespace: string; pods: string[] }>();
  const loose: string[] = [];
  for (const step of steps) {
    if (step.resource !== 'pods') continue;
    const pod = keyOf({ metadata: step });
    const owner = world.pods.peek(pod)?.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner === undefined) loose.push(pod);
    else {
      const group = owned.get(owner.uid) ?? { owner, namespace: step.namespace, pods: [] };
      group.pods.push(pod);
      owned.set(owner.uid, group);
    }
  }
  return { owned: [...owned.values()], loose };
}

function namespacesServed(world: World, steps: readonly TreeObject[]): string[] {
  const served = steps.flatMap(({ resource, name }) => (resource === 'subnets' ? (world.subnets.peek(name)?.spec.namespaces ?? []) : []));
  return [...new Set(served)].filter((name) => world.namespaces.peek(name) !== undefined).toSorted();
}

function rowsOf(world: World, steps: readonly TreeObject[]): number {
  const owner = ({ kind, namespace, name }: TreeObject): string => `${kind.toLowerCase()}/${namespace}/${name}`;
  return steps.reduce((sum, step) => sum + world.rows.ownedBy(owner(step)).size, 0);
}

function retainedAddresses(world: World, steps: readonly TreeObject[]): string[] {
  return steps.flatMap(({ resource, name }) => {
    const ip = resource === 'ips' ? world.ips.peek(name) : undefined;
    if (ip === undefined || !(isReserved(ip) || isRetained(ip.spec.podType))) return [];
    return [`IP ${name} (${isReserved(ip) ? 'reserved' : `of a ${ip.spec.podType ?? ''}`})`];
  });
}
