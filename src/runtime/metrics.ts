/**
 * Every metric that Kiln exposes: name, kind, help and labels in one list, the source of the registry and the reference. Seconds
 * and bytes only; labels are of closed sets, but for the name of a Subnet, which can be left out.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CachedGauge } from './cached-gauge.ts';

export interface MetricSpec {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
  /** A gauge with many samples: set part by part when they change, with `keep`. */
  readonly cached?: true;
}

export const METRICS = {
  kiln_build_info: { kind: 'gauge', help: '1, with the version and that of Node.js', labels: ['version', 'node'] },
  kiln_leader: { kind: 'gauge', help: '1 while this process certainly holds the Lease', labels: [] },
  kiln_term: { kind: 'gauge', help: 'Term that this process writes with; 0 while it may not write', labels: [] },
  kiln_ready: { kind: 'gauge', help: '1 while every cache is complete and the Northbound replica is connected and up to date', labels: [] },

  kiln_reconcile_total: {
    kind: 'counter',
    help: 'Turns by result: settled (converged: all due rules ran and all writes are queued), continued (due rules remain for the next turn), failed (a rule threw an exception)',
    labels: ['result'],
  },
  kiln_reconcile_duration_seconds: {
    kind: 'histogram',
    help: 'Time of a phase: compile and diff in each turn, commit from sending a transaction to its reply',
    labels: ['phase'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  kiln_reconcile_last_success_timestamp_seconds: {
    kind: 'gauge',
    help: 'Last time at which nothing was pending or a write was acknowledged; the present while nothing is pending',
    labels: [],
  },
  kiln_rule_failures_total: {
    kind: 'counter',
    help: 'Runs of a rule that threw, and comparisons of an object (rule object-diff) that threw: each is a bug',
    labels: ['rule'],
  },

  kiln_desired_rows: { kind: 'gauge', help: 'Northbound rows that the rules emit', labels: ['table'] },
  kiln_owned_rows: { kind: 'gauge', help: 'Northbound rows with our ownership keys', labels: ['table'] },
  kiln_drift_rows: {
    kind: 'gauge',
    help: 'Northbound rows that differ from the desired state: missing, extra or different',
    labels: ['table', 'kind'],
  },
  kiln_drift_repaired_total: {
    kind: 'counter',
    help: 'Rows that another program changed, deleted or added, and that were repaired',
    labels: ['table', 'kind'],
  },
  kiln_row_conflicts: { kind: 'gauge', help: 'Desired rows that cannot be written because another row or object conflicts', labels: [] },
  kiln_rows_set_aside: { kind: 'gauge', help: 'Rows whose write failed twice in OVN; each is retried after a delay', labels: [] },
  kiln_collection_paused: { kind: 'gauge', help: '1 while a user has paused the collection: kiln gc pause', labels: [] },
  kiln_collection_held: { kind: 'gauge', help: '1 while rows without an owner wait for kiln gc approve', labels: [] },
  kiln_collection_holds_total: { kind: 'counter', help: 'How often rows were held since they were too many', labels: [] },
  kiln_collection_held_rows: { kind: 'gauge', help: 'Rows, and leftovers in Kubernetes, that wait for kiln gc approve', labels: [] },
  kiln_unexplained_rows: {
    kind: 'gauge',
    help: 'Rows without an owner that stay, by reason: a setting (report, off), a pause, or the grace of leftovers of Kube-OVN',
    labels: ['why'],
  },

  kiln_transaction_total: {
    kind: 'counter',
    help: 'Northbound transactions: committed, rejected, not-sent, or unknown (the reply was lost)',
    labels: ['result'],
  },
  kiln_transaction_operations: {
    kind: 'histogram',
    help: 'Operations of a Northbound transaction',
    labels: [],
    buckets: [2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000],
  },
  kiln_lists_doubted: {
    kind: 'gauge',
    help: '1 for each kind whose list was not accepted: it is no list of that kind, is too large, or lacks objects that the server has by name',
    labels: ['kind'],
  },
  kiln_ovsdb_lies: {
    kind: 'gauge',
    help: '1 while a server does not answer transactions, or reports their success without sending their changes',
    labels: ['db'],
  },
  kiln_ovsdb_refuses: {
    kind: 'gauge',
    help: '1 while every transaction fails because of a fault of the server, such as a full disk',
    labels: ['db'],
  },
  kiln_journal_failing: { kind: 'gauge', help: '1 while the journal cannot be written, and deletions wait', labels: [] },
  kiln_journal_bytes_total: { kind: 'counter', help: 'Bytes that this process wrote into the journal', labels: [] },
  kiln_journal_seconds_total: { kind: 'counter', help: 'Time for which transactions waited for the journal', labels: [] },
  kiln_journal_waiting_rows: { kind: 'gauge', help: 'Rows whose deletion or adoption waits until the journal can be written', labels: [] },
  kiln_journal_missed_rows_total: {
    kind: 'counter',
    help: 'Rows of Kiln that were overwritten without an entry, while the journal could not be written',
    labels: [],
  },
  kiln_backup_failing: { kind: 'gauge', help: '1 while the last attempt of a scheduled backup failed', labels: [] },
  kiln_backup_last_timestamp_seconds: { kind: 'gauge', help: 'When the newest backup of the directory was made', labels: [] },
  kiln_restored_rows: {
    kind: 'gauge',
    help: 'Rows that an undo restored, and that are not collected while their owner is gone',
    labels: [],
  },
  kiln_ovsdb_connected: { kind: 'gauge', help: '1 while the replica is connected and up to date', labels: ['db'] },
  kiln_ovsdb_reconnects_total: {
    kind: 'counter',
    help: 'Resyncs: how often the replica became complete after the first time',
    labels: ['db'],
  },
  kiln_ovsdb_replica_lag_seconds: {
    kind: 'gauge',
    help: 'For how long the replica has not been up to date, or a transaction has had no reply',
    labels: ['db'],
  },

  kiln_api_writes_total: {
    kind: 'counter',
    help: 'Writes to the Kubernetes API by result: ok, or the code of the error',
    labels: ['kind', 'verb', 'result'],
  },
  kiln_api_writes_pending: { kind: 'gauge', help: 'Writes to the Kubernetes API that are queued or under way', labels: [] },
  kiln_api_writes_held_total: {
    kind: 'counter',
    help: 'Writes that were delayed because their object was written 60 times within a minute: another program undoes the writes',
    labels: [],
  },
  kiln_api_objects_held: {
    kind: 'gauge',
    help: 'Objects with writes that are due and not sent now, by the write delay: not-leading, unanswered (one is under way), resting (retry delay after a write that conflicted with a newer version, had no effect, or failed), refused (the API server rejected the write), catching-up, rows-under-way (a transaction that may create its rows has no reply yet), paced (a status of the Subnet was written less than a second ago), others-leave-first (the limit of concurrent evictions is reached), leaving (the eviction was requested)',
    labels: ['why'],
  },
  kiln_events_total: {
    kind: 'counter',
    help: 'Events: created, bumped (count raised), coalesced (no write of their own), dropped (rate limit or error)',
    labels: ['result'],
  },
  kiln_watch_restarts_total: {
    kind: 'counter',
    help: 'Why a watch was restarted: resumed, silent, or with a full list (gone, undecodable, errors, periodic, not-served, behind, restored)',
    labels: ['kind', 'reason'],
  },
  kiln_watch_last_event_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the server last sent anything about a kind: an event, a bookmark, a list; kinds that are not served have none',
    labels: ['kind'],
  },
  kiln_snapshot_objects: { kind: 'gauge', help: 'Cached objects of a kind', labels: ['kind'] },

  kiln_subnet_addresses: {
    kind: 'gauge',
    help: 'Addresses of a Subnet: capacity, used, reserved (never allocated) and available',
    labels: ['subnet', 'family', 'state'],
    cached: true,
  },
  kiln_ip_problems: {
    kind: 'gauge',
    help: 'Interfaces without their address: the code of an allocation failure, AddressConflict (two interfaces hold one address), Misbound (pods), IPRefused (the API server rejected the IP object)',
    labels: ['problem'],
  },
  kiln_misbound_pods: { kind: 'gauge', help: 'Pods on another Subnet than their namespace has now', labels: [] },
  kiln_deletion_blocked_objects: {
    kind: 'gauge',
    help: 'Objects that are being deleted and have blockers, without the default Vpc and the join Subnet',
    labels: ['kind'],
  },
  kiln_object_conditions: {
    kind: 'gauge',
    help: 'Objects for which the rules emit a condition with this status and reason',
    labels: ['kind', 'type', 'status', 'reason'],
  },

  kiln_webhook_reviews_total: {
    kind: 'counter',
    help: 'Requests that the admission webhook reviewed: allowed, warned (allowed with a warning), refused (denied)',
    labels: ['operation', 'resource', 'result'],
  },
  kiln_webhook_refusals_total: {
    kind: 'counter',
    help: "Clients of the webhook's port that were not served: too many connections (rate), connections or bodies that were dropped at the limit (room, body), reviews that took too much time (computing), no certificate of an API server (identity)",
    labels: ['why'],
  },

  kiln_event_loop_lag_seconds: {
    kind: 'gauge',
    help: 'How late timers ran since the last scrape: median, 99th percentile and longest (quantile 1)',
    labels: ['quantile'],
  },
} as const satisfies Readonly<Record<`kiln_${string}`, MetricSpec>>;

export type MetricName = keyof typeof METRICS;
type Kind<N extends MetricName> = (typeof METRICS)[N]['kind'];
export type CachedName = { [N in MetricName]: (typeof METRICS)[N] extends { readonly cached: true } ? N : never }[MetricName];
type NameOf<K extends MetricSpec['kind']> = { [N in MetricName]: Kind<N> extends K ? N : never }[MetricName];
export type Labels<N extends MetricName> = Readonly<Record<(typeof METRICS)[N]['labels'][number], string>>;
export type Report<N extends MetricName> = (labels: Labels<N>, value: number) => void;

/** The methods by which a process reports its metrics. */
export type MetricSink = Pick<Metrics, 'count' | 'observe' | 'read' | 'keep'>;

export class Metrics {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #cached = new Map<MetricName, CachedGauge>();
  readonly #readers = new Map<MetricName, (report: (labels: Readonly<Record<string, string>>, value: number) => void) => void>();

  constructor() {
    this.contentType = this.#registry.contentType;
    for (const [name, spec] of Object.entries(METRICS) as [MetricName, MetricSpec][]) this.#register(name, spec);
    // Tenths of a second: a finer clock would only wake an idle process.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 100 });
  }

  count<N extends NameOf<'counter'>>(name: N, labels: Labels<N>, by = 1): void {
    this.#counters.get(name)?.inc(labels, by);
  }

  observe<N extends NameOf<'histogram'>>(name: N, labels: Labels<N>, value: number): void {
    this.#histograms.get(name)?.observe(labels, value);
  }

  /** Reads values that are counted elsewhere at each scrape; label values that `ask` does not report then are not shown. */
  read<N extends Exclude<NameOf<'gauge' | 'counter'>, CachedName>>(name: N, ask: (report: Report<N>) => void): void {
    this.#readers.set(name, ask);
  }

  /** Replaces the samples of a part: later scrapes show them without asking. */
  keep<N extends CachedName>(name: N, part: string, samples: readonly { readonly labels: Labels<N>; readonly value: number }[]): void {
    this.#cached.get(name)?.set(part, samples);
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    const others = await this.#registry.metrics();
    return [others, ...[...this.#cached.values()].map((gauge) => gauge.text())].join('\n');
  }

  #register(name: MetricName, { kind, help, labels, buckets, cached }: MetricSpec): void {
    if (cached === true) {
      this.#cached.set(name, new CachedGauge(name, help));
      return;
    }
    const readers = this.#readers;
    const common = { name, help, labelNames: [...labels], registers: [this.#registry] };
    switch (kind) {
      case 'gauge': {
        const gauge: Gauge = new Gauge({
          ...common,
          collect: () => {
            gauge.reset();
            readers.get(name)?.((values, value) => gauge.set(values, value));
          },
        });
        return;
      }
      case 'counter': {
        const counter: Counter = new Counter({
          ...common,
          collect: () => {
            const ask = readers.get(name);
            if (ask === undefined) return;
            counter.reset();
            ask((values, value) => counter.inc(values, value));
          },
        });
        this.#counters.set(name, counter);
        return;
      }
      case 'histogram':
        this.#histograms.set(name, new Histogram({ ...common, buckets: [...(buckets ?? [])] }));
    }
  }
}
