/** What the collection of a cluster would do, from what a fresh controller has read. */
import { resourceOfOwner } from '../../controller/reading/row-owners.ts';
import type { FreshController } from '../../controller/fresh-controller.ts';
import { CollectionPolicy } from '../../diff/collection-policy.ts';
import type { Collected, PlanSources } from '../../explain/collection-plan.ts';
import { collectionPlan } from '../../explain/collection-plan.ts';
import { leftoverEntries } from '../../explain/leftover-entries.ts';
import { leftoverKeys } from '../../explain/leftover-keys.ts';
import { leftoverObjects } from '../../explain/leftover-objects.ts';
import { clusterObject } from '../../world/built-in.ts';
import { conditionsOf } from '../../world/conditions.ts';

/** The plan as it is now; a hold is as the leader reports it on the default Vpc. */
export function planOf({ world, desired }: FreshController): readonly Collected[] {
  const { resource, key } = clusterObject(world.settings);
  const cluster = world.tables[resource]?.peek(key);
  const held = cluster === undefined ? undefined : conditionsOf(resource, cluster).find(({ type }) => type === 'CollectionHeld');
  const sources: PlanSources = {
    ownerExists: (owner) => {
      const object = resourceOfOwner(owner);
      return object !== undefined && world.tables[object.resource]?.peek(object.key) !== undefined;
    },
    policy: new CollectionPolicy(world, true),
    hold: held?.status === 'True' ? held.message : undefined,
    now: Date.now(),
  };
  return [
    ...collectionPlan(world, desired.rows, sources),
    ...leftoverEntries(world, desired.rows, sources),
    ...leftoverObjects(world, desired.objects, sources),
    ...leftoverKeys(world, desired.objects, sources),
  ];
}
