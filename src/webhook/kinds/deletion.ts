/**
 * Validates the deletion of an object with blockers: it is allowed with a warning and waits for them, or is denied, as configured. The
 * deletion of a built-in object is always denied: Kiln would create it again. Two kinds of dependents do not count: one that is being
 * deleted, and one whose deletion by the same user was denied a short while ago, if nothing blocks it any longer.
 */
import { blockersAmong } from '../../blockers/blockers.ts';
import { deniedDeletionSentence, recreationSentence, waitingDeletionSentence } from '../../blockers/sentences.ts';
import { DELETION_BLOCKED } from '../../compile/deletion.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { ipKeepsAddress } from './taken-addresses.ts';
import type { Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { forbidden, ALLOWED } from '../protocol/admission-result.ts';

/** Whether the deletion of an object by the present user was denied a short while ago. */
export type RecentlyDenied = (resource: ResourceName, key: string) => boolean;

/** What the webhook does with the deletion of an object in use: allow it with a warning, or deny it. */
export const DELETIONS_IN_USE = ['wait', 'deny'] as const;
export type DeletionInUse = (typeof DELETIONS_IN_USE)[number];

export interface DeletionRules {
  readonly inUse: DeletionInUse;
  readonly recentlyDenied: RecentlyDenied;
}

export function validateDelete(
  resource: ResourceName,
  key: string,
  { world, complete }: Observed,
  { inUse, recentlyDenied }: DeletionRules,
): AdmissionResult {
  if (!complete) return ALLOWED;
  const blockers = blockersAmong(world, resource, key, (dependent, name) => stillBlocks(world, dependent, name, recentlyDenied));
  if (blockers.count === 0) return ALLOWED;
  if (inUse === 'wait' && recreationSentence(world.settings, resource, key) === undefined)
    return { denials: [], warnings: [waitingDeletionSentence(resource, key, blockers)] };
  const message = deniedDeletionSentence(world.settings, resource, key, blockers);
  return { denials: [forbidden({ reason: DELETION_BLOCKED, message })], warnings: [] };
}

function stillBlocks(world: World, resource: ResourceName, key: string, recentlyDenied: RecentlyDenied): boolean {
  const beingDeleted =
    resource === 'ips' ? !ipKeepsAddress(world, key) : world.tables[resource]?.get(key)?.metadata.deletionTimestamp !== undefined;
  if (beingDeleted) return false;
  return (
    !recentlyDenied(resource, key) ||
    blockersAmong(world, resource, key, (dependent, name) => stillBlocks(world, dependent, name, recentlyDenied)).count > 0
  );
}
