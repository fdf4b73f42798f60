/**
 * Rows whose identity was deleted more than once: a Vpc that was deleted, restored, created again and deleted again. An undo restores the
 * last one, and what the journal has about an earlier one, or about one that only another journal has, is about that. Pure.
 */
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { SelectedChange } from './selection.ts';

/** Of an identity that was deleted more than once, the rows of the last transaction. */
export function lastDeletions(changes: readonly SelectedChange[]): readonly SelectedChange[] {
  const last = new Map<RowId, SelectedChange[]>();
  for (const change of changes) {
    if (change.change !== 'delete') continue;
    const before = last.get(change.id);
    if (before?.[0]?.tx === change.tx) before.push(change);
    else last.set(change.id, [change]);
  }
  return [...last.values()].flat();
}

/** Where the rows of each identity that was deleted are now: restored, or existing. @param places of the last deletions */
export function placesById(last: readonly SelectedChange[], places: ReadonlyMap<Uuid, Uuid>): ReadonlyMap<RowId, Uuid> {
  const found = new Map<RowId, Uuid>();
  for (const { id, uuid } of last) {
    const place = places.get(uuid);
    if (place !== undefined && !found.has(id)) found.set(id, place);
  }
  return found;
}

/** The identities of rows that were deleted before the last deletion of them. */
export function formerRows(changes: readonly SelectedChange[], places: ReadonlyMap<Uuid, Uuid>): ReadonlyMap<Uuid, RowId> {
  const former = new Map<Uuid, RowId>();
  for (const { change, id, uuid } of changes) if (change === 'delete' && !places.has(uuid)) former.set(uuid, id);
  return former;
}
