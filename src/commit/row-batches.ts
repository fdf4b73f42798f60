/** Compares rows of the queue with the database, and collects the differences until one transaction is full. */
import type { MemberKey } from '../compile/desired-rows.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import type { Drift } from '../diff/drift.ts';
import { describeDrift } from '../diff/drift.ts';
import type { Verdict } from '../diff/edits.ts';
import { diffMembers } from '../diff/member-diff.ts';
import { diffRow } from '../diff/row-diff.ts';
import { rowsInside } from '../diff/rows-inside.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { DriftWatch } from './drift-watch.ts';
import { unexplainedMark } from './collection-gate.ts';
import type { NorthboundWriterOptions } from './northbound-writer-options.ts';
import { rankOf } from './pending-rows.ts';
import type { RowQueue } from './row-queue.ts';
import type { RowReports } from './row-reports.ts';
import type { RowRetries } from './row-retries.ts';
import { shareOfRow } from './row-share.ts';
import { requiredObjects } from './required-objects.ts';
import type { JournalGate } from './journal-gate.ts';
import type { RestoredRows } from './restored-rows.ts';
import type { Lane, TransactionLanes } from './transaction-lanes.ts';
import type { Part } from './transaction.ts';

/** Most rows and members compared in one turn: a turn has to be short. */
export const MOST_EXAMINED = 2_000;

/** The contents of one transaction. */
export interface Batch {
  readonly lane: Lane;
  readonly parts: readonly Part[];
  /** The turn was over before all rows of the lane were compared. */
  readonly more: boolean;
}

/** A batch under construction. */
interface Filling {
  readonly parts: Part[];
  readonly planned: Map<RowId, Uuid>;
  readonly context: DiffContext;
  readonly drifts: Drift[];
  /** A row that was passed already waited for one that is planned now. */
  isAwakened: boolean;
}

export interface RowBatchOptions {
  readonly writer: NorthboundWriterOptions;
  readonly queue: RowQueue;
  readonly lanes: TransactionLanes;
  readonly retries: RowRetries;
  readonly reports: RowReports;
  readonly drift: DriftWatch;
  readonly journalGate: JournalGate;
  readonly restored: RestoredRows;
  readonly contextOf: (planned: ReadonlyMap<RowId, Uuid>) => DiffContext;
}

export class RowBatches {
  readonly #options: RowBatchOptions;
  /** Rows that are not made while an object that they require is being released. */
  readonly #withheld = new Set<RowId>();
  /** Legacy rows were adopted since all rows were compared: as members of shared columns Kiln may remove them now. */
  hasAdopted = false;

  constructor(options: RowBatchOptions) {
    this.#options = options;
  }

  /** Rows wait for the answer to a write that releases an object. */
  get hasWithheld(): boolean {
    return this.#withheld.size > 0;
  }

  /** Compares withheld rows again when the write has its answer. */
  compareWithheld(): void {
    for (const id of this.#withheld) {
      if (this.#isWithheld(id)) continue;
      this.#withheld.delete(id);
      this.#options.queue.mark(id);
    }
  }

  /** The batch of the first lane that has something to send. */
  next(): Batch {
    const { lanes, writer } = this.#options;
    let more = false;
    for (const lane of lanes.turns(writer.now())) {
      const batch = this.#of(lane);
      if (batch.parts.length > 0) return batch;
      more ||= batch.more;
    }
    return { lane: '', parts: [], more };
  }

  #of(lane: Lane): Batch {
    const { lanes, writer, queue, retries, drift, contextOf } = this.#options;
    const { pending } = queue;
    const most = lanes.rows(lane);
    const planned = new Map<RowId, Uuid>();
    const context = contextOf(planned);
    const filling: Filling = { parts: [], planned, context, drifts: [], isAwakened: false };
    const { parts, drifts } = filling;
    let examined = 0;
    do {
      filling.isAwakened = false;
      for (const rows of pending.rows) {
        for (const id of rows) {
          if (!this.#goesInto(lane, id)) continue;
          if (parts.length >= most || examined++ >= MOST_EXAMINED) break;
          rows.delete(id);
          // Members of a row wait for the row itself, and are woken when it is planned: it is inserted once.
          if (planned.has(id)) continue;
          if (retries.inBackoff(id)) continue;
          const verdict = diffRow(id, context);
          this.#conclude(id, verdict, filling, { isDrift: drift.rowCompared(id, verdict) });
        }
      }
    } while (filling.isAwakened);
    queue.markReferrers([...planned.keys()].filter((id) => writer.world.rows.best(id) !== undefined));
    for (const [id, keys] of pending.members) {
      if (lane === '' && !this.#goesInto(lane, id)) continue;
      if (parts.length >= most || examined >= MOST_EXAMINED) break;
      examined += keys === 'all' ? (writer.desired.row(id)?.members.size ?? 1) : keys.size;
      pending.members.delete(id);
      if (retries.inBackoff(id)) continue;
      const verdict = diffMembers(id, keys, context);
      this.#conclude(id, verdict, filling, { isDrift: drift.membersCompared(id, keys, verdict), members: keys });
    }
    // If another process leads by now, the transaction fails at the fence, and the differences are that process's work.
    if (drifts.length > 0 && writer.fence.state().kind !== 'deposed') writer.onDrift(drifts, false);
    return { lane, parts, more: examined >= MOST_EXAMINED };
  }

  #goesInto(lane: Lane, id: RowId): boolean {
    const { lanes, writer } = this.#options;
    return lanes.isOne || lanes.has(lane, shareOfRow(id, writer.desired, writer.world));
  }

  #reportDrift(id: RowId, verdict: Verdict, { context, drifts }: Filling, part: 'row' | 'members'): void {
    if (verdict.kind !== 'change') return;
    const drift = describeDrift(id, verdict, context);
    if (this.#options.drift.report(`${part} ${id}`, drift)) drifts.push(drift);
  }

  #conclude(
    id: RowId,
    verdict: Verdict,
    filling: Filling,
    { members, isDrift }: { readonly members?: ReadonlySet<MemberKey> | 'all'; readonly isDrift: boolean },
  ): void {
    const { queue, reports, journalGate } = this.#options;
    const { parts, planned } = filling;
    if (members === undefined) reports.compared(id, verdict);
    else reports.keys.compared(id);
    queue.looked(id, members ?? 'row', verdict.kind === 'waiting' || verdict.kind === 'conflict' ? (verdict.on ?? []) : []);
    if (verdict.kind === 'conflict' && members === undefined) return this.#mark(id, parts);
    if (verdict.kind !== 'change') return;
    if (verdict.change === 'delete' && !this.#mayCollect(id)) return this.#mark(id, parts);
    // Only now: a row that stays, as one that an undo restored, is not repaired.
    if (isDrift) this.#reportDrift(id, verdict, filling, members === undefined ? 'row' : 'members');
    if (verdict.inserts !== undefined && this.#isWithheld(id)) {
      this.#withheld.add(id);
      return;
    }
    const part: Part = {
      id,
      edits: verdict.edits,
      ...(isDrift && { isDrift }),
      ...(members !== undefined && { members }),
      ...(verdict.inserts !== undefined && { inserts: verdict.inserts }),
    };
    if (!journalGate.admits(part)) return;
    if (this.#options.writer.world.rows.best(id)?.ownership.kind === 'legacy') this.hasAdopted = true;
    parts.push(part);
    if (verdict.inserts !== undefined) {
      planned.set(id, verdict.inserts);
      queue.pending.members.set(id, 'all');
      if (queue.awaken(id).some((waiter) => rankOf(waiter) < rankOf(id))) filling.isAwakened = true;
    }
  }

  #mayCollect(id: RowId): boolean {
    const { world, gate, undecided } = this.#options.writer;
    const row = world.rows.best(id);
    if (row === undefined) return true;
    const { restored, queue } = this.#options;
    if (restored.holds(row)) return false;
    // What an undo restored would go with the row that it is in.
    for (const { row: inside } of rowsInside(row, world)) {
      if (!restored.holds(inside)) continue;
      queue.looked(id, 'row', [inside.id]);
      return false;
    }
    return gate.allows(row) && !(row.ownership.kind === 'ours' && undecided(row.ownership.owner));
  }

  /** A row that no rule emits, and that stays: since when is written into it. */
  #mark(id: RowId, parts: Part[]): void {
    const { world, desired, gate, wallTime } = this.#options.writer;
    const row = world.rows.best(id);
    if (row === undefined || (desired.row(id)?.rows.length ?? 0) > 0 || this.#options.restored.isHeld(row) || !gate.marks(row)) return;
    const edits = unexplainedMark(row, new Date(wallTime()).toISOString());
    if (edits.length > 0) parts.push({ id, edits });
  }

  /**
   * An object that the row requires is being released: the write removes Kiln's last finalizer and cannot be taken back. After its answer
   * the rules know whether the object exists, and the row is compared again.
   */
  #isWithheld(id: RowId): boolean {
    const { isBeingReleased, desired } = this.#options.writer;
    if (isBeingReleased === undefined) return false;
    const owners = (desired.row(id)?.rows ?? []).map(({ owner }) => owner);
    return requiredObjects(id, owners).some(isBeingReleased);
  }
}
