/** Reports the results of the diff to rules and users: conflicts, and the number of differing rows. */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { differenceOf } from '../diff/drift.ts';
import type { Verdict } from '../diff/edits.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import type { OvsdbError } from '../ovsdb/index.ts';
import { equal } from '../engine/equal.ts';
import type { World } from '../world/world.ts';
import { foundConflict } from './found-conflict.ts';
import { KeyConflicts } from './key-conflicts.ts';
import { RowDifferences } from './row-differences.ts';
import type { RowRetries } from './row-retries.ts';

export class RowReports {
  readonly differences = new RowDifferences();
  readonly keys: KeyConflicts;
  readonly #world: World;
  readonly #desired: DesiredRows;
  readonly #retries: RowRetries;

  constructor(world: World, desired: DesiredRows, retries: RowRetries) {
    this.#world = world;
    this.#desired = desired;
    this.#retries = retries;
    this.keys = new KeyConflicts(world, desired);
  }

  /** Whether the row has a report. */
  has(id: RowId): boolean {
    return this.hasConflict(id) || this.differences.has(id);
  }

  hasConflict(id: RowId): boolean {
    return this.#world.rowConflicts.peek(id) !== undefined;
  }

  /** The diff has compared the row. */
  compared(id: RowId, verdict: Verdict): void {
    const { rowConflicts } = this.#world;
    this.differences.note(id, differenceOf(verdict));
    const conflict = foundConflict(id, verdict, this.#ownersOf(id));
    // An unchanged report makes no rule run: a row that cannot be written yet is compared in every turn.
    if (conflict !== undefined) {
      if (!equal(conflict, rowConflicts.peek(id))) rowConflicts.set(id, conflict);
    } else if (verdict.kind === 'converged' || verdict.kind === 'waiting') {
      this.#retries.written(id);
      rowConflicts.delete(id);
      // A failed row stays a conflict while it is tried again.
    } else if (this.#retries.failures(id) === 0) rowConflicts.delete(id);
  }

  /** The row is set aside. */
  failed(id: RowId, error: OvsdbError): void {
    const ownership = this.#world.rows.best(id)?.ownership;
    const emittedOwners = this.#ownersOf(id);
    const owners = emittedOwners.length > 0 ? emittedOwners : ownership?.kind === 'ours' ? [ownership.owner] : [];
    const what = error.code === 'OVSDB_BAD_VALUE' ? 'cannot be written' : 'was rejected by OVN';
    this.#world.rowConflicts.set(id, { owners, message: `${tableOf(id)} ${identityOf(id)} ${what}: ${error.message}` });
  }

  /** The owners of the outputs for the row, the winner first. */
  #ownersOf(id: RowId): readonly string[] {
    // A leftover is no claim: it gives way to every rule.
    return (this.#desired.row(id)?.rows ?? []).filter((row) => row.leftover !== true).map(({ owner }) => ownerText(owner));
  }
}
