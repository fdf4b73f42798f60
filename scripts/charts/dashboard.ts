/** The dashboard for Grafana: what the controller's metrics say, by the questions of an operator. */

interface Panel {
  readonly title: string;
  /** PromQL, with its legend. */
  readonly queries: Readonly<Record<string, string>>;
  readonly unit?: 's' | 'ops' | 'none' | 'percentunit';
  /** One number rather than lines. */
  readonly single?: true;
}

const LEADS = 'and on (job, instance) (kiln_leader == 1)';

/** A row of the dashboard by the question that it answers. */
const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  'Does it work?': [
    { title: 'Leaders (one)', queries: { leaders: 'sum(kiln_leader) or vector(0)' }, single: true },
    { title: 'Replicas that are ready', queries: { ready: 'sum(kiln_ready) or vector(0)' }, single: true },
    {
      title: 'Since the last success',
      queries: { '{{instance}}': `time() - (kiln_reconcile_last_success_timestamp_seconds ${LEADS})` },
      unit: 's',
    },
    { title: 'Rows that differ', queries: { '{{table}} {{kind}}': `sum by (table, kind) (kiln_drift_rows ${LEADS})` } },
  ],
  'Do tenants get their addresses?': [
    {
      title: 'Addresses in use, of those that can be given',
      queries: {
        '{{subnet}} {{family}}': `max by (subnet, family) (kiln_subnet_addresses{state="used"} ${LEADS}) / max by (subnet, family) (kiln_subnet_addresses{state="capacity"} ${LEADS})`,
      },
      unit: 'percentunit',
    },
    { title: 'Interfaces without their address', queries: { '{{problem}}': `sum by (problem) (kiln_ip_problems ${LEADS})` } },
    { title: 'Deletions that wait', queries: { '{{kind}}': `sum by (kind) (kiln_deletion_blocked_objects ${LEADS})` } },
    { title: 'Pods on another Subnet than their namespace has', queries: { misbound: `sum(kiln_misbound_pods ${LEADS})` } },
  ],
  'Is it fast?': [
    {
      title: 'Time of a turn, 99 of 100',
      queries: { '{{phase}}': 'histogram_quantile(0.99, sum by (le, phase) (rate(kiln_reconcile_duration_seconds_bucket[5m])))' },
      unit: 's',
    },
    { title: 'Transactions', queries: { '{{result}}': 'sum by (result) (rate(kiln_transaction_total[5m]))' }, unit: 'ops' },
    {
      title: 'Writes to Kubernetes',
      queries: { '{{kind}} {{result}}': 'sum by (kind, result) (rate(kiln_api_writes_total[5m]))' },
      unit: 'ops',
    },
    { title: 'Timers late at most', queries: { '{{instance}}': 'kiln_event_loop_lag_seconds{quantile="1"}' }, unit: 's' },
  ],
  'Does it hold back?': [
    { title: 'Replica behind', queries: { '{{instance}} {{db}}': 'kiln_ovsdb_replica_lag_seconds' }, unit: 's' },
    { title: 'Rows that wait for an approval', queries: { held: `sum(kiln_collection_held_rows ${LEADS})` } },
    { title: 'Rows that stay without an owner', queries: { '{{why}}': `sum by (why) (kiln_unexplained_rows ${LEADS})` } },
    {
      title: 'Requests that the webhook reviewed',
      queries: { '{{result}}': 'sum by (result) (rate(kiln_webhook_reviews_total[5m]))' },
      unit: 'ops',
    },
  ],
};

const WIDTH = 24;
const HEIGHT = 8;

export function dashboardJson(): string {
  const dashboard = {
    uid: 'kiln',
    title: 'Kiln',
    tags: ['kiln', 'networking'],
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: { list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }] },
    panels: Object.entries(ROWS).flatMap(([question, panels], row) => [
      { id: row * 100 + 1, type: 'row', title: question, collapsed: false, gridPos: { x: 0, y: row * (HEIGHT + 1), w: WIDTH, h: 1 } },
      ...panels.map((panel, at) => panelOf(panel, row, at, WIDTH / panels.length)),
    ]),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function panelOf({ title, queries, unit = 'none', single }: Panel, row: number, at: number, width: number): object {
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  return {
    id: row * 100 + at + 2,
    type: single === true ? 'stat' : 'timeseries',
    title,
    datasource,
    gridPos: { x: at * width, y: row * (HEIGHT + 1) + 1, w: width, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(queries).map(([legend, expr], index) => ({
      refId: String.fromCodePoint(65 + index),
      expr,
      legendFormat: legend,
      datasource,
    })),
  };
}
