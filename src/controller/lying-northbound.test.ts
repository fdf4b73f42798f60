/** A Northbound server that lies to a controller: log, readiness and metric tell it, and the controller goes on by itself when it is honest again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { monitoredColumns } from '../nb/tables.ts';
import { OvsdbSession } from '../ovsdb/index.ts';
import { until } from '../ovsdb/testing/ovsdb-server-process.ts';
import { TamperingProxy } from '../ovsdb/testing/tampering-proxy.ts';
import { jsonLog } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import { traitsOf } from '../world/resources.ts';

const PROBE_MS = 500;

const LIES: readonly { readonly what: string; readonly lie: (proxy: TamperingProxy) => void }[] = [
  {
    what: 'answers null to every transaction',
    lie: (proxy) =>
      (proxy.judgeClient = ({ method, id }) => (method === 'transact' ? { answer: { id, result: null, error: null } } : 'pass')),
  },
  { what: 'answers no transaction', lie: (proxy) => (proxy.judgeClient = ({ method }) => (method === 'transact' ? 'swallow' : 'pass')) },
  {
    what: 'carries out and sends no update',
    lie: (proxy) => (proxy.judgeServer = ({ method }) => (method?.startsWith('update') === true ? 'swallow' : 'pass')),
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

test('a Northbound server that kept one update back is read again, and refuses nothing for ever', async (t) => {
  await using cluster = await InProcessCluster.start();
  const proxy = await TamperingProxy.start(cluster.ovn.unix);
  t.after(() => proxy.stop());
  await cluster.withController({ session: sessionTo(proxy) }, async (controller) => {
    await controller.untilQuiet();
    let kept = 0;
    proxy.judgeServer = ({ method }) => {
      if (method?.startsWith('update') !== true) return 'pass';
      kept++;
      return 'swallow';
    };
    await cluster.ovn.nbctl('remove', 'NB_Global', '.', 'external_ids', 'kiln.io/term');
    await until('the update was kept back', () => kept > 0);
    proxy.judgeServer = () => 'pass';
    await cluster.client.create(traitsOf('vpcs'), {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Vpc',
      metadata: { name: 'later' },
      spec: {},
    } as never);
    await until('the Vpc has its router', () => controller.world.rows.best(rowId('Logical_Router', 'later')) !== undefined, 30_000);
  });
});

for (const { what, lie } of LIES) {
  test(`a Northbound server that ${what}: it is told everywhere, and all is done when it is honest`, async (t) => {
    await using cluster = await InProcessCluster.start();
    const proxy = await TamperingProxy.start(cluster.ovn.unix);
    t.after(() => proxy.stop());
    const metrics = new Metrics();
    const lines: string[] = [];
    const session = sessionTo(proxy);
    lie(proxy);
    await cluster.withController({ session, metrics, log: jsonLog('info', (line) => lines.push(line)) }, async (controller) => {
      const told = (): boolean => lines.some((line) => line.includes('is not to be believed'));
      await until('the log tells it', told);
      await until('it is not ready', () => controller.waitingFor.includes('the Northbound database'));
      assert.match(await metrics.text(), /^kiln_ovsdb_lies\{db="OVN_Northbound"\} 1$/m);
      assert.equal(lines.filter((line) => line.includes('is not to be believed')).length, 1, 'once');
      proxy.judgeClient = proxy.judgeServer = () => 'pass';
      await until('it is ready', () => controller.waitingFor.length === 0);
      await controller.untilQuiet();
      assert.match(await metrics.text(), /^kiln_ovsdb_lies\{db="OVN_Northbound"\} 0$/m);
      assert.match(await cluster.ovn.nbctl('lr-list'), /ovn-cluster/);
      assert.deepEqual(controller.plan(), { rows: [], objects: [] });
    });
  });
}
