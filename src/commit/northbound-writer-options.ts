/** What the Northbound writer is given, and what it tells. */
import type { Desired } from '../compile/desired.ts';
import type { ObjectId } from '../compile/output.ts';
import type { Drift } from '../diff/drift.ts';
import type { Verdict } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import type { CollectionLimit } from './collection-limit.ts';
import type { Fence } from './fence.ts';
import type { OvsdbError, OvsdbSession } from '../ovsdb/index.ts';

export interface NorthboundWriterOptions {
  readonly session: OvsdbSession;
  readonly world: World;
  readonly desired: Desired;
  readonly fence: Fence;
  readonly limit: CollectionLimit;
  /** Whether it is not known what is wanted for the owner: then nothing of it is collected. */
  readonly undecided: (owner: string) => boolean;
  /**
   * Whether a write that takes an object's last finalizer of Kiln's is not answered yet: no row is made for it meanwhile, or the object would
   * go while the row is there. `wake` is called when it is answered.
   */
  readonly isBeingReleased?: (object: ObjectId) => boolean;
  /** Asked before each transaction: leader, caches complete, nobody else in charge. */
  readonly mayWrite: () => boolean;
  /** Asked where there is something to send: whether all is seen that a leader before this one wrote. `wake` is called when it is. */
  readonly upToDate?: () => boolean;
  /** Another process leads. */
  readonly deposed: () => void;
  /** Told after each transaction, for metrics and the log. */
  readonly onTransaction: (report: TransactionReport) => void;
  /** Told of what another program changed: as it is found, and again when it is put right. */
  readonly onDrift: (drifts: readonly Drift[], repaired: boolean) => void;
  /** What this server's schema cannot hold (`ACL.tier`); told once each. */
  readonly onLeftOut: (what: string) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Calls back after a while: a clock of the caller's. */
  readonly later: (ms: number, run: () => void) => void;
  /** Something is to be done: the caller schedules a turn. */
  readonly wake: () => void;
  readonly maxRows?: number;
}

export interface TransactionReport {
  readonly ok: boolean;
  readonly rows: number;
  readonly operations: number;
  /** From sending it to its reply, in milliseconds; absent where the report is of an identity that is set aside. */
  readonly durationMs?: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly error?: OvsdbError;
  readonly setAside?: RowId;
  /** Whose rows were refused, where that is known: a namespace, or an object of the cluster. */
  readonly share?: string;
}

/** What the writer would do now, for dry runs, audits and "a fresh controller plans nothing". */
export interface PlannedRow {
  readonly id: RowId;
  readonly verdict: Verdict;
}
