/**
 * The Northbound writer: the only code that changes the Northbound database. It takes the rows that may differ, diffs them against the
 * replica, and sends the differences, one fenced and guarded transaction at a time. The effects of a transaction come back through the
 * replica before its reply, so nothing has to be remembered about it.
 *
 * Guaranteed: each transaction is guarded by this process's term, by the ownership of each row that it changes, and by the existence of
 * each row that it adds a member to, and what it deletes or overwrites is in the journal before it is sent. So a deposed process changes nothing, and a row that became foreign is not touched. When nothing is
 * pending, every row of ours is as emitted, or has a report.
 *
 * Retried: every difference, by a new diff: never the old transaction. After its first failure a row is compared again at once, later every
 * 30 s, with a report. A row that another program changed first, or changes after each repair, is compared again after a second; the fifth
 * lost race counts as a failure. If every transaction fails because of the server: after 1 to 5 s.
 *
 * Costs: one diff for each row that changed, or whose outputs changed, at most 2,000 a turn; one round trip at a time, with at least 20 ms
 * between two transactions so that changes gather.
 */
import type { DiffContext } from '../diff/diff-context.ts';
import { diffRow } from '../diff/row-diff.ts';
import { GLOBAL_ROW } from '../nb/global-keys.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Operation, OvsdbError, TransactOutcome, Uuid } from '../ovsdb/index.ts';
import { GateKeeper } from '../timing/gate.ts';
import { DriftWatch } from './drift-watch.ts';
import type { Taken } from './journal-gate.ts';
import { JournalGate } from './journal-gate.ts';
import type { NorthboundWriterOptions, PlannedRow } from './northbound-writer-options.ts';
import { ObservedChanges } from './observed-changes.ts';
import { planRows } from './plan-rows.ts';
import type { Batch } from './row-batches.ts';
import { MOST_EXAMINED, RowBatches } from './row-batches.ts';
import type { RowDifferences } from './row-differences.ts';
import type { EmittedChanges } from './row-queue.ts';
import { RestoredRows } from './restored-rows.ts';
import { RowQueue } from './row-queue.ts';
import { RowReports } from './row-reports.ts';
import { RowRetries } from './row-retries.ts';
import { shareOfRow } from './row-share.ts';
import { SchemaSupport } from './schema-support.ts';
import { SendPause } from './send-pause.ts';
import { TermRepair } from './term-repair.ts';
import { causeOf } from './transaction-failure.ts';
import { TransactionLanes } from './transaction-lanes.ts';
import type { Transaction } from './transaction.ts';
import { buildTransaction, countEdits } from './transaction.ts';

export type { NorthboundWriterOptions, TransactionReport, PlannedRow } from './northbound-writer-options.ts';

/** A transaction under way. */
interface Sent {
  readonly batch: Batch;
  readonly transaction: Transaction;
  readonly ids: readonly RowId[];
  /** Number of operations of the fence, which come first. */
  readonly fenced: number;
  readonly at: number;
}

export class NorthboundWriter {
  readonly #options: NorthboundWriterOptions;
  /** Identities of the transaction under way, with the row that has each now. */
  readonly #inTransaction = new Map<RowId, Uuid | undefined>();
  #sentAt: number | undefined;
  /** Open while no transaction is under way. */
  readonly #answer = new GateKeeper('answer');
  readonly #queue: RowQueue;
  readonly #retries: RowRetries;
  readonly #reports: RowReports;
  readonly #drift = new DriftWatch();
  readonly #observed: ObservedChanges;
  readonly #support: SchemaSupport;
  readonly #lanes: TransactionLanes;
  readonly #batches: RowBatches;
  readonly #pause: SendPause;
  readonly #termRepair: TermRepair;
  readonly #journalGate: JournalGate;
  readonly #restored: RestoredRows;
  readonly #emitted: EmittedChanges;
  /** Whether a timer runs for a lane in backoff that has something to send. */
  #laneTimerRunning = false;

  constructor(options: NorthboundWriterOptions) {
    this.#options = options;
    const { world, desired, fence, session, deposed, later, wake } = options;
    this.#queue = new RowQueue(world, desired, this.#inTransaction);
    this.#retries = new RowRetries(later, wake, (id) => this.#queue.mark(id));
    this.#reports = new RowReports(world, desired, this.#retries);
    this.#support = new SchemaSupport(session, options.onLeftOut);
    this.#lanes = new TransactionLanes(options.maxRows ?? 2_000);
    this.#answer.open();
    this.#pause = new SendPause(later);
    this.#termRepair = new TermRepair({ fence, deposed, later, wake });
    const again = (id: RowId): void => this.#queue.mark(id);
    const back = (): void => {
      this.examineAll();
      wake();
    };
    this.#restored = new RestoredRows({ ownerExists: options.ownerExists, later, back });
    this.#journalGate = new JournalGate({
      journal: options.journal,
      sources: { rows: world.rows, desired, replica: session.replica, schema: () => session.schema },
      term: () => fence.term,
      wallTime: options.wallTime,
      now: options.now,
      again,
      wake,
    });
    const shared = { queue: this.#queue, retries: this.#retries, reports: this.#reports, drift: this.#drift };
    this.#batches = new RowBatches({
      ...shared,
      ...{ writer: options, lanes: this.#lanes, journalGate: this.#journalGate, restored: this.#restored },
      contextOf: (planned) => this.#context(planned),
    });
    this.#observed = new ObservedChanges({ ...shared, world, desired, inTransaction: this.#inTransaction });
    this.#emitted = {
      row: (id) => {
        this.#drift.emitted(id);
        this.#retries.emitted(id);
      },
      members: (id, keys) => this.#drift.memberEmitted(id, keys),
    };
  }

  /** True when no row is left to compare and no transaction is under way. */
  get quiet(): boolean {
    return !this.inFlight && !this.#batches.hasAdopted && this.#queue.isEmpty && !this.#batches.hasWithheld;
  }

  get inFlight(): boolean {
    return !this.#answer.isOpen;
  }

  /** When the transaction under way was sent, in monotonic milliseconds. */
  get sentAt(): number | undefined {
    return this.#sentAt;
  }

  /** Rows that differ from the outputs, as of the last comparison of each. */
  get differences(): RowDifferences['counts'] {
    return this.#reports.differences.counts;
  }

  /** Identities that failed twice and are in backoff. */
  get setAside(): number {
    return this.#retries.setAside;
  }

  /** Number of identities that are compared again after a while: those set aside, and those that another program contests. */
  get backingOff(): number {
    return this.#retries.backingOff;
  }

  /** Rows whose deletion or adoption waits until the journal can be written. */
  get waitingForJournal(): number {
    return this.#journalGate.withheld;
  }

  /** Time for which transactions waited for the journal, in milliseconds. */
  get journalMs(): number {
    return this.#journalGate.spentMs;
  }

  /** Rows that an undo restored, and that are not collected while their row owner is gone. */
  get restoredRows(): number {
    return this.#restored.held;
  }

  /** Compares every identity again: after a start, a resync, or a gain of leadership. `flush` begins with it, some at a time. */
  examineAll(): void {
    this.#queue.examineAll();
  }

  /** The writes that are due now, for dry runs. Changes nothing. @param only the rows that are compared: others are taken as they are */
  plan(only?: (id: RowId) => boolean): readonly PlannedRow[] {
    const { desired, world } = this.#options;
    const planned = new Map<RowId, Uuid>();
    const every = new Set([GLOBAL_ROW, ...desired.rowIds, ...world.rows.owned]);
    // A part has the same order for each process that plans it.
    const compared = only === undefined ? every : [...every].filter(only).toSorted();
    const all = planRows(compared, this.#context(planned), planned);
    return all.filter(({ id, verdict }) => !(verdict.kind === 'change' && verdict.change === 'delete' && this.#stays(id)));
  }

  /** Sends the next transaction if a row differs and none is under way. */
  flush(): void {
    const { fence, mayWrite, upToDate, wake } = this.#options;
    // Compares nothing before all changes are known: it would be compared twice.
    if (!this.#queue.takeOver(this.#emitted)) return wake();
    if (!this.#answer.gate.passes(wake) || !this.#pause.over.passes(wake)) return;
    if (!mayWrite()) return this.#compareForReports();
    this.#observed.isWriting = true;
    this.#queue.unexamined.clear();
    this.#batches.compareWithheld();
    const guards = fence.guards();
    if (guards === undefined) return;
    // Also if there is nothing to write: a program that overwrites the term must not leave the fence open.
    if (fence.state().kind !== 'held') return this.#termRepair.begin();
    const before = this.#queue.pending.additions;
    const batch = this.#batches.next();
    // Withheld rows are compared when the write of their object has its answer.
    if (batch.parts.length === 0) return this.#nothingToSend(batch.more || this.#queue.pending.additions > before);
    if (upToDate?.() === false) return batch.parts.forEach((part) => this.#queue.reexamine(part));
    this.#send(batch, guards);
  }

  #send(batch: Batch, guards: readonly Operation[]): void {
    const { fence, world, now } = this.#options;
    const at = now();
    const taken = this.#journalGate.takenBy(batch.parts);
    const writing = taken === undefined ? undefined : this.#journalGate.write(taken);
    this.#sentAt = at;
    this.#answer.close();
    this.#lanes.sent(batch.lane);
    const transaction = buildTransaction(batch.parts, guards);
    for (const { id } of batch.parts) this.#inTransaction.set(id, world.rows.best(id)?.uuid);
    for (const { id, inserts } of batch.parts) if (inserts !== undefined) this.#inTransaction.set(id, inserts);
    const ids = [...this.#inTransaction.keys()];

    const journaled = taken === undefined ? '' : `, journaled as ${taken.tx}`;
    const comment = `kiln: term ${fence.term ?? ''}, ${ids.length} rows, first ${ids[0] ?? ''}${journaled}`;
    const sent: Sent = { batch, transaction, ids, fenced: guards.length, at };
    if (taken === undefined || writing === undefined) this.#transact(sent, comment);
    else void this.#journalGate.written(writing).then((written) => this.#journaled(sent, taken, comment, written));
  }

  #transact(sent: Sent, comment: string, taken?: Taken): void {
    void this.#options.session.transact(sent.transaction.operations, { comment }).then((outcome) => {
      if (taken !== undefined) this.#journalGate.ended(taken, outcome);
      this.#answered(sent, outcome);
    });
  }

  /** @param written false: it is not sent, and its parts are planned anew, without what has to wait for the journal */
  #journaled(sent: Sent, taken: Taken, comment: string, written: boolean): void {
    const { mayWrite, wake } = this.#options;
    if (written && mayWrite()) return this.#transact(sent, comment, taken);
    if (written) this.#journalGate.ended(taken, 'unsent');
    this.#over();
    for (const part of sent.batch.parts) this.#queue.reexamine(part);
    wake();
  }

  /** Whether a row that no rule emits is not collected now. */
  #stays(id: RowId): boolean {
    const { world, gate } = this.#options;
    const row = world.rows.best(id);
    if (row === undefined) return false;
    return this.#restored.holds(row) || !gate.allows(row);
  }

  #over(): void {
    this.#sentAt = undefined;
    this.#inTransaction.clear();
    this.#answer.open();
  }

  #answered(sent: Sent, outcome: TransactOutcome): void {
    const { now, onTransaction, wake } = this.#options;
    const { batch, transaction, ids, at } = sent;
    this.#over();
    for (const part of batch.parts) this.#queue.reexamine(part);
    if (outcome.ok) this.#succeeded(sent);
    else this.#failed(outcome.error, sent);
    onTransaction({
      ok: outcome.ok,
      rows: ids.length,
      operations: transaction.operations.length,
      durationMs: now() - at,
      counts: countEdits(batch.parts),
      ...(outcome.ok ? {} : { error: outcome.error, share: batch.lane }),
    });
    wake();
  }

  #succeeded({ batch: { lane, parts }, ids }: Sent): void {
    const { now, onDrift } = this.#options;
    this.#pause.answered();
    this.#lanes.committed(lane);
    for (const id of ids) this.#retries.written(id);
    const repaired = parts.flatMap(({ id, members }) => this.#drift.repaired(`${members === undefined ? 'row' : 'members'} ${id}`) ?? []);
    if (repaired.length > 0) onDrift(repaired, true);
    for (const { id } of repaired) if (this.#drift.isContested(id, now())) this.#retries.contested(id);
    this.#pause.afterSuccess();
  }

  #failed(error: OvsdbError, { batch: { lane }, ids, transaction, fenced }: Sent): void {
    const cause = causeOf(error, ids, transaction, fenced);
    if (cause.kind === 'silence') return this.#pause.afterSilence();
    if (cause.kind === 'server') {
      this.#pause.afterServerProblem();
      // With little disk space left, a small transaction may still succeed.
      this.#lanes.halve(lane, ids.length);
      return;
    }
    this.#pause.answered();
    if (cause.kind === 'fence') this.#termRepair.begin();
    else if (cause.kind === 'row') this.#rowFailed(cause.id, error, cause.raced);
    else this.#lanes.halve(lane, ids.length);
  }

  #rowFailed(id: RowId, error: OvsdbError, raced: boolean): void {
    const { now, onTransaction, desired, world } = this.#options;
    const share = shareOfRow(id, desired, world);
    const { isRejected, isSetAside } = this.#retries.failed(id, raced);
    if (isRejected) this.#lanes.failed(share, now());
    if (!isSetAside) return;
    this.#reports.failed(id, error);
    onTransaction({ ok: false, rows: 1, operations: 0, counts: {}, error, setAside: id, share });
  }

  /** This process does not lead: it compares for the reports alone. */
  #compareForReports(): void {
    if (this.#observed.isWriting) this.#drift.forget();
    this.#batches.hasAdopted = false;
    this.#observed.isWriting = false;
    const { unexamined } = this.#queue;
    const context = this.#context(new Map());
    let examined = 0;
    for (const id of unexamined) {
      if (examined++ >= MOST_EXAMINED) return this.#options.wake();
      unexamined.delete(id);
      this.#reports.compared(id, diffRow(id, context));
    }
  }

  /**
   * Nothing is sent now: the remaining rows are compared in the next turn, or when a lane in backoff may send again.
   * @param more rows of lanes without a backoff are left
   */
  #nothingToSend(more: boolean): void {
    const { now, later, wake } = this.#options;
    const at = now();
    const until = this.#lanes.nextBackoffEnd(at);
    if (this.#batches.hasAdopted && this.#queue.isEmpty) {
      this.#batches.hasAdopted = false;
      this.examineAll();
    }
    if (this.#queue.hasMore || more || (this.#queue.pending.size > 0 && until === undefined)) return wake();
    if (until === undefined || this.#laneTimerRunning) return;
    this.#laneTimerRunning = true;
    later(Math.ceil(until - at), () => {
      this.#laneTimerRunning = false;
      wake();
    });
  }

  #context(planned: ReadonlyMap<RowId, Uuid>): DiffContext {
    const { world, desired, gate } = this.#options;
    return {
      ...{ rows: world.rows, desired, planned },
      collisions: (id) => this.#retries.failures(id),
      isHeld: this.#restored.isHeld,
      entryStays: (row, column, key) => !gate.allowsEntry(row, column, key),
      canHold: this.#support.canHold,
      allows: this.#support.allows,
    };
  }
}
