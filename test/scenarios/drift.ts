/**
 * A user changes Kiln's rows with ovn-nbctl: the drift is repaired at once, and reported on the object, in the log and in the metrics.
 */
import assert from 'node:assert/strict';
import { entries, members } from '../../src/testing/northbound-dump.ts';
import type { DumpedRow } from '../../src/testing/northbound-dump.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { rowsNamed } from './northbound.ts';
import { namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

/**
 * Changes a row by hand and waits until the change is repaired.
 * @returns milliseconds from the end of the change until the repair is seen
 */
async function untilRepaired(cluster: ScenarioCluster, change: readonly string[], back: () => Promise<boolean>): Promise<number> {
  await cluster.ovn.nbctl(...change);
  const began = performance.now();
  await cluster.eventually(`undone: ovn-nbctl ${change.join(' ')}`, back);
  return performance.now() - began;
}

async function only(cluster: ScenarioCluster, table: string, name: string): Promise<DumpedRow> {
  const [row, ...more] = rowsNamed(await cluster.dump(), table, name);
  assert.ok(row !== undefined && more.length === 0, `one ${table} ${name}`);
  return row;
}

function sample(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

export const drift: readonly Scenario[] = [
  {
    name: 'drift: a row changed, deleted or duplicated by hand is repaired, with an Event, a log line and a metric that name both states; a foreign member stays',
    alone: true,
    run: async (cluster) => {
      const network =
        vpcYaml('drift', { staticRoutes: [{ cidr: '10.45.0.0/16', nextHopIP: '10.44.0.9' }] }) +
        subnetYaml('drift-net', { vpc: 'drift', cidrBlock: '10.44.0.0/24', namespaces: ['drift'] }) +
        namespaceYaml('drift') +
        subnetYaml('drift-shared', { cidrBlock: '10.48.0.0/24', namespaces: ['drift-shared'] }) +
        namespaceYaml('drift-shared');
      await cluster.apply(network + podYaml('drift', 'pod') + podYaml('drift-shared', 'grouped'));
      await running(cluster, 'drift', 'pod');
      await running(cluster, 'drift-shared', 'grouped');
      await cluster.converged();
      const { controller } = cluster;
      const from = (await controller.log()).length;
      const text = await controller.metrics();
      const repaired = (table: string, kind: string): string => `kiln_drift_repaired_total{table="${table}",kind="${kind}"}`;
      const before = new Map(
        [
          repaired('Logical_Switch_Port', 'different'),
          repaired('Logical_Switch_Port', 'missing'),
          repaired('Logical_Router_Static_Route', 'extra'),
        ].map((name) => [name, sample(text, name)]),
      );
      const port = await only(cluster, 'Logical_Switch_Port', 'pod.drift');
      const [address = ''] = members(port['addresses']);
      const took: Record<string, number> = {};

      took['changed'] = await untilRepaired(cluster, ['lsp-set-addresses', 'pod.drift', '02:00:00:00:00:01 10.44.0.200'], async () =>
        (await cluster.ovn.nbctl('lsp-get-addresses', 'pod.drift')).includes(address),
      );
      took['deleted'] = await untilRepaired(cluster, ['lsp-del', 'pod.drift'], async () =>
        (await cluster.ovn.nbctl('lsp-get-addresses', 'pod.drift')).includes(address),
      );
      const [route] = (await cluster.rows('Logical_Router_Static_Route')).filter(({ ip_prefix }) => ip_prefix === '10.45.0.0/16');
      const marks = Object.entries(entries(route?.['external_ids'])).map(
        ([key, value]) => `external_ids:${key.replaceAll(':', '\\:')}="${value}"`,
      );
      took['duplicated'] = await untilRepaired(
        cluster,
        [
          ...['--id=@r', 'create', 'Logical_Router_Static_Route', 'ip_prefix=10.45.0.0/16', 'nexthop=10.44.0.9', 'policy=dst-ip', ...marks],
          ...['--', 'add', 'Logical_Router', 'drift', 'static_routes', '@r'],
        ],
        async () =>
          (await cluster.rows('Logical_Router_Static_Route')).filter(({ ip_prefix }) => ip_prefix === '10.45.0.0/16').length === 1,
      );
      took['a whole switch deleted'] = await untilRepaired(cluster, ['ls-del', 'drift-net'], async () =>
        (await cluster.ovn.nbctl('lsp-get-addresses', 'pod.drift')).includes(address),
      );
      process.stderr.write(`drift, ms until it is seen to be back: ${JSON.stringify(took)}\n`);

      await cluster.eventually('an Event of the pod names the change and its repair', async () => {
        const events = await cluster.events('Pod', 'pod', 'drift');
        const drifted = events.filter(({ reason }) => reason === 'Drifted').map(({ message }) => message);
        assert.ok(
          drifted.some((message) => message.includes('10.44.0.200') && message.includes(address)),
          drifted.join(' | '),
        );
        assert.ok(drifted.some((message) => message.includes('was deleted by another program')));
        assert.ok(events.some(({ reason, type }) => reason === 'Repaired' && type === 'Normal'));
        return true;
      });
      await cluster.eventually('an Event of the Vpc reports that a duplicate was removed', async () =>
        (await cluster.events('Vpc', 'drift')).some(({ reason, message }) => reason === 'Drifted' && message.includes('10.45.0.0/16')),
      );
      const lines = (await controller.log()).slice(from);
      const found = lines.find(({ msg, row }) => msg === 'drift: another program changed a row' && row === 'pod.drift');
      assert.deepEqual(
        [found?.level, found?.['owner'], found?.['kind'], found?.['before'], found?.['after']],
        ['warn', 'pod/drift/pod', 'different', { addresses: '02:00:00:00:00:01 10.44.0.200' }, { addresses: address }],
      );
      assert.ok(lines.some(({ msg, row }) => msg === 'drift repaired' && row === 'pod.drift'));
      const after = await controller.metrics();
      for (const [name, count] of before) assert.ok(sample(after, name) > count, name);
      await cluster.eventually(
        'no port is counted as missing',
        async () => sample(await controller.metrics(), 'kiln_drift_rows{table="Logical_Switch_Port",kind="missing"}') === 0,
      );

      // A member that another program adds to a shared column stays, and is no drift.
      const pod = await only(cluster, 'Logical_Switch_Port', 'grouped.drift-shared');
      const [group] = (await cluster.rows('Port_Group')).filter(({ ports }) => members(ports).includes(String(pod['_uuid'])));
      assert.ok(group !== undefined, 'the pod is in a port group');
      const name = String(group['name']);
      await cluster.ovn.nbctl('ls-add', 'drift-foreign', '--', 'lsp-add', 'drift-foreign', 'drift-guest');
      const guest = (await cluster.ovn.nbctl('get', 'Logical_Switch_Port', 'drift-guest', '_uuid')).trim();
      const quiet = (await controller.log()).length;
      await untilRepaired(cluster, ['set', 'Port_Group', name, `ports=[${guest}]`], async () =>
        members((await only(cluster, 'Port_Group', name))['ports']).includes(String(pod['_uuid'])),
      );
      assert.ok(members((await only(cluster, 'Port_Group', name))['ports']).includes(guest), 'the foreign member stays');
      await controller.untilLogged('drift: another program changed a row', { from: quiet });
      const drifts = (await controller.log()).slice(quiet).filter(({ msg }) => msg === 'drift: another program changed a row');
      assert.ok(drifts.some(({ row }) => row === name) && drifts.every((line) => !JSON.stringify(line).includes('drift-guest')));
      await cluster.ovn.nbctl('ls-del', 'drift-foreign');
      await cluster.removeAll(network);
      await cluster.converged();
    },
  },
  {
    name: 'drift while no controller runs: the next leader repairs columns changed by hand, without a report',
    alone: true,
    run: async (cluster) => {
      const network =
        vpcYaml('away') + subnetYaml('away-net', { vpc: 'away', cidrBlock: '10.49.0.0/24', namespaces: ['away'] }) + namespaceYaml('away');
      await cluster.apply(network + podYaml('away', 'web'));
      await running(cluster, 'away', 'web');
      await cluster.converged();
      const [address = ''] = members((await only(cluster, 'Logical_Switch_Port', 'web.away'))['addresses']);
      await cluster.controller.kill9();
      await cluster.ovn.nbctl('lsp-set-addresses', 'web.away', '02:00:00:00:00:01 10.49.0.200');
      await cluster.ovn.nbctl('set', 'Logical_Router', 'away', 'options:mac_binding_age_threshold=1');
      await cluster.patch('subnet', 'away-net', { spec: { private: true } });
      const next = cluster.startController();
      await next.untilLogged('writing');
      await cluster.converged();
      assert.deepEqual(members((await only(cluster, 'Logical_Switch_Port', 'web.away'))['addresses']), [address]);
      const router = await only(cluster, 'Logical_Router', 'away');
      assert.equal(entries(router['options'])['mac_binding_age_threshold'], '300');
      const drifts = (await next.log()).filter(({ msg }) => msg === 'drift: another program changed a row');
      assert.deepEqual(drifts, []);
      await cluster.removeAll(network);
    },
  },
  {
    name: 'drift: rows that Kiln creates, changes and removes are never reported as drift',
    alone: true,
    run: async (cluster) => {
      const { controller } = cluster;
      await cluster.converged();
      const from = (await controller.log()).length;
      const network =
        vpcYaml('calm') +
        subnetYaml('calm-net', { vpc: 'calm', cidrBlock: '10.46.0.0/24', namespaces: ['calm'], enableDHCP: true }) +
        namespaceYaml('calm');
      const pods = ['a', 'b', 'c', 'd'].map((name) => podYaml('calm', name)).join('');
      await cluster.apply(network + pods);
      for (const name of ['a', 'b', 'c', 'd']) await running(cluster, 'calm', name);
      await cluster.patch('subnet', 'calm-net', { spec: { private: true, enableDHCP: false } });
      await cluster.patch('vpc', 'calm', { spec: { staticRoutes: [{ cidr: '10.47.0.0/16', nextHopIP: '10.46.0.9' }] } });
      await cluster.converged();
      await cluster.removeAll(network + pods);
      await cluster.converged();
      const drifts = (await controller.log()).slice(from).filter(({ msg }) => msg.startsWith('drift'));
      assert.deepEqual(drifts, []);
    },
  },
];
