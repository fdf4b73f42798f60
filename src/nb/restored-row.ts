/**
 * Rows that `kiln undo` restored. Their UUID shows it, so a restored row is like the deleted one in every column. It is held: the
 * collection leaves it until its row owner is back, or until a person lets it go.
 */
import type { Ownership } from './ownership.ts';
import { LET_GO_KEY } from './ownership.ts';
import type { RowId } from './row-id.ts';
import { isRestoredUuid } from './row-id.ts';
import type { Row, Uuid } from '../ovsdb/index.ts';

/** Whether an undo restored it for its present owner. */
export function isRestored(id: RowId, uuid: Uuid, ownership: Ownership): boolean {
  return ownership.kind === 'ours' && isRestoredUuid(uuid, id, ownership);
}

/** Whether it is held while its row owner does not exist: an undo restored it for that owner, and nobody let it go. */
export function waitsForOwner<R extends { readonly id: RowId; readonly uuid: Uuid; readonly ownership: Ownership; readonly row: Row }>(
  row: R,
): row is R & { readonly ownership: Extract<Ownership, { readonly kind: 'ours' }> } {
  return isRestored(row.id, row.uuid, row.ownership) && !isLetGo(row.row);
}

/** Whether a person let the row go. */
export function isLetGo({ external_ids: held }: Row): boolean {
  return held instanceof Map && held.has(LET_GO_KEY);
}
