/**
 * Writes rows for a command that leads alone: the transactions have the same fence, guards and journal as the controller's. It decides
 * nothing: what is written, the caller has from the diff.
 */
import { Fence } from '../commit/fence.ts';
import { JournalGate } from '../commit/journal-gate.ts';
import { SchemaSupport } from '../commit/schema-support.ts';
import type { Part } from '../commit/transaction.ts';
import { buildTransaction } from '../commit/transaction.ts';
import type { DesiredRows } from '../compile/desired-rows.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import type { Journal } from '../journal/journal.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';
import type { World } from '../world/world.ts';

export interface LoneWriterOptions {
  readonly session: OvsdbSession;
  readonly world: World;
  readonly desired: DesiredRows;
  /** Takes every row before it goes. */
  readonly journal: Journal;
  /** Called before each transaction: whether this process certainly holds the Lease. */
  readonly mayWrite: () => boolean;
}

/** `unknown`: the answer was lost, so it may have taken effect. */
export type RowsWritten = { readonly ok: true } | { readonly ok: false; readonly problem: string; readonly unknown: boolean };

const MOST_ATTEMPTS = 5;

export class LoneWriter {
  readonly #options: LoneWriterOptions;
  readonly #fence: Fence;
  readonly #gate: JournalGate;

  constructor(options: LoneWriterOptions) {
    this.#options = options;
    const { session, world, desired, journal } = options;
    this.#fence = new Fence(session);
    this.#gate = new JournalGate({
      journal,
      sources: { rows: world.rows, desired, replica: session.replica, schema: () => session.schema },
      term: () => this.#fence.term,
      wallTime: () => Date.now(),
      now: () => performance.now(),
      again: () => undefined,
      wake: () => undefined,
    });
  }

  /** Takes the next term. @param gains the Lease's `leaseTransitions` when it was acquired */
  async raise(gains: number): Promise<boolean> {
    for (let attempt = 0; this.#fence.term === undefined && attempt < MOST_ATTEMPTS; attempt++) await this.#fence.raise(gains);
    return this.#fence.term !== undefined;
  }

  /** For the diff of rows that are to be written here. */
  get context(): DiffContext {
    const { session, world, desired } = this.#options;
    const support = new SchemaSupport(session, () => undefined);
    return { rows: world.rows, desired, planned: new Map(), canHold: support.canHold, allows: support.allows };
  }

  /** All parts take effect, or none. @param command for the comment in the database's log */
  async write(parts: readonly Part[], command: string): Promise<RowsWritten> {
    const { session, journal, mayWrite } = this.#options;
    const gate = this.#gate;
    const refused = (problem: string): RowsWritten => ({ ok: false, problem, unknown: false });
    // The reason is known once it was tried.
    const unjournaled = (): string => `the journal cannot be written: ${journal.failure ?? 'unknown why'}`;
    const guards = this.#fence.guards();
    if (guards === undefined || !mayWrite()) return refused('another process leads now');
    if (!parts.every((part) => gate.admits(part))) return refused(unjournaled());
    const taken = gate.takenBy(parts);
    if (taken !== undefined && !(await gate.written(gate.write(taken)))) return refused(unjournaled());
    if (!mayWrite()) {
      if (taken !== undefined) gate.ended(taken, 'unsent');
      return refused('another process leads now');
    }
    const outcome = await session.transact(buildTransaction(parts, guards).operations, {
      comment: `kiln ${command}: ${parts.length} rows, first ${parts[0]?.id ?? ''}${taken === undefined ? '' : `, journaled as ${taken.tx}`}`,
    });
    if (taken !== undefined) gate.ended(taken, outcome);
    if (outcome.ok) return { ok: true };
    return { ok: false, problem: `${outcome.error.code}: ${outcome.error.message}`, unknown: outcome.error.outcome === 'unknown' };
  }
}
