/** A Northbound server that breaks the protocol: log, readiness and metric report it, and the controller recovers by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { monitoredColumns } from '../nb/tables.ts';
import { OvsdbSession } from '../ovsdb/index.ts';
import { until } from '../testing/until.ts';
import { TamperingProxy } from '../ovsdb/testing/tampering-proxy.ts';
import { jsonLog } from '../runtime/json-log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import { traitsOf } from '../world/resources.ts';

const PROBE_MS = 500;

const LIES: readonly { readonly what: string; readonly lie: (proxy: TamperingProxy) => void }[] = [
  {
    what: 'answers null to every transaction',
    lie: (proxy) =>
      (proxy.onClientMessage = ({ method, id }) => (method === 'transact' ? { answer: { id, result: null, error: null } } : 'pass')),
  },
  {
    what: 'answers no transaction',
    lie: (proxy) => (proxy.onClientMessage = ({ method }) => (method === 'transact' ? 'swallow' : 'pass')),
  },
  {
    what: 'commits and sends no update',
    lie: (proxy) => (proxy.onServerMessage = ({ method }) => (method?.startsWith('update') === true ? 'swallow' : 'pass')),
  },
];

function sessionTo(proxy: TamperingProxy): OvsdbSession {
  return new OvsdbSession({
    endpoints: [proxy.endpoint],
    database: 'OVN_Northbound',
    tables: monitoredColumns(),
    probeIntervalMs: PROBE_MS,
    backoff: { baseMs: 50, maxMs: 500 },
  });
}

test('a Northbound server that withheld an update is read again, and transactions succeed', async (t) => {
  await using cluster = await InProcessCluster.start();
  const proxy = await TamperingProxy.start(cluster.ovn.unix);
  t.after(() => proxy.stop());
  await cluster.withController({ session: sessionTo(proxy) }, async (controller) => {
    await controller.untilQuiet();
    let kept = 0;
    proxy.onServerMessage = ({ method }) => {
      if (method?.startsWith('update') !== true) return 'pass';
      kept++;
      return 'swallow';
    };
    await cluster.ovn.nbctl('remove', 'NB_Global', '.', 'external_ids', 'kiln.io/term');
    await until('the update was withheld', () => kept > 0);
    proxy.onServerMessage = () => 'pass';
    await cluster.client.create(traitsOf('vpcs'), {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Vpc',
      metadata: { name: 'later' },
      spec: {},
    } as never);
    await until('the Vpc has its router', () => controller.world.rows.best(rowId('Logical_Router', 'later')) !== undefined);
  });
});

for (const { what, lie } of LIES) {
  test(`a Northbound server that ${what}: reported everywhere, and everything is written after it recovers`, async (t) => {
    await using cluster = await InProcessCluster.start();
    const proxy = await TamperingProxy.start(cluster.ovn.unix);
    t.after(() => proxy.stop());
    const metrics = new Metrics();
    const lines: string[] = [];
    const session = sessionTo(proxy);
    lie(proxy);
    await cluster.withController({ session, metrics, log: jsonLog('info', (line) => lines.push(line)) }, async (controller) => {
      const isLogged = (): boolean => lines.some((line) => line.includes('breaks the protocol'));
      await until('the log reports it', isLogged);
      await until('it is not ready', () => controller.waitingFor.includes('the Northbound database'));
      assert.match(await metrics.text(), /^kiln_ovsdb_lies\{db="OVN_Northbound"\} 1$/m);
      assert.equal(lines.filter((line) => line.includes('breaks the protocol')).length, 1, 'once');
      proxy.onClientMessage = proxy.onServerMessage = () => 'pass';
      await until('it is ready', () => controller.waitingFor.length === 0);
      await controller.untilQuiet();
      assert.match(await metrics.text(), /^kiln_ovsdb_lies\{db="OVN_Northbound"\} 0$/m);
      assert.match(await cluster.ovn.nbctl('lr-list'), /ovn-cluster/);
      assert.deepEqual(controller.plan(), { rows: [], objects: [] });
    });
  });
}
