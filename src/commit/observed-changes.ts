/**
 * Handles a change in the database: marks the row for comparison, with its dependents, if a rule emits it or it is ours. If no transaction
 * of this process changed it, it may be drift.
 */
import type { DesiredRows, MemberKey } from '../compile/desired-rows.ts';
import { memberKey } from '../compile/desired-rows.ts';
import { GLOBAL_ROW } from '../nb/global-keys.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { World } from '../world/world.ts';
import type { DriftWatch } from './drift-watch.ts';
import { hasMembers } from './pending-rows.ts';
import type { RowQueue } from './row-queue.ts';
import type { RowReports } from './row-reports.ts';
import type { RowRetries } from './row-retries.ts';

export interface ObservedChangesOptions {
  readonly world: World;
  readonly desired: DesiredRows;
  readonly queue: RowQueue;
  readonly retries: RowRetries;
  readonly reports: RowReports;
  readonly drift: DriftWatch;
  /** Identities of the transaction under way, with the row that has each now. */
  readonly inTransaction: ReadonlyMap<RowId, Uuid | undefined>;
}

export class ObservedChanges {
  readonly #options: ObservedChangesOptions;
  /** Whether this process may write: changes at other times are another leader's. */
  isWriting = false;

  constructor(options: ObservedChangesOptions) {
    this.#options = options;
    const { world, queue } = options;
    world.rows.onChange({
      row: (id) => {
        this.#row(id);
        queue.awaken(id);
      },
      member: (id, column, member) => this.#member(id, column, member),
    });
  }

  #row(id: RowId): void {
    const { desired, world, queue, reports, drift, inTransaction } = this.#options;
    const row = world.rows.best(id);
    if (desired.row(id) === undefined && row?.ownership.kind !== 'ours' && id !== GLOBAL_ROW) {
      // Reports from before it became foreign are outdated.
      if (reports.has(id)) queue.mark(id, 'row');
      // The conflict of one of our rows names the foreign rows in it.
      const within = row?.parent === undefined ? undefined : world.rows.entry(row.parent.uuid)?.id;
      if (within !== undefined && reports.hasConflict(within)) queue.mark(within, 'row');
      return;
    }
    queue.markDependents(id, row);
    const isSent = inTransaction.has(id);
    if (this.isWriting && !isSent && !this.#isPending(id)) drift.rowChanged(id, hasMembers(id));
    // Members that are being sent are compared again with the reply. Not those of another row that has the name now.
    queue.mark(id, isSent && inTransaction.get(id) === row?.uuid ? 'row' : 'all');
  }

  #member(id: RowId, column: string, member: RowId): void {
    const { world, queue, drift, inTransaction } = this.#options;
    const key = memberKey(column, { ref: member });
    // A member that was removed with its row is drift of that row; none if the transaction under way replaces the row.
    const present = world.rows.best(member) !== undefined && !inTransaction.has(member);
    if (this.isWriting && present && !inTransaction.has(id) && !this.#isPending(id, key)) drift.memberChanged(id, key);
    queue.pending.markMembers(id, new Set([key]));
  }

  /** Whether it is marked for comparison already. */
  #isPending(id: RowId, key?: MemberKey): boolean {
    const { queue, retries } = this.#options;
    return queue.pending.has(id) || retries.isSetAside(id) || (key !== undefined && queue.pending.hasMember(id, key));
  }
}
