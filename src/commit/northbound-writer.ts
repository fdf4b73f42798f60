/**
 * The Northbound writer: the only code that changes the Northbound database. It takes the identities that may differ, diffs them against
 * the replica, and sends what differs, one fenced and guarded transaction at a time. The effects of a transaction come back through the
 * replica before its reply, so nothing has to be remembered about it. The file is long because rows to be examined, rows under way and rows
 * at rest are one state.
 */
import type { MemberKey } from '../compile/desired.ts';
import { memberKey } from '../compile/desired.ts';
import type { Drift } from '../diff/drift.ts';
import { describeDrift, differenceOf } from '../diff/drift.ts';
import type { Verdict } from '../diff/edits.ts';
import { diffMembers } from '../diff/member-diff.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import { differsFromItsSeal, diffRow } from '../diff/row-diff.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import type { OvsdbError, Uuid } from '../ovsdb/index.ts';
import { isServerWide } from '../ovsdb/index.ts';
import { equal } from '../world/equal.ts';
import { DriftWatch } from './drift-watch.ts';
import { foundConflict } from './found-conflict.ts';
import type { NorthboundWriterOptions, PlannedRow } from './northbound-writer-options.ts';
import { hasMembers, PendingRows } from './pending-rows.ts';
import { planRows } from './plan-rows.ts';
import { ProvenSeals } from './proven-seals.ts';
import { RowDependents } from './row-dependents.ts';
import { RowDifferences } from './row-differences.ts';
import { RowWaits } from './row-waits.ts';
import { shareOfRow } from './row-share.ts';
import { requiredObjects } from './required-objects.ts';
import type { Lane } from './transaction-lanes.ts';
import { TransactionLanes } from './transaction-lanes.ts';
import type { Part, Transaction } from './transaction.ts';
import { buildTransaction, countEdits } from './transaction.ts';

export type { NorthboundWriterOptions, TransactionReport, PlannedRow } from './northbound-writer-options.ts';

/**
 * Between transactions, so that changes gather: each costs ovsdb-server and northd a round, and a few rows at a time would keep them,
 * and the API server beside them, from their work. The first of a quiet time goes at once.
 */
const PACE_MS = 20;
const RETRY_MS = 1_000;
/** A database that refuses everything is asked no less often, so that nobody waits for long when it is well again. */
const MOST_RETRY_MS = 5_000;
const SET_ASIDE_MS = 30_000;
const CALM_MS = 1_000;
/** How often in a row another program may be faster for one identity before it counts as a refusal. */
const MOST_RACES = 5;
/** Rows and members in one turn: a turn is to be short. */
const MOST_EXAMINED = 2_000;
/** Identities taken over from the rules in one turn. */
const MOST_TAKEN = 5_000;

/** What goes into one transaction. */
interface Batch {
  readonly lane: Lane;
  readonly parts: Part[];
  /** The turn was over before all of the lane was looked at. */
  readonly more: boolean;
}

export class NorthboundWriter {
  readonly #options: NorthboundWriterOptions;
  readonly #pending: PendingRows;
  /** What is left of all identities that are to be looked at again. */
  #all: Iterator<RowId> | undefined;
  /** Legacy rows were adopted since all was examined: as members of shared columns they are ours to remove now, which nobody looked at. */
  #adopted = false;
  readonly #dependents: RowDependents;
  readonly #waits = new RowWaits();
  readonly #failures = new Map<RowId, number>();
  readonly #aside = new Set<RowId>();
  /** Rows that another program changes as often as they are put right: looked at again after a while. */
  readonly #calming = new Set<RowId>();
  /** Rows that are not made while an object that they are for is being let go. */
  readonly #unsupported = new Set<RowId>();
  readonly #leftOut = new Set<string>();
  readonly #differences = new RowDifferences();
  readonly #drift = new DriftWatch();
  readonly #proven = new ProvenSeals();
  /** Whether this process could write when it last looked. */
  #writing = false;
  /** Marked while this process could not write: examined for conflicts only, so that a standby knows these too. */
  readonly #unexamined = new Set<RowId>();
  /** Identities of the transaction that is under way, with the row that stands for each. */
  #sent: ReadonlyMap<RowId, Uuid | undefined> = new Map();
  #sentAt: number | undefined;
  /** The term was written again just now, or is being written. */
  #restoring = false;
  /** After a transaction that nobody answered, or that the server could not carry out. */
  #resting = false;
  /** How often in a row the server refused because of a problem of its own. */
  #refusals = 0;
  readonly #lanes: TransactionLanes;
  /** A lane that rests has something to send: it is waited for. */
  #lanesRest = false;

  constructor(options: NorthboundWriterOptions) {
    this.#options = options;
    this.#pending = new PendingRows(options.world, options.desired);
    this.#dependents = new RowDependents(options.world.rows, options.desired);
    this.#lanes = new TransactionLanes(options.maxRows ?? 2_000);
    options.world.rows.onChange({
      row: (id) => {
        this.#observed(id);
        this.#awaken(id);
      },
      member: (id, column, member) => this.#memberObserved(id, column, member),
    });
  }

  /** True when nothing is left to look at and no transaction is under way. */
  get quiet(): boolean {
    return !this.inFlight && !this.#adopted && this.#pending.size === 0 && this.#all === undefined && this.#unsupported.size === 0;
  }

  get inFlight(): boolean {
    return this.#sentAt !== undefined;
  }

  /** When the transaction that is under way was sent, in monotonic milliseconds. */
  get sentAt(): number | undefined {
    return this.#sentAt;
  }

  /** Rows that are not as the rules want them, as of the last look at each. */
  get differences(): RowDifferences['counts'] {
    return this.#differences.counts;
  }

  /** Identities that OVN refused twice and that rest. */
  get setAside(): number {
    return this.#aside.size;
  }

  /** Identities that are looked at again after a while: those set aside, and those that another program changes as often as they are written. */
  get resting(): number {
    return this.#aside.size + this.#calming.size;
  }

  /** Looks at every identity again: after a start, a resync, or a gain of leadership. `flush` begins with it, some at a time. */
  examineAll(): void {
    const { desired, world } = this.#options;
    this.#all = eachOf(desired.rowIds, world.rows.owned);
  }

  /** What would be written now. Changes nothing. */
  plan(): readonly PlannedRow[] {
    const { desired, world } = this.#options;
    const planned = new Map<RowId, Uuid>();
    return planRows(new Set([...desired.rowIds, ...world.rows.owned]), this.#context(planned), planned);
  }

  /** Sends the next transaction if there is something to change and none is under way. */
  flush(): void {
    // Only then: what is looked at before all are known is looked at again.
    if (!this.#takeDirty()) return this.#options.wake();
    if (this.inFlight || this.#resting) return;
    if (!this.#options.mayWrite()) return this.#stand();
    this.#writing = true;
    this.#unexamined.clear();
    this.#lookAtUnsupported();
    const fence = this.#options.fence.guards();
    if (fence === undefined) return;
    // Also where nothing else is to be written: who writes the term over is not to have opened the fence.
    if (this.#options.fence.state().kind !== 'held') return this.#fenceFailed();
    const before = this.#pending.additions;
    const { lane, parts, more } = this.#nextBatch();
    // What waits for the answer to a write of an object is looked at when that has come.
    if (parts.length === 0) return this.#lookOn(more || this.#pending.additions > before);
    if (this.#options.upToDate?.() === false) return parts.forEach((part) => this.#reexamine(part));
    const sentAt = this.#options.now();
    this.#sentAt = sentAt;
    this.#lanes.sent(lane);
    const { operations, blame } = buildTransaction(parts, fence);
    const sent = new Map(parts.map(({ id }) => [id, this.#options.world.rows.best(id)?.uuid]));
    for (const { id, inserts } of parts) if (inserts !== undefined) sent.set(id, inserts);
    this.#sent = sent;
    const ids = [...sent.keys()];
    const comment = `kiln: term ${this.#options.fence.term ?? ''}, ${ids.length} rows, first ${ids[0] ?? ''}`;
    void this.#options.session.transact(operations, { comment }).then((outcome) => {
      this.#sentAt = undefined;
      this.#sent = new Map();
      for (const part of parts) this.#reexamine(part);
      if (outcome.ok) {
        this.#refusals = 0;
        this.#lanes.committed(lane);
        for (const id of ids) this.#failures.delete(id);
        const repaired = parts.flatMap(
          ({ id, members }) => this.#drift.repaired(`${members === undefined ? 'row' : 'members'} ${id}`) ?? [],
        );
        if (repaired.length > 0) this.#options.onDrift(repaired, true);
        for (const { id } of repaired) if (this.#drift.isContested(id, this.#options.now())) this.#calm(id);
        this.#rest(PACE_MS);
      } else this.#failed(outcome.error, lane, ids, { operations, blame }, fence.length);
      this.#options.onTransaction({
        ok: outcome.ok,
        rows: ids.length,
        operations: operations.length,
        durationMs: this.#options.now() - sentAt,
        counts: countEdits(parts),
        ...(outcome.ok ? {} : { error: outcome.error, share: lane }),
      });
      this.#options.wake();
    });
  }

  /** Sends nothing for a while. */
  #rest(ms: number): void {
    this.#resting = true;
    this.#options.later(ms, () => {
      this.#resting = false;
      this.#options.wake();
    });
  }

  /** Somebody else writes, or nobody. */
  #stand(): void {
    if (this.#writing) this.#drift.forget();
    this.#proven.forget();
    this.#adopted = false;
    this.#writing = false;
    this.#examine();
  }

  #examine(): void {
    const context = this.#context(new Map());
    let examined = 0;
    for (const id of this.#unexamined) {
      if (examined++ >= MOST_EXAMINED) return this.#options.wake();
      this.#unexamined.delete(id);
      this.#report(id, diffRow(id, context));
    }
  }

  /**
   * Nothing is to be sent now: the rest is looked at in the next turn, or when a lane that rests may send again.
   * @param more not all was looked at of the lanes that do not rest
   */
  #lookOn(more: boolean): void {
    const now = this.#options.now();
    const until = this.#lanes.restUntil(now);
    if (this.#adopted && this.#pending.size === 0 && this.#all === undefined) {
      this.#adopted = false;
      this.examineAll();
    }
    if (this.#all !== undefined || more || (this.#pending.size > 0 && until === undefined)) return this.#options.wake();
    if (until === undefined || this.#lanesRest) return;
    this.#lanesRest = true;
    this.#options.later(Math.ceil(until - now), () => {
      this.#lanesRest = false;
      this.#options.wake();
    });
  }

  /** Of the first lane that has something to send. */
  #nextBatch(): Batch {
    let more = false;
    for (const lane of this.#lanes.turns(this.#options.now())) {
      const batch = this.#batchOf(lane);
      if (batch.parts.length > 0) return batch;
      more ||= batch.more;
    }
    return { lane: '', parts: [], more };
  }

  #batchOf(lane: Lane): Batch {
    const most = this.#lanes.rows(lane);
    const planned = new Map<RowId, Uuid>();
    const context = this.#context(planned);
    const { world } = this.#options;
    const drifts: Drift[] = [];
    const parts: Part[] = [];
    let examined = 0;
    for (const rows of this.#pending.rows) {
      for (const id of rows) {
        if (!this.#goesInto(lane, id)) continue;
        if (parts.length >= most || examined++ >= MOST_EXAMINED) break;
        rows.delete(id);
        // Members of a row wait for the row itself, and are woken when it is planned: it is inserted once.
        if (planned.has(id)) continue;
        if (this.#aside.has(id) || this.#calming.has(id)) continue;
        this.#proven.note(id, context);
        const verdict = diffRow(id, context);
        if (this.#drift.rowCompared(id, verdict, (change) => differsFromItsSeal(id, change, context)))
          this.#tell(id, verdict, context, drifts);
        this.#conclude(id, verdict, parts, planned);
      }
    }
    // What refers to a row that is made anew is to refer to the new one at once: a port is not to be outside of its security groups.
    const anew = [...planned.keys()].filter((id) => world.rows.best(id) !== undefined);
    for (const [id, key] of this.#dependents.memberships(anew)) this.#pending.markMembers(id, new Set([key]));
    for (const [id, keys] of this.#pending.members) {
      if (lane === '' && !this.#goesInto(lane, id)) continue;
      if (parts.length >= most || examined >= MOST_EXAMINED) break;
      examined += keys === 'all' ? (this.#options.desired.row(id)?.members.size ?? 1) : keys.size;
      this.#pending.members.delete(id);
      if (this.#aside.has(id) || this.#calming.has(id)) continue;
      const verdict = diffMembers(id, keys, context);
      if (this.#drift.membersCompared(id, keys, verdict)) this.#tell(id, verdict, context, drifts, 'members');
      this.#conclude(id, verdict, parts, planned, keys);
    }
    // Where another process leads by now, the fence refuses all this, and what is found is that process's work.
    if (drifts.length > 0 && this.#options.fence.state().kind !== 'deposed') this.#options.onDrift(drifts, false);
    return { lane, parts, more: examined >= MOST_EXAMINED };
  }

  #tell(id: RowId, verdict: Verdict, context: DiffContext, drifts: Drift[], part = 'row'): void {
    if (verdict.kind !== 'change') return;
    const drift = describeDrift(id, verdict, context);
    if (this.#drift.report(`${part} ${id}`, drift)) drifts.push(drift);
  }

  #conclude(id: RowId, verdict: Verdict, parts: Part[], planned: Map<RowId, Uuid>, members?: ReadonlySet<MemberKey> | 'all'): void {
    const { world, limit } = this.#options;
    if (members === undefined) this.#report(id, verdict);
    this.#waits.looked(id, members ?? 'row', verdict.kind === 'waiting' || verdict.kind === 'conflict' ? (verdict.on ?? []) : []);
    if (verdict.kind !== 'change') return;
    if (verdict.change === 'delete') {
      const ownership = world.rows.best(id)?.ownership;
      if (!limit.allows(id, ownership) || (ownership?.kind === 'ours' && this.#options.undecided(ownership.owner))) return;
    }
    if (verdict.inserts !== undefined && this.#losesSupport(id)) {
      this.#unsupported.add(id);
      return;
    }
    if (world.rows.best(id)?.ownership.kind === 'legacy') this.#adopted = true;
    parts.push({
      id,
      edits: verdict.edits,
      ...(members !== undefined && { members }),
      ...(verdict.inserts !== undefined && { inserts: verdict.inserts }),
    });
    if (verdict.inserts !== undefined) {
      planned.set(id, verdict.inserts);
      this.#pending.members.set(id, 'all');
      this.#awaken(id);
    }
  }

  /**
   * An object that the row is for is being let go: the write says that nobody needs it, and cannot be taken back. When it is answered the rules
   * know what is there, and the row is looked at again.
   */
  #losesSupport(id: RowId): boolean {
    const { isBeingReleased, desired } = this.#options;
    if (isBeingReleased === undefined) return false;
    const owners = (desired.row(id)?.rows ?? []).map(({ owner }) => owner);
    return requiredObjects(id, owners).some(isBeingReleased);
  }

  /** Keeps the conflicts that rules and people see in step with what the diff found. */
  #report(id: RowId, verdict: Verdict): void {
    const { rowConflicts } = this.#options.world;
    this.#differences.note(id, differenceOf(verdict));
    const conflict = foundConflict(id, verdict, this.#ownersOf(id));
    // What is told already wakes no rule: a row that is not to be written yet is looked at in every turn.
    if (conflict !== undefined) {
      if (!equal(conflict, rowConflicts.peek(id))) rowConflicts.set(id, conflict);
    } else if (verdict.kind === 'converged' || verdict.kind === 'waiting') {
      this.#failures.delete(id);
      rowConflicts.delete(id);
      // What OVN refused stays a conflict while it is tried again.
    } else if (!this.#failures.has(id)) rowConflicts.delete(id);
  }

  #goesInto(lane: Lane, id: RowId): boolean {
    return this.#lanes.isOne || this.#lanes.has(lane, this.#shareOf(id));
  }

  #shareOf(id: RowId): string {
    return shareOfRow(id, this.#options.desired, this.#options.world);
  }

  /** Of the objects that want the row, the one that is to have it first. */
  #ownersOf(id: RowId): readonly string[] {
    return (this.#options.desired.row(id)?.rows ?? []).map(({ owner }) => ownerText(owner));
  }

  #failed(error: OvsdbError, lane: Lane, ids: readonly RowId[], { operations, blame }: Transaction, fenced: number): void {
    const at = error.operation?.index;
    // Not sent, or the outcome is unknown: no row is at fault, unless an operation could not be encoded.
    if (error.outcome !== 'rejected' && at === undefined) {
      this.#rest(RETRY_MS);
      return;
    }
    if (isServerWide(error)) {
      this.#rest(Math.min(RETRY_MS * 2 ** this.#refusals++, MOST_RETRY_MS));
      // Where there is little room, a little still goes.
      this.#lanes.halve(lane, ids.length);
      return;
    }
    this.#refusals = 0;
    if (at !== undefined && at < fenced) {
      this.#fenceFailed();
      return;
    }
    const culprits = at === undefined ? [] : (blame[at] ?? []);
    const raced = at !== undefined && operations[at]?.op === 'wait';
    if (culprits.length === 1 && culprits[0] !== undefined) this.#blame(culprits[0], error, raced);
    else if (ids.length === 1 && ids[0] !== undefined) this.#blame(ids[0], error, raced);
    else this.#lanes.halve(lane, ids.length);
  }

  #fenceFailed(): void {
    const { fence } = this.#options;
    if (fence.state().kind === 'deposed') {
      fence.drop();
      this.#options.deposed();
      return;
    }
    if (this.#restoring) return;
    this.#restoring = true;
    // The key is gone or older while the lease is surely our own: another program rewrote the map. One that does so all the time is followed once a second.
    void fence.restore().then((restored) => {
      if (restored) this.#options.wake();
      this.#restoreNoMore();
    });
  }

  /** For a while: one that was written over again meanwhile, or could not be written, is looked at then. */
  #restoreNoMore(): void {
    this.#options.later(RETRY_MS, () => {
      this.#restoring = false;
      if (this.#options.fence.state().kind !== 'held') this.#options.wake();
    });
  }

  /**
   * The first failure is planned anew after the replica has moved on; the second sets the identity aside.
   * @param raced a guard failed: nothing was refused, another program was faster
   */
  #blame(id: RowId, error: OvsdbError, raced: boolean): void {
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    // At once: who edits faster than a transaction takes has another row by then.
    if (!raced || failures >= MOST_RACES) this.#lanes.failed(this.#shareOf(id), this.#options.now());
    if (failures < 2) return;
    if (raced && failures < MOST_RACES) return this.#calm(id);
    this.#aside.add(id);
    const ownership = this.#options.world.rows.best(id)?.ownership;
    const wanted = this.#ownersOf(id);
    const owners = wanted.length > 0 ? wanted : ownership?.kind === 'ours' ? [ownership.owner] : [];
    const what = error.code === 'OVSDB_BAD_VALUE' ? 'cannot be written' : 'was refused by OVN';
    this.#options.world.rowConflicts.set(id, { owners, message: `${tableOf(id)} ${identityOf(id)} ${what}: ${error.message}` });
    this.#options.onTransaction({ ok: false, rows: 1, operations: 0, counts: {}, error, setAside: id, share: this.#shareOf(id) });
    this.#options.later(SET_ASIDE_MS, () => {
      this.#retry(id);
      this.#options.wake();
    });
  }

  /** What was sent is compared again: it is settled, or it was refused and is planned anew. */
  #reexamine({ id, members }: Part): void {
    if (members === undefined) this.#mark(id, 'row');
    else if (members === 'all') this.#pending.members.set(id, 'all');
    else this.#pending.markMembers(id, new Set(members));
  }

  #calm(id: RowId): void {
    this.#calming.add(id);
    this.#options.later(CALM_MS, () => {
      this.#calming.delete(id);
      this.#mark(id);
      this.#options.wake();
    });
  }

  #lookAtUnsupported(): void {
    for (const id of this.#unsupported) {
      if (this.#losesSupport(id)) continue;
      this.#unsupported.delete(id);
      this.#mark(id);
    }
  }

  #retry(id: RowId): void {
    this.#aside.delete(id);
    this.#mark(id);
  }

  /** @returns false where the turn is over before all that is to be looked at was taken */
  #takeDirty(): boolean {
    const { desired } = this.#options;
    let taken = 0;
    for (const id of desired.dirtyRows) {
      if (taken++ >= MOST_TAKEN) return false;
      desired.dirtyRows.delete(id);
      this.#drift.emitted(id);
      if (this.#aside.delete(id)) this.#failures.delete(id);
      this.#mark(id);
    }
    for (let next = this.#all?.next(); next !== undefined; next = this.#all?.next()) {
      if (next.done === true) this.#all = undefined;
      else this.#mark(next.value);
      if (taken++ >= MOST_TAKEN) return false;
    }
    for (const [id, keys] of desired.dirtyMembers) {
      desired.dirtyMembers.delete(id);
      this.#drift.memberEmitted(id, keys);
      this.#pending.markMembers(id, keys);
    }
    return true;
  }

  /** A row changed outside or by ourselves: it matters when a rule speaks of it or it is ours. */
  #observed(id: RowId): void {
    const { desired, world } = this.#options;
    const row = world.rows.best(id);
    if (desired.row(id) === undefined && row?.ownership.kind !== 'ours') {
      // What was found of it while it was Kiln's is so no more.
      if (world.rowConflicts.peek(id) !== undefined || this.#differences.has(id)) this.#mark(id, 'row');
      // A stranger's row in one of ours that cannot go: which of them is named may be another one now.
      const within = row?.parent === undefined ? undefined : world.rows.entry(row.parent.uuid)?.id;
      if (within !== undefined && world.rowConflicts.peek(within) !== undefined) this.#mark(within, 'row');
      return;
    }
    for (const other of this.#dependents.of(id, row)) this.#mark(other, 'row');
    if (this.#writing && !this.#sent.has(id) && !this.#isPending(id)) this.#drift.rowChanged(id, hasMembers(id));
    // Of what is being sent, the members that are sent are looked at again with the reply; those of another row that stands for it now were not.
    this.#mark(id, this.#sent.has(id) && this.#sent.get(id) === row?.uuid ? 'row' : 'all');
  }

  #memberObserved(id: RowId, column: string, member: RowId): void {
    const key = memberKey(column, { ref: member });
    // A member that left because its row did is that row's drift, and none where that was replaced by what is sent now.
    const present = this.#options.world.rows.best(member) !== undefined && !this.#sent.has(member);
    if (this.#writing && present && !this.#sent.has(id) && !this.#isPending(id, key)) this.#drift.memberChanged(id, key);
    this.#pending.markMembers(id, new Set([key]));
  }

  /** Something of it is to be written already. */
  #isPending(id: RowId, key?: MemberKey): boolean {
    return this.#pending.has(id) || this.#aside.has(id) || (key !== undefined && this.#pending.hasMember(id, key));
  }

  #awaken(id: RowId): void {
    for (const waiter of this.#waits.awaken(id)) this.#mark(waiter, 'all');
  }

  #mark(id: RowId, how: 'row' | 'all' = 'all'): void {
    this.#unexamined.add(id);
    this.#pending.mark(id, how, this.#sent.has(id));
  }

  #leaveOut(what: string): false {
    if (!this.#leftOut.has(what)) {
      this.#leftOut.add(what);
      this.#options.onLeftOut(what);
    }
    return false;
  }

  #context(planned: ReadonlyMap<RowId, Uuid>): DiffContext {
    const { session, world, desired } = this.#options;
    return {
      rows: world.rows,
      desired,
      planned,
      refusals: (id) => this.#failures.get(id) ?? 0,
      proven: (id) => this.#proven.of(id),
      canHold: (table, column) => session.schema?.tables.get(table)?.columns.has(column) === true || this.#leaveOut(`${table}.${column}`),
      allows: (table, column, atom) => {
        const values = session.schema?.tables.get(table)?.columns.get(column)?.key.enum;
        return values === undefined || values.has(atom) || this.#leaveOut(`${table}.${column} "${String(atom)}"`);
      },
    };
  }
}

function* eachOf(...lists: readonly Iterable<RowId>[]): Generator<RowId> {
  for (const list of lists) yield* list;
}
