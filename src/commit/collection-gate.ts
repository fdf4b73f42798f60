/** What the writer asks before it deletes a row of ours that no rule emits. */
import type { Edit } from '../diff/edits.ts';
import { guard } from '../diff/row-diff.ts';
import { UNEXPLAINED_KEY } from '../nb/ownership.ts';
import { unexplainedSince } from '../diff/collection-policy.ts';
import type { Entry } from '../world/observed-rows.ts';

export interface CollectionGate {
  /** Whether it may be deleted now. It may look again at any time, and calls `NorthboundWriter.examineAll` when more may go. */
  allows(row: Entry): boolean;
  /** Whether an entry of an exact map may be removed now that no rule emits. The same holds for it. */
  allowsEntry(row: Entry, column: string, key: string): boolean;
  /** Whether a row that stays gets the mark that says since when nothing explains it. */
  marks(row: Entry): boolean;
}

/** Rows go as soon as nothing explains them. */
export const OPEN_GATE: CollectionGate = { allows: () => true, allowsEntry: () => true, marks: () => false };

/** The mark that a row which stays has not yet: in the row, so that every process, and every user, sees the same moment. */
export function unexplainedMark(row: Entry, at: string): readonly Edit[] {
  if (row.ownership.kind !== 'ours' || unexplainedSince(row.row) !== undefined) return [];
  const { table, uuid } = row;
  return [guard(row), { kind: 'keys', table, uuid, column: 'external_ids', set: { [UNEXPLAINED_KEY]: at }, remove: [] }];
}
