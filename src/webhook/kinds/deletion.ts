/**
 * Judges the deletion of an object that others still use: it is accepted with a warning and waits for them, or denied, as configured. What is
 * built in is denied: it would be created again. These dependents do not count: one that is being deleted, and one whose deletion the same
 * user requested a moment ago, if it was denied then and nothing blocks it any longer.
 */
import { blockersAmong } from '../../blockers/blockers.ts';
import { deniedDeletionSentence, recreationSentence, waitingDeletionSentence } from '../../blockers/sentences.ts';
import { DELETION_BLOCKED } from '../../compile/deletion.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { ipStays } from './taken-addresses.ts';
import type { Observed, Opinion } from '../protocol/admission-result.ts';
import { forbidden, NO_OPINION } from '../protocol/admission-result.ts';

/** Whether the present user requested the deletion of an object a short while ago. */
export type AskedFor = (resource: ResourceName, key: string) => boolean;

/** What becomes of the deletion of an object that is in use. */
export const DELETIONS_IN_USE = ['wait', 'deny'] as const;
export type DeletionInUse = (typeof DELETIONS_IN_USE)[number];

export interface DeletionRules {
  readonly inUse: DeletionInUse;
  readonly askedFor: AskedFor;
}

export function deletionAsked(
  resource: ResourceName,
  key: string,
  { world, complete }: Observed,
  { inUse, askedFor }: DeletionRules,
): Opinion {
  if (!complete) return NO_OPINION;
  const blockers = blockersAmong(world, resource, key, (holder, name) => stays(world, holder, name, askedFor));
  if (blockers.count === 0) return NO_OPINION;
  if (inUse === 'wait' && recreationSentence(world.settings, resource, key) === undefined)
    return { objections: [], warnings: [waitingDeletionSentence(resource, key, blockers)] };
  const message = deniedDeletionSentence(world.settings, resource, key, blockers);
  return { objections: [forbidden({ reason: DELETION_BLOCKED, message })], warnings: [] };
}

function stays(world: World, resource: ResourceName, key: string, askedFor: AskedFor): boolean {
  const going = resource === 'ips' ? !ipStays(world, key) : world.tables[resource]?.get(key)?.metadata.deletionTimestamp !== undefined;
  if (going) return false;
  return !askedFor(resource, key) || blockersAmong(world, resource, key, (holder, name) => stays(world, holder, name, askedFor)).count > 0;
}
