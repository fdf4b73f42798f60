/** All writes to the Northbound database that are due now, after comparing all identities. */
import type { Uuid } from '../ovsdb/index.ts';
import { diffMembers } from '../diff/member-diff.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import type { Verdict } from '../diff/edits.ts';
import { diffRow } from '../diff/row-diff.ts';
import type { RowId } from '../nb/row-id.ts';
import type { PlannedRow } from './northbound-writer-options.ts';
import { rankOf } from './pending-rows.ts';

/** @param planned the planned rows of `context`: gets the rows that would be inserted */
export function planRows(identities: Iterable<RowId>, context: DiffContext, planned: Map<RowId, Uuid>): readonly PlannedRow[] {
  const found = new Map<RowId, Verdict>();
  const ids = [...identities].toSorted((a, b) => rankOf(a) - rankOf(b));
  for (
    let due: readonly RowId[] = ids;
    due.length > 0;
    due = [...found].flatMap(([id, verdict]) => (isServed(verdict, planned) ? [id] : []))
  )
    for (const id of due) {
      const verdict = diffRow(id, context);
      // What waited for a row that is planned now comes after it.
      found.delete(id);
      if (verdict.kind !== 'converged') found.set(id, verdict);
      if (verdict.kind === 'change' && verdict.inserts !== undefined) planned.set(id, verdict.inserts);
    }
  const members = ids.flatMap((id) => {
    const verdict = diffMembers(id, 'all', context);
    return verdict.kind === 'converged' ? [] : [{ id, verdict }];
  });
  return [...Array.from(found, ([id, verdict]) => ({ id, verdict })), ...members];
}

/** Whether a row waits for one that is planned. */
function isServed(verdict: Verdict, planned: ReadonlyMap<RowId, Uuid>): boolean {
  return verdict.kind === 'waiting' && verdict.on.some((id) => planned.has(id as RowId));
}
