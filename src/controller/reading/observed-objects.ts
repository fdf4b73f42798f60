/** What is kept of an object that the API server serves, and where it goes in the World: of kinds with rules, and of those only reported on. */
import { TABLES } from '../../kinds/generated/tables.ts';
import type { KindTable } from '../../world/kind-table.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { trimReported } from '../../world/trim.ts';
import type { AnyObservedObject, World } from '../../world/world.ts';
import type { ObservedOnly, UnimplementedKind } from './unimplemented-kinds.ts';
import { brokenRules, UNIMPLEMENTED_KINDS } from './unimplemented-kinds.ts';

const UNIMPLEMENTED: ReadonlyMap<ResourceName, UnimplementedKind> = new Map(UNIMPLEMENTED_KINDS.map((kind) => [kind.resource, kind]));

/** Whether the World has a place for objects of the kind. */
export function isObserved(world: World, resource: ResourceName): boolean {
  return UNIMPLEMENTED.has(resource) || (world.tables[resource] !== undefined && traitsOf(resource).unimplemented === undefined);
}

/** What the cache of a resource keeps of an object. */
export function keptOf(resource: ResourceName): (object: Untrimmed) => unknown {
  const tables: Partial<Record<ResourceName, Pick<KindTable<Pick<Untrimmed, 'metadata'>>, 'trim'>>> = TABLES;
  const trim = tables[resource]?.trim ?? trimReported;
  const unimplemented = UNIMPLEMENTED.get(resource);
  if (unimplemented === undefined) return trim;
  const { feature, kind } = unimplemented;
  return (object) => ({
    ...trim(object),
    feature: feature(object),
    ...(kind === undefined ? {} : { broken: brokenRules(kind, object) }),
  });
}

/** @param kept what `keptOf` made of the object; undefined if it is gone */
export function fileObject(world: World, resource: ResourceName, key: string, kept: unknown): void {
  const table = world.tables[resource];
  const seen = kept as (AnyObservedObject & ObservedOnly) | undefined;
  if (UNIMPLEMENTED.has(resource)) {
    const { unimplemented } = world;
    if (seen?.feature === undefined) unimplemented.delete(`${resource}/${key}`);
    else {
      const { metadata, feature, broken } = seen;
      unimplemented.set(`${resource}/${key}`, {
        resource,
        key,
        uid: metadata.uid,
        feature,
        ...(broken === undefined ? {} : { broken }),
        ...(metadata.deletionTimestamp === undefined ? {} : { terminating: true }),
      });
    }
  }
  if (seen === undefined) table?.delete(key);
  else table?.set(key, seen);
}
