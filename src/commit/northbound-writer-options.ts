/** Options and callbacks of the Northbound writer. */
import type { DesiredRows } from '../compile/desired-rows.ts';
import type { ObjectId } from '../compile/output.ts';
import type { Drift } from '../diff/drift.ts';
import type { Verdict } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import type { CollectionGate } from './collection-gate.ts';
import type { Fence } from './fence.ts';
import type { Journal } from '../journal/journal.ts';
import type { OvsdbError, OvsdbSession } from '../ovsdb/index.ts';

export interface NorthboundWriterOptions {
  readonly session: OvsdbSession;
  readonly world: World;
  readonly desired: DesiredRows;
  readonly fence: Fence;
  /** Asked before a row is deleted that no rule emits. */
  readonly gate: CollectionGate;
  /** What a transaction deletes or overwrites is written here before it is sent. */
  readonly journal: Journal;
  /** Whether the object `<kind>/<namespace>/<name>` exists: until it does, rows that an undo restored for it are not collected. */
  readonly ownerExists: (owner: string) => boolean;
  /** Whether the outputs about the owner are incomplete (a rule threw): then none of its rows is collected. */
  readonly undecided: (owner: string) => boolean;
  /**
   * Whether a write that removes Kiln's last finalizer of the object has no answer yet: meanwhile no row of it is made, or the object could
   * be gone while the row exists. `wake` is called when it is answered.
   */
  readonly isBeingReleased?: (object: ObjectId) => boolean;
  /** Called before each transaction: whether this process leads, its caches are complete, and Kube-OVN's controller does not run. */
  readonly mayWrite: () => boolean;
  /**
   * Whether everything that an earlier leader wrote was observed; called when there is something to send. `wake` is called when it becomes
   * true.
   */
  readonly upToDate?: () => boolean;
  /** Called when another process has taken a newer term. */
  readonly deposed: () => void;
  /** Called after each transaction, for metrics and the log. */
  readonly onTransaction: (report: TransactionReport) => void;
  /** Called with drift when it is found, and again when it is repaired. */
  readonly onDrift: (drifts: readonly Drift[], repaired: boolean) => void;
  /** Called once for each column or value that this server's schema lacks (`ACL.tier`). */
  readonly onLeftOut: (what: string) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970, for the journal. */
  readonly wallTime: () => number;
  /** A timer of the caller's clock. */
  readonly later: (ms: number, run: () => void) => void;
  /** Called when there is something to do: the caller schedules a turn. */
  readonly wake: () => void;
  readonly maxRows?: number;
}

export interface TransactionReport {
  readonly ok: boolean;
  readonly rows: number;
  readonly operations: number;
  /** From sending to the reply, in milliseconds; absent if the report is about an identity that is set aside. */
  readonly durationMs?: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly error?: OvsdbError;
  readonly setAside?: RowId;
  /** The share of the failed rows, if known: a namespace, or a cluster-scoped object. */
  readonly share?: string;
}

/** What the writer would write now: for dry runs, audits, and the check that a fresh controller plans nothing. */
export interface PlannedRow {
  readonly id: RowId;
  readonly verdict: Verdict;
}
