/** What a controller is given, and what it tells of itself. */
import type { PlannedRow } from '../commit/northbound-writer.ts';
import type { Rule } from '../compile/compiler.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock, Random } from '../kube/clock.ts';
import type { KubeError } from '../kube/errors.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';
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
  /** Where the Lease is. */
  readonly namespace: string;
  readonly log: Log;
  readonly metrics?: MetricSink;
  /** False: the metrics do not name Subnets. */
  readonly subnetLabel?: boolean;
  /** Observe and plan, never write, never lead. */
  readonly readOnly?: boolean;
  /** False in a laboratory: collect without a pause however much there is. */
  readonly collectionLimit?: boolean;
  /** Pods, or IP objects, above which the first list takes them from the API server's cache; fewer in tests. */
  readonly cachedAbove?: number;
  /** False where all kinds are served all along, or nobody stays to see one come. */
  readonly followDefinitions?: boolean;
  readonly clock?: Clock;
  /** For pauses between retries. */
  readonly random?: Random;
  /** Runs a turn after all that is due already; the event loop's `setImmediate` by default. */
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
  /** What is waited for while observing. */
  readonly waitingFor: readonly string[];
  /** Why a kind of these could not be listed when that was last tried; undefined where no list has failed. */
  readonly listTrouble: KubeError | undefined;
  readonly transactions: number;
  readonly rowsWritten: number;
  readonly objectsWritten: number;
  readonly ruleRuns: number;
  readonly conflicts: number;
  /** Rows that OVN refused, or that another program changes as often as they are written: tried again after a while. */
  readonly resting: number;
  /** Events that are still to be sent. */
  readonly eventsWaiting: number;
}

export interface Plan {
  readonly rows: readonly PlannedRow[];
  readonly objects: readonly ObjectWrite[];
}

/** Something that an Event tells of. */
export interface StandingFact {
  /** Of the object. */
  readonly uid: string;
  readonly reason: string;
  readonly message: string;
  /** Of a `transition` the Event may have the words of another moment. */
  readonly of: 'notice' | 'condition' | 'transition';
}
