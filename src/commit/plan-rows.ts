/** All writes to the Northbound database that are due now, after comparing all identities. */
import type { Uuid } from '../ovsdb/index.ts';
import { diffMembers } from '../diff/member-diff.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import { diffRow } from '../diff/row-diff.ts';
import type { RowId } from '../nb/row-id.ts';
import type { PlannedRow } from './northbound-writer-options.ts';
import { rankOf } from './pending-rows.ts';

/** @param planned the planned rows of `context`: gets the rows that would be inserted */
export function planRows(identities: Iterable<RowId>, context: DiffContext, planned: Map<RowId, Uuid>): readonly PlannedRow[] {
  const found: PlannedRow[] = [];
  const ids = [...identities].toSorted((a, b) => rankOf(a) - rankOf(b));
  for (const id of ids) {
    const verdict = diffRow(id, context);
    if (verdict.kind !== 'converged') found.push({ id, verdict });
    if (verdict.kind === 'change' && verdict.inserts !== undefined) planned.set(id, verdict.inserts);
  }
  for (const id of ids) {
    const verdict = diffMembers(id, 'all', context);
    if (verdict.kind !== 'converged') found.push({ id, verdict });
  }
  return found;
}
