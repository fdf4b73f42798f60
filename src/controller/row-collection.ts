/**
 * Deletes rows that nothing explains, and entries of rows, for a command that leads alone: by the same diff, guards, fence and journal as the controller's. It
 * makes and changes nothing else, so a controller that starts later finds the rest of its work as it was.
 */
import type { Part } from '../commit/transaction.ts';
import { memberKey } from '../compile/desired-rows.ts';
import { diffMembers } from '../diff/member-diff.ts';
import { diffRow } from '../diff/row-diff.ts';
import type { RowId } from '../nb/row-id.ts';
import type { LoneWriterOptions } from './lone-writer.ts';
import { LoneWriter } from './lone-writer.ts';

export type RowsCollected =
  { readonly ok: true; readonly rows: number } | { readonly ok: false; readonly rows: number; readonly problem: string };

/** Rows of one transaction. */
const MOST = 2_000;

/** An entry of a row that stays. */
export interface CollectedEntry {
  readonly id: RowId;
  readonly column: string;
  readonly key: string;
}

/**
 * @param ids rows that no rule emits, and that may go
 * @param entries the same
 * @param gains the Lease's `leaseTransitions` when it was acquired
 */
export async function collectRows(
  ids: readonly RowId[],
  entries: readonly CollectedEntry[],
  gains: number,
  options: LoneWriterOptions,
): Promise<RowsCollected> {
  const writer = new LoneWriter(options);
  if (!(await writer.raise(gains))) return { ok: false, rows: 0, problem: 'the term in NB_Global cannot be written' };
  const { context } = writer;
  const deleted = (id: RowId): readonly Part[] => {
    const verdict = diffRow(id, context);
    return verdict.kind === 'change' && verdict.change === 'delete' ? [{ id, edits: verdict.edits }] : [];
  };
  const removed = ({ id, column, key }: CollectedEntry): readonly Part[] => {
    const verdict = diffMembers(id, new Set([memberKey(column, { key, value: '' })]), context);
    return verdict.kind === 'change' ? [{ id, edits: verdict.edits, members: 'all' }] : [];
  };
  const due = [...ids.map((id) => () => deleted(id)), ...entries.map((entry) => () => removed(entry))];
  let rows = 0;
  for (let from = 0; from < due.length; from += MOST) {
    const parts = due.slice(from, from + MOST).flatMap((part) => part());
    if (parts.length === 0) continue;
    const written = await writer.write(parts, 'gc run');
    if (!written.ok) return { ok: false, rows, problem: written.problem };
    rows += parts.length;
  }
  return { ok: true, rows };
}
