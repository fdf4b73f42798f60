import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../timing/clock.ts';
import { until } from '../../testing/until.ts';
import type { MetricSink, Report } from '../../runtime/metrics.ts';
import { METRICS, Metrics } from '../../runtime/metrics.ts';
import { InProcessCluster } from '../../testing/in-process-cluster.ts';
import { traitsOf } from '../../world/resources.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import type { MetricSources } from './controller-metrics.ts';
import { exposeController } from './controller-metrics.ts';

/** Samples of the text format: name and labels to the value. */
function samples(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

test('the metrics of a controller that leads agree with what ovn-nbctl and the API server show', async () => {
  const metrics = new Metrics();
  await using cluster = await InProcessCluster.start();
  const { client, ovn } = cluster;
  const controller = cluster.controller({ metrics });
  const rowsWithOwner = async (table: string): Promise<number> =>
    (await ovn.nbctl('--bare', '--columns=_uuid', 'find', table, 'external_ids:vendor=kube-ovn')).split('\n').filter((line) => line !== '')
      .length;
  const scrape = async (): Promise<ReadonlyMap<string, number>> => samples(await metrics.text());
  try {
    const idle = await scrape();
    assert.equal(idle.get('kiln_ready'), 0);
    assert.equal(idle.get('kiln_reconcile_last_success_timestamp_seconds'), 0);
    const begun = Date.now() / 1_000;
    controller.start();
    await controller.untilQuiet();
    const subnet = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'm' }, spec: { cidrBlock: '10.77.0.0/29,fd77::/125' } };
    await client.create(traitsOf('subnets'), subnet);
    await until('the Subnet is counted', async () => (await scrape()).has('kiln_subnet_addresses{subnet="m",family="IPv6",state="used"}'));
    await controller.untilQuiet();
    const found = await scrape();
    const is = (name: string, value: number): void => assert.equal(found.get(name), value, name);
    is('kiln_ready', 1);
    is('kiln_leader', 1);
    is('kiln_term', 1);
    is('kiln_ovsdb_connected{db="OVN_Northbound"}', 1);
    is('kiln_ovsdb_reconnects_total{db="OVN_Northbound"}', 0);
    is('kiln_ovsdb_replica_lag_seconds{db="OVN_Northbound"}', 0);
    is('kiln_snapshot_objects{kind="Subnet"}', 3);
    is('kiln_snapshot_objects{kind="Vpc"}', 1);
    is('kiln_subnet_addresses{subnet="m",family="IPv4",state="capacity"}', 8);
    is('kiln_subnet_addresses{subnet="m",family="IPv4",state="reserved"}', 3);
    is('kiln_subnet_addresses{subnet="m",family="IPv4",state="available"}', 5);
    is('kiln_ip_problems{problem="NoAvailableAddress"}', 0);
    is('kiln_ip_problems{problem="IPRefused"}', 0);
    is('kiln_misbound_pods', 0);
    is('kiln_api_objects_held{why="refused"}', 0);
    const readySubnets = [...found].filter(([name]) => name.startsWith('kiln_object_conditions{kind="Subnet",type="Ready",status="True"'));
    assert.equal(
      readySubnets.reduce((sum, [, value]) => sum + value, 0),
      3,
    );
    for (const table of ['Logical_Switch', 'Logical_Router', 'Logical_Router_Port', 'Logical_Switch_Port', 'ACL']) {
      const rows = await rowsWithOwner(table);
      assert.equal(found.get(`kiln_owned_rows{table="${table}"}`) ?? 0, rows, table);
      assert.equal(found.get(`kiln_desired_rows{table="${table}"}`) ?? 0, rows, table);
      assert.equal(found.get(`kiln_drift_rows{table="${table}",kind="missing"}`) ?? 0, 0, table);
    }
    assert.ok((found.get('kiln_owned_rows{table="Logical_Switch"}') ?? 0) >= 3);
    assert.equal(found.get('kiln_transaction_total{result="committed"}'), controller.status.transactions);
    assert.equal(found.get('kiln_transaction_operations_count'), controller.status.transactions);
    assert.ok((found.get('kiln_reconcile_duration_seconds_count{phase="commit"}') ?? 0) >= controller.status.transactions);
    assert.ok((found.get('kiln_reconcile_total{result="settled"}') ?? 0) > 0);
    assert.ok((found.get('kiln_api_writes_total{kind="Subnet",verb="patch",result="ok"}') ?? 0) > 0);
    for (const name of ['kiln_reconcile_last_success_timestamp_seconds', 'kiln_watch_last_event_timestamp_seconds{kind="Subnet"}']) {
      const seconds = found.get(name) ?? 0;
      assert.ok(seconds >= Math.floor(begun) && seconds <= Date.now() / 1_000, `${name} ${seconds}, begun at ${begun}`);
    }

    await ovn.stop();
    await until('the loss is seen', async () => (await scrape()).get('kiln_ovsdb_connected{db="OVN_Northbound"}') === 0);
    const lost = await scrape();
    assert.equal(lost.get('kiln_ready'), 0);
    assert.ok((lost.get('kiln_ovsdb_replica_lag_seconds{db="OVN_Northbound"}') ?? 0) > 0);
  } finally {
    await controller.stop();
  }
  const text = await metrics.text();
  for (const name of Object.keys(METRICS)) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'));
});

test('a process that lost the Lease while its term was written shows no term', () => {
  for (const leads of [true, false]) {
    const shown = new Map<string, number>();
    const note =
      (name: string): Report<'kiln_term'> =>
      (_labels, value) =>
        void shown.set(name, value);
    const metrics = {
      read: (name: string, ask: (report: Report<'kiln_term'>) => void) => (name === 'kiln_term' ? ask(note(name)) : undefined),
      keep: () => undefined,
    };
    const leadership = { holdsLease: leads, writingTerm: leads ? 4 : undefined };
    const sources = { world: new World(DEFAULT_SETTINGS), leadership, session: { onState: () => undefined }, clock: systemClock };
    exposeController(metrics as unknown as MetricSink, sources as unknown as MetricSources);
    assert.equal(shown.get('kiln_term'), leads ? 4 : 0);
  }
});
