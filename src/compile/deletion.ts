/**
 * Deletion of an object that owns rows: while it has blockers, finalizer and rows stay and a condition names the blockers; then its rows
 * are deleted; when no row is left, its finalizer is removed. Neither its parents nor a valid spec are needed for that.
 */
import { blockersOf } from '../blockers/blockers.ts';
import type { Blockers } from '../blockers/blockers.ts';
import { blockedSentence } from '../blockers/sentences.ts';
import { ownerText } from '../nb/ownership.ts';
import { isNeededByCluster, builtInOf } from '../world/built-in.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { RowOwner, ConditionOutput, PatchOutput } from './output.ts';
import { rowConflictOf } from './row-conflict.ts';

export const DELETION_BLOCKED = 'DeletionBlocked';
/** Reason of a blocked deletion that needs no action: the cluster needs the object. */
export const NEEDED_BY_CLUSTER = 'NeededByCluster';
const DELETION_UNBLOCKED = 'DeletionUnblocked';

/** Finalizer and condition of an object. */
export function deletionPatch(world: World, resource: ResourceName, key: string, owner: RowOwner, terminating: boolean): PatchOutput {
  const patch = { kind: 'patch', resource, key, uid: owner.uid } as const;
  if (!terminating) return { ...patch, finalizer: true, withoutConditions: [DELETION_BLOCKED] };
  const blockers = blockersOf(world, resource, key);
  if (blockers.count > 0) return { ...patch, finalizer: true, conditions: [deletionBlocked(world, resource, key, blockers)] };
  const rowsLeft = world.rows.ownedBy(ownerText(owner)).size > 0;
  const conflict = rowsLeft ? rowConflictOf(world, owner) : undefined;
  // The diff is about to find that conflict: an Event about the end of the deletion would contradict it.
  if (conflict === undefined && rowsLeft && haveForeignRows(world, owner)) return { ...patch, finalizer: true };
  if (conflict === undefined) return { ...patch, finalizer: rowsLeft, ...unblocked(resource, key) };
  const message = `${traitsOf(resource).kind} ${key} cannot be deleted yet: ${conflict}`;
  return {
    ...patch,
    finalizer: true,
    conditions: [{ type: DELETION_BLOCKED, status: 'True', reason: DELETION_BLOCKED, message, event: 'Warning', eventOnce: true }],
  };
}

/** Whether rows of another program are inside rows of the owner: those cannot be deleted. */
function haveForeignRows(world: World, owner: RowOwner): boolean {
  return [...world.rows.ownedBy(ownerText(owner))].some((id) =>
    world.rows.children(id).some(({ ownership }) => ownership.kind === 'foreign'),
  );
}

/** For an object that is being deleted and has no blocker any longer. */
export function unblocked(resource: ResourceName, key: string): Pick<PatchOutput, 'withoutConditions' | 'eventsWithout'> {
  const message = `${traitsOf(resource).kind} ${key} has no blockers any longer and is deleted`;
  return {
    withoutConditions: [DELETION_BLOCKED],
    eventsWithout: { [DELETION_BLOCKED]: { type: 'Normal', reason: DELETION_UNBLOCKED, message } },
  };
}

export function deletionBlocked({ settings }: World, resource: ResourceName, key: string, blockers: Blockers): ConditionOutput {
  const needed = isNeededByCluster(builtInOf(settings, resource, key));
  return {
    type: DELETION_BLOCKED,
    status: 'True',
    reason: needed ? NEEDED_BY_CLUSTER : DELETION_BLOCKED,
    message: blockedSentence(settings, resource, key, blockers),
    event: needed ? 'Normal' : 'Warning',
    eventOnce: true,
  };
}
