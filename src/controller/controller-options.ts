/** Options and status of a controller. */
import type { PlannedRow } from '../commit/northbound-writer.ts';
import type { Rule } from '../compile/rule.ts';
import type { ObjectId } from '../compile/output.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { Clock, Random } from '../timing/clock.ts';
import type { KubeError } from '../kube/errors.ts';
import type { RowId } from '../nb/row-id.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';
import type { Journal } from '../journal/journal.ts';
import type { Log } from '../runtime/log.ts';
import type { MetricSink } from '../runtime/metrics.ts';
import type { Settings } from '../world/settings.ts';
import type { LeaseTimes } from './leadership/leadership.ts';

export interface ControllerOptions {
  readonly client: KubeClient;
  /** A connection of its own for the Lease, so that renewals never wait behind a burst of writes. */
  readonly leaseClient?: KubeClient;
  /** Not started yet; monitors `monitoredColumns()`. */
  readonly session: OvsdbSession;
  readonly rules: readonly Rule[];
  readonly settings: Settings;
  /** The namespace of the Lease. */
  readonly namespace: string;
  readonly log: Log;
  readonly metrics?: MetricSink;
  /** False: the metrics do not name Subnets. */
  readonly subnetLabel?: boolean;
  /** Observe and plan, never write, never lead. */
  readonly readOnly?: boolean;
  /** Takes every row before it is deleted or overwritten. Default: none. */
  readonly journal?: Journal;
  /** False in a laboratory: collect any number of rows without a pause. */
  readonly collectionLimit?: boolean;
  /** Number of pods or IP objects above which the first list is read from the API server's cache; smaller in tests. */
  readonly cachedAbove?: number;
  /** False if all kinds are served from the start, or the process ends before a missing one could be served. */
  readonly followDefinitions?: boolean;
  /** Objects are watched this long after the start at the earliest: for a process that mostly has ended by then. Default 0. */
  readonly watchAfterMs?: number;
  readonly clock?: Clock;
  /** For the jitter of retries. */
  readonly random?: Random;
  /** Runs a turn after everything that is due already. Default: `setImmediate`. */
  readonly defer?: (turn: () => void) => void;
  readonly identity?: string;
  /** Lease times, shorter in tests. */
  readonly lease?: LeaseTimes;
}

export type Phase =
  | 'starting'
  /** Lists and the Northbound replica are not complete yet. */
  | 'observing'
  /** Another process of Kiln leads. */
  | 'standby'
  /** Kube-OVN's controller holds its Lease. */
  | 'kube-ovn-active'
  | 'leading'
  | 'stopped';

export interface ControllerStatus {
  readonly phase: Phase;
  /** What the process waits for while observing. */
  readonly waitingFor: readonly string[];
  /** The last error of a list among these; undefined: none failed. */
  readonly listError: KubeError | undefined;
  /** Kinds that are neither listed nor watched now, after they were once: what is known of them is old. */
  readonly stale: readonly string[];
  readonly transactions: number;
  readonly rowsWritten: number;
  readonly objectsWritten: number;
  readonly ruleRuns: number;
  readonly conflicts: number;
  /** Rows whose write failed in OVN, or that another program changes after each write: tried again after a while. */
  readonly rowsInBackoff: number;
  /** Number of Events not sent yet. */
  readonly eventsWaiting: number;
}

/** A part of what is planned. */
export interface PlanPart {
  readonly row: (id: RowId) => boolean;
  readonly object: (id: ObjectId) => boolean;
}

export interface Plan {
  readonly rows: readonly PlannedRow[];
  readonly objects: readonly ObjectWrite[];
}
