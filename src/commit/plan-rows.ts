/** What would be written to the Northbound database now, all identities looked at. */
import type { Uuid } from '../ovsdb/index.ts';
import { diffMembers } from '../diff/member-diff.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import { diffRow } from '../diff/row-diff.ts';
import type { RowId } from '../nb/row-id.ts';
import type { PlannedRow } from './northbound-writer-options.ts';
import { rankOf } from './pending-rows.ts';

/** @param planned what `context` has as planned rows: filled as rows are found that would be inserted */
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
