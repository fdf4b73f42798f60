/**
 * Rows that `kiln undo` restored. Their UUID shows it, so a restored row is like the deleted one in every column. It is held: the
 * collection leaves it until its row owner is back, or until a person lets it go.
 */
import type { Ownership } from './ownership.ts';
import { LET_GO_KEY } from './ownership.ts';
import type { RowId } from './row-id.ts';
import { MOST_COPIES, restoredUuid } from './row-id.ts';
import type { Row, Uuid } from '../ovsdb/index.ts';

/** Whether an undo restored it for its present owner. */
export function isRestored(id: RowId, uuid: Uuid, ownership: Ownership): boolean {
  if (ownership.kind !== 'ours') return false;
  for (let copy = 0; copy < MOST_COPIES; copy++) if (restoredUuid(id, ownership, copy) === uuid) return true;
  return false;
}

/** Whether a person let the row go. */
export function isLetGo({ external_ids: held }: Row): boolean {
  return held instanceof Map && held.has(LET_GO_KEY);
}
