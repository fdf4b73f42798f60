/** Something that is to be deleted while others use it. Those who are on their way out themselves are not in the way. */
import { blockersOf, refusedDeletionSentence } from '../blockers/graph.ts';
import { DELETION_BLOCKED } from '../compile/deletion.ts';
import type { ResourceName } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { ipStays } from './taken-addresses.ts';
import type { Observed, Opinion } from './opinion.ts';
import { forbidden, NO_OPINION } from './opinion.ts';

export function deletionAsked(resource: ResourceName, key: string, { world, complete }: Observed): Opinion {
  if (!complete) return NO_OPINION;
  const blockers = blockersOf(world, resource, key, (holder, name) => stays(world, holder, name));
  if (blockers.count === 0) return NO_OPINION;
  const message = refusedDeletionSentence(resource, key, blockers);
  return { objections: [forbidden({ reason: DELETION_BLOCKED, message })], warnings: [] };
}

function stays(world: World, resource: ResourceName, key: string): boolean {
  return resource === 'ips' ? ipStays(world, key) : world.tables[resource]?.get(key)?.metadata.deletionTimestamp === undefined;
}
