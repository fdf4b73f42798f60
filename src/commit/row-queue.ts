/**
 * The rows to compare next: rows with changed outputs, rows that changed in the database, rows that depend on these or waited for them, and
 * all rows after a start.
 */
import type { DesiredRows, MemberKey } from '../compile/desired-rows.ts';
import { GLOBAL_ROW } from '../nb/global-keys.ts';
import type { RowId } from '../nb/row-id.ts';
import type { ObservedRow } from '../world/row-identity.ts';
import type { World } from '../world/world.ts';
import { PendingRows } from './pending-rows.ts';
import { RowDependents } from './row-dependents.ts';
import type { Looked } from './row-waits.ts';
import { RowWaits } from './row-waits.ts';
import type { Part } from './transaction.ts';

/** Most identities taken from the rules in one turn. */
const MOST_TAKEN = 5_000;

/** Called for rows and members with changed outputs when the queue takes them. */
export interface EmittedChanges {
  readonly row: (id: RowId) => void;
  readonly members: (id: RowId, keys: ReadonlySet<MemberKey>) => void;
}

export class RowQueue {
  readonly pending: PendingRows;
  /** Marked while this process does not lead: a standby compares them for its reports alone. */
  readonly unexamined = new Set<RowId>();
  readonly #world: World;
  readonly #desired: DesiredRows;
  readonly #inTransaction: ReadonlyMap<RowId, unknown>;
  readonly #dependents: RowDependents;
  readonly #waits = new RowWaits();
  /** The remaining ones of all identities. */
  #all: Iterator<RowId> | undefined;

  /** @param inTransaction identities of the transaction under way */
  constructor(world: World, desired: DesiredRows, inTransaction: ReadonlyMap<RowId, unknown>) {
    this.#world = world;
    this.#desired = desired;
    this.#inTransaction = inTransaction;
    this.pending = new PendingRows(world, desired);
    this.#dependents = new RowDependents(world.rows, desired);
  }

  get isEmpty(): boolean {
    return this.pending.size === 0 && this.#all === undefined;
  }

  /** Whether `examineAll` has not brought all identities into the queue yet. */
  get hasMore(): boolean {
    return this.#all !== undefined;
  }

  /** Compares every identity again, some in each turn. */
  examineAll(): void {
    this.#all = eachOf([GLOBAL_ROW], this.#desired.rowIds, this.#world.rows.owned);
  }

  /** @returns false if the turn is over before the queue has taken all changes */
  takeOver(changed: EmittedChanges): boolean {
    const { dueRows, dueMembers, dueSelections } = this.#desired;
    let taken = 0;
    for (const id of dueRows) {
      if (taken++ >= MOST_TAKEN) return false;
      dueRows.delete(id);
      changed.row(id);
      this.mark(id);
    }
    for (let next = this.#all?.next(); next !== undefined; next = this.#all?.next()) {
      if (next.done === true) this.#all = undefined;
      else this.mark(next.value);
      if (taken++ >= MOST_TAKEN) return false;
    }
    for (const id of dueSelections) {
      dueSelections.delete(id);
      changed.row(id);
      this.mark(id);
    }
    for (const [id, keys] of dueMembers) {
      dueMembers.delete(id);
      changed.members(id, keys);
      this.pending.markMembers(id, keys);
    }
    return true;
  }

  mark(id: RowId, how: 'row' | 'all' = 'all'): void {
    this.unexamined.add(id);
    this.pending.mark(id, how, this.#inTransaction.has(id));
  }

  /** Compares a sent row again: it has converged, or it failed and is planned again. */
  reexamine({ id, members }: Part): void {
    if (members === undefined) this.mark(id, 'row');
    else if (members === 'all') this.pending.members.set(id, 'all');
    else this.pending.markMembers(id, new Set(members));
  }

  /** `id` was compared, and waits for these. */
  looked(id: RowId, what: Looked, on: readonly string[]): void {
    this.#waits.looked(id, what, on);
  }

  /** The row was inserted, deleted, changed or planned: rows that waited for it are compared again. @returns these */
  awaken(id: RowId): readonly RowId[] {
    const waiters = [...this.#waits.awaken(id)];
    for (const waiter of waiters) this.mark(waiter);
    return waiters;
  }

  markDependents(id: RowId, row: ObservedRow | undefined): void {
    for (const other of this.#dependents.of(id, row)) this.mark(other, 'row');
  }

  /** Referrers of replaced rows refer to the new ones in the same transaction: a port is never outside of its security groups. */
  markReferrers(replaced: readonly RowId[]): void {
    for (const [id, key] of this.#dependents.memberships(replaced)) this.pending.markMembers(id, new Set([key]));
  }
}

function* eachOf(...lists: readonly Iterable<RowId>[]): Generator<RowId> {
  for (const list of lists) yield* list;
}
