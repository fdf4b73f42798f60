/**
 * Objects in Kubernetes that are left of objects that are gone, such as an IP object without its pod, as entries of the plan of the
 * collection. Pure.
 */
import type { DesiredObjects } from '../compile/desired-objects.ts';
import { unexplainedSince } from '../diff/collection-policy.ts';
import type { World } from '../world/world.ts';
import { splitKey, traitsOf } from '../world/resources.ts';
import type { Collected, PlanSources } from './collection-plan.ts';

export function leftoverObjects(
  world: World,
  desired: Pick<DesiredObjects, 'ids' | 'of'>,
  { ownerExists, policy, hold, now }: PlanSources,
): readonly Collected[] {
  const found: Collected[] = [];
  let ofRows: ReadonlyMap<string, number> | undefined;
  for (const id of desired.ids)
    for (const output of desired.of(id)) {
      if (output.kind !== 'delete' || output.leftOf === undefined) continue;
      const { resource, key, uid, leftOf: owner } = output;
      // The output is about an object of before.
      const metadata = world.tables[resource]?.peek(key)?.metadata;
      if (metadata?.uid !== uid) continue;
      const seen = (ofRows ??= unexplainedOwners(world)).get(owner);
      const since = seen === undefined ? (metadata.deletionTimestamp ?? null) : new Date(seen).toISOString();
      const exists = ownerExists(owner);
      const stays = policy.leftoverStays(id, owner, { now, explained: ownerExists });
      const object = owner.replace('//', '/');
      const reason = exists ? `${object} exists and has no use for it` : `${object} does not exist`;
      const isHeld = !exists && stays === undefined && hold !== undefined;
      found.push({
        fate: stays?.why ?? (isHeld ? 'held' : 'collect'),
        what: 'object',
        ...{ table: traitsOf(resource).kind, name: splitKey(key).name, uuid: uid, owner, uid: '', rule: '', since, madeBy: 'Kiln' },
        why: stays === undefined ? (isHeld ? `${reason}; it waits for kiln gc approve` : reason) : `${reason}; ${stays.text}`,
        within: {},
      });
    }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** By owner: since when a row of it says that nothing explains it. The API server does not tell when an object went that is gone. */
function unexplainedOwners({ rows }: World): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const id of rows.owned)
    for (const { row, ownership } of rows.rowsOf(id)) {
      const since = ownership.kind === 'ours' ? unexplainedSince(row) : undefined;
      if (since === undefined || ownership.kind !== 'ours') continue;
      found.set(ownership.owner, Math.min(since, found.get(ownership.owner) ?? since));
    }
  return found;
}
