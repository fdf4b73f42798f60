/**
 * Deletes rows that nothing explains, for a command that leads alone: by the same diff, guards, fence and journal as the controller's. It
 * makes and changes nothing else, so a controller that starts later finds the rest of its work as it was.
 */
import { Fence } from '../commit/fence.ts';
import { JournalGate } from '../commit/journal-gate.ts';
import { SchemaSupport } from '../commit/schema-support.ts';
import type { Part } from '../commit/transaction.ts';
import { buildTransaction } from '../commit/transaction.ts';
import type { DesiredRows } from '../compile/desired-rows.ts';
import { diffRow } from '../diff/row-diff.ts';
import type { Journal } from '../journal/journal.ts';
import type { RowId } from '../nb/row-id.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';
import type { World } from '../world/world.ts';

export interface RowCollectionOptions {
  readonly session: OvsdbSession;
  readonly world: World;
  readonly desired: DesiredRows;
  /** Takes every row before it goes. */
  readonly journal: Journal;
  /** Called before each transaction: whether this process certainly holds the Lease. */
  readonly mayWrite: () => boolean;
}

export type RowsCollected =
  { readonly ok: true; readonly rows: number } | { readonly ok: false; readonly rows: number; readonly problem: string };

/** Rows of one transaction. */
const MOST = 2_000;
const MOST_ATTEMPTS = 5;

/**
 * @param ids rows that no rule emits, and that may go
 * @param gains the Lease's `leaseTransitions` when it was acquired
 */
export async function collectRows(ids: readonly RowId[], gains: number, options: RowCollectionOptions): Promise<RowsCollected> {
  const { session, world, desired, journal, mayWrite } = options;
  const fence = new Fence(session);
  for (let attempt = 0; fence.term === undefined; attempt++) {
    if (attempt === MOST_ATTEMPTS) return { ok: false, rows: 0, problem: 'the term in NB_Global cannot be written' };
    await fence.raise(gains);
  }
  const support = new SchemaSupport(session, () => undefined);
  const context = { rows: world.rows, desired, planned: new Map(), canHold: support.canHold, allows: support.allows };
  const gate = new JournalGate({
    journal,
    sources: { rows: world.rows, desired, replica: session.replica, schema: () => session.schema },
    term: () => fence.term,
    wallTime: () => Date.now(),
    now: () => performance.now(),
    again: () => undefined,
    wake: () => undefined,
  });
  let rows = 0;
  for (let from = 0; from < ids.length; from += MOST) {
    const parts = ids.slice(from, from + MOST).flatMap((id): readonly Part[] => {
      const verdict = diffRow(id, context);
      return verdict.kind === 'change' && verdict.change === 'delete' ? [{ id, edits: verdict.edits }] : [];
    });
    const guards = fence.guards();
    if (parts.length === 0) continue;
    const stop = (problem: string): RowsCollected => ({ ok: false, rows, problem });
    if (guards === undefined || !mayWrite()) return stop('another process leads now');
    if (!parts.every((part) => gate.admits(part))) return stop(`the journal cannot be written: ${journal.failure ?? ''}`);
    const taken = gate.takenBy(parts);
    if (taken !== undefined && !(await gate.write(taken))) return stop(`the journal cannot be written: ${journal.failure ?? ''}`);
    const outcome = await session.transact(buildTransaction(parts, guards).operations, {
      comment: `kiln gc run: ${parts.length} rows, first ${parts[0]?.id ?? ''}${taken === undefined ? '' : `, journaled as ${taken.tx}`}`,
    });
    if (taken !== undefined) gate.ended(taken, outcome);
    if (!outcome.ok) return stop(`${outcome.error.code}: ${outcome.error.message}`);
    rows += parts.length;
  }
  return { ok: true, rows };
}
