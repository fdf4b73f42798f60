/**
 * The metrics of a controller. A scrape reads counts that are updated with each change: it iterates over kinds, never over Subnets, pods or
 * rows.
 */
import type { Reason } from '../../api/reasons.ts';
import { METRICS_OF_KINDS } from '../../kinds/generated/metrics.ts';
import type { KindMetrics } from './kind-metrics.ts';
import type { CollectionLimit } from '../../commit/collection-limit.ts';
import type { CollectionPolicy, Stay } from '../../diff/collection-policy.ts';
import type { NorthboundWriter } from '../../commit/northbound-writer.ts';
import type { ObjectWriter } from '../../commit/object-writer.ts';
import { WRITE_DELAYS } from '../../commit/write-delays.ts';
import { DIFFERENCES } from '../../diff/drift.ts';
import { DELETION_BLOCKED, NEEDED_BY_CLUSTER } from '../../compile/deletion.ts';
import type { Desired } from '../../compile/desired.ts';
import type { Clock } from '../../timing/clock.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import type { KubeWriter } from '../../kube/write/kube-writer.ts';
import type { Journal } from '../../journal/journal.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { MetricSink } from '../../runtime/metrics.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import type { Caches } from '../reading/caches.ts';
import type { Leadership } from '../leadership/leadership.ts';
import type { NorthboundLoss } from '../outages/northbound-loss.ts';
import type { NorthboundFailures } from '../outages/northbound-failures.ts';
import { FailedRequests } from './failed-requests.ts';

const STAYS: readonly Stay[] = ['report', 'off', 'paused', 'grace'];
const DB = { db: 'OVN_Northbound' } as const;

export interface MetricSources {
  readonly world: World;
  readonly desired: Desired;
  readonly session: OvsdbSession;
  readonly caches: Caches;
  readonly rows: NorthboundWriter;
  readonly collection: {
    readonly limit: Pick<CollectionLimit, 'hold' | 'heldRows'>;
    readonly policy: Pick<CollectionPolicy, 'pause'>;
    readonly staying: ReadonlyMap<Stay, number>;
  };
  readonly objects: Pick<ObjectWriter, 'delayed'>;
  readonly writer: KubeWriter;
  readonly events: EventRecorder;
  readonly leadership: Leadership;
  readonly northboundFailures: NorthboundFailures;
  readonly journal: Journal;
  readonly loss: Pick<NorthboundLoss, 'violatesProtocol'>;
  /** Kinds with a list that was not accepted. */
  readonly doubted: () => readonly ResourceName[];
  readonly clock: Clock;
  /** False: the sum over all Subnets, under an empty name. */
  readonly subnetLabel: boolean;
  readonly ready: () => boolean;
  /** Milliseconds since the epoch; 0: never. */
  readonly lastSuccess: () => number;
}

export function exposeController(metrics: MetricSink, sources: MetricSources): void {
  const { world, desired, caches, rows, collection, objects, writer, events, leadership } = sources;
  const gauge = (value: boolean): number => (value ? 1 : 0);
  metrics.read('kiln_leader', (report) => report({}, gauge(leadership.holdsLease)));
  // A term whose write was answered after the loss of the Lease is not used for any write.
  metrics.read('kiln_term', (report) => report({}, leadership.writingTerm ?? 0));
  metrics.read('kiln_ready', (report) => report({}, gauge(sources.ready())));
  metrics.read('kiln_reconcile_last_success_timestamp_seconds', (report) => report({}, sources.lastSuccess() / 1_000));
  metrics.read('kiln_desired_rows', (report) => desired.rows.rowCounts.forEach((count, table) => report({ table }, count)));
  metrics.read('kiln_owned_rows', (report) => world.rows.ownedCounts.forEach((count, table) => report({ table }, count)));
  metrics.read('kiln_drift_rows', (report) => {
    for (const [table, counts] of rows.differences) for (const kind of DIFFERENCES) report({ table, kind }, counts[kind]);
  });
  metrics.read('kiln_row_conflicts', (report) => report({}, world.rowConflicts.size));
  metrics.read('kiln_rows_set_aside', (report) => report({}, rows.setAside));
  metrics.read('kiln_collection_paused', (report) => report({}, gauge(collection.policy.pause !== undefined)));
  metrics.read('kiln_collection_held', (report) => report({}, gauge(collection.limit.hold !== undefined)));
  metrics.read('kiln_collection_held_rows', (report) => report({}, collection.limit.heldRows));
  metrics.read('kiln_unexplained_rows', (report) => {
    const { staying } = collection;
    for (const why of STAYS) report({ why }, staying.get(why) ?? 0);
  });
  metrics.read('kiln_api_writes_pending', (report) => report({}, writer.queued + writer.inFlight));
  metrics.read('kiln_api_writes_held_total', (report) => report({}, writer.counters.held));
  metrics.read('kiln_api_objects_held', (report) => {
    const { delayed } = objects;
    for (const why of Object.keys(WRITE_DELAYS) as (keyof typeof WRITE_DELAYS)[]) report({ why }, delayed.get(why) ?? 0);
  });
  metrics.read('kiln_events_total', (report) => {
    for (const [result, count] of Object.entries(events.counters)) report({ result }, count as number);
  });
  exposeReplica(metrics, sources);
  exposeJournal(metrics, sources);
  exposeCaches(metrics, caches, sources.clock);
  metrics.read('kiln_lists_doubted', (report) => {
    for (const resource of sources.doubted()) report({ kind: traitsOf(resource).kind }, 1);
  });
  exposeAddresses(metrics, sources);
}

function exposeReplica(metrics: MetricSink, { session, rows, northboundFailures, loss, clock }: MetricSources): void {
  let outOfStepAt: number | undefined = clock.now();
  session.onState((state) => {
    outOfStepAt = state === 'synced' ? undefined : (outOfStepAt ?? clock.now());
  });
  metrics.read('kiln_ovsdb_connected', (report) => report(DB, session.state === 'synced' ? 1 : 0));
  metrics.read('kiln_ovsdb_refuses', (report) => report(DB, northboundFailures.reason === undefined ? 0 : 1));
  metrics.read('kiln_ovsdb_lies', (report) => report(DB, loss.violatesProtocol ? 1 : 0));
  metrics.read('kiln_ovsdb_reconnects_total', (report) => report(DB, Math.max(0, session.generation - 1)));
  metrics.read('kiln_ovsdb_replica_lag_seconds', (report) => {
    const since = Math.min(outOfStepAt ?? Infinity, rows.sentAt ?? Infinity);
    report(DB, since === Infinity ? 0 : (clock.now() - since) / 1_000);
  });
}

function exposeJournal(metrics: MetricSink, { journal, rows }: MetricSources): void {
  metrics.read('kiln_journal_failing', (report) => report({}, journal.failure === undefined ? 0 : 1));
  metrics.read('kiln_journal_bytes_total', (report) => report({}, journal.counts.bytes));
  metrics.read('kiln_journal_seconds_total', (report) => report({}, rows.journalMs / 1_000));
  metrics.read('kiln_journal_missed_rows_total', (report) => report({}, journal.counts.missedRows));
  metrics.read('kiln_journal_waiting_rows', (report) => report({}, rows.waitingForJournal));
  metrics.read('kiln_restored_rows', (report) => report({}, rows.restoredRows));
}

function exposeCaches(metrics: MetricSink, caches: Caches, clock: Clock): void {
  metrics.read('kiln_snapshot_objects', (report) => {
    for (const { kind, objects } of caches.observations) report({ kind }, objects);
  });
  metrics.read('kiln_watch_last_event_timestamp_seconds', (report) => {
    const offset = clock.wallTime() - clock.now();
    for (const { kind, served, lastReceivedAt } of caches.observations)
      if (served && lastReceivedAt !== undefined) report({ kind }, (lastReceivedAt + offset) / 1_000);
  });
  metrics.read('kiln_watch_restarts_total', (report) => {
    for (const { kind, counters } of caches.observations) {
      const { first, ...again } = counters.lists;
      for (const [reason, count] of Object.entries(again)) report({ kind, reason }, count);
      const lists = Object.values(again).reduce((sum, count) => sum + count, first);
      report({ kind, reason: 'silent' }, counters.silences);
      report({ kind, reason: 'resumed' }, Math.max(0, counters.watches - lists - counters.silences));
    }
  });
}

function exposeAddresses(metrics: MetricSink, { world, desired, subnetLabel }: MetricSources): void {
  const failed = new FailedRequests(world.reservations);
  for (const expose of Object.values<KindMetrics>(METRICS_OF_KINDS)) expose(metrics, world, subnetLabel);
  metrics.read('kiln_object_conditions', (report) => {
    for (const { resource, type, status, reason, objects } of desired.objects.conditionCounts)
      report({ kind: traitsOf(resource).kind, type, status, reason }, objects);
  });
  metrics.read('kiln_deletion_blocked_objects', (report) => {
    for (const { resource, type, reason, objects } of desired.objects.conditionCounts)
      if (type === DELETION_BLOCKED && reason !== NEEDED_BY_CLUSTER) report({ kind: traitsOf(resource).kind }, objects);
  });
  const reportedPods = (of: Reason): number => {
    let pods = 0;
    for (const { reason, objects } of desired.objects.conditionCounts) if (reason === of) pods += objects;
    return pods;
  };
  metrics.read('kiln_misbound_pods', (report) => report({}, reportedPods('Misbound')));
  metrics.read('kiln_ip_problems', (report) => {
    // A request that failed because of another claimant, and two claimants that have one address, are the same problem to a user.
    for (const [problem, count] of failed.counts)
      report({ problem }, count + (problem === 'AddressConflict' ? world.addressConflicts.size : 0));
    for (const problem of ['Misbound', 'IPRefused'] as const) report({ problem }, reportedPods(problem));
  });
}
