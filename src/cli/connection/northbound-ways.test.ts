/** The ways into OVN's pod, over the laboratory's API server and a stand-in of the kubelet's streams; and that nothing can be written over them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findOvn } from '../../../lab/programs/ovn.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { monitoredColumns } from '../../nb/tables.ts';
import { insert, OvsdbSession } from '../../ovsdb/index.ts';
import { InProcessCluster } from '../../testing/in-process-cluster.ts';
import { standInStreams } from '../../testing/stand-in-streams.ts';
import { runHere } from '../testing/command-here.ts';
import type { NorthboundWay, WayUse } from './northbound-ways.ts';
import { firstThatAnswers, northboundWay, NoWay } from './northbound-ways.ts';

const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const VPCS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'vpcs', kind: 'Vpc', namespaced: false };
const skip = findOvn('system') === undefined ? 'OVN is not installed' : false;
const forbidden = new Set<string>();
const opened: string[] = [];
let cluster: InProcessCluster;

before(async () => {
  if (skip !== false) return;
  const onUpgrade = standInStreams({
    socket: () => cluster.ovn.unix.slice('unix:'.length),
    forbidden,
    onStream: (kind) => opened.push(kind),
  });
  cluster = await InProcessCluster.start({ onUpgrade });
  const name = { namespace: 'kube-system', name: 'ovn-central-0' };
  await cluster.client.create(PODS, {
    metadata: { ...name, labels: { app: 'ovn-central', 'ovn-nb-leader': 'true' } },
    spec: { hostNetwork: true, containers: [{ name: 'ovn-central', image: 'ovn' }] },
  } as KubeObject);
  // No machine answers at an address of TEST-NET-1.
  await cluster.client.mergePatch(PODS, name, { status: { phase: 'Running', podIP: '192.0.2.1' } }, { subresource: 'status' });
  await cluster.ovn.nbctl('ls-add', 'somewhere');
});
after(() => cluster.stop());

async function way(use: WayUse = 'reads'): Promise<NorthboundWay> {
  const { client, connection } = cluster;
  return await northboundWay({ client, connection, namespace: 'kube-system', tls: undefined, use, timeoutMs: 10_000, sockets: [] });
}

/** Reads the switches by a way, and tries to write. */
async function tried({ ovnNb, options }: NorthboundWay): Promise<{ readonly switches: readonly unknown[]; readonly code: string }> {
  const session = new OvsdbSession({
    ...{ endpoints: [ovnNb], database: 'OVN_Northbound', tables: monitoredColumns(), readOnly: true },
    ...options,
  });
  session.start();
  await session.untilSynced(AbortSignal.timeout(20_000));
  const outcome = await session.transact([insert('Logical_Switch', { name: 'written' })]);
  const switches = [...session.replica.table('Logical_Switch').values()].map(({ name }) => name);
  await session.close();
  return { switches, code: outcome.ok ? 'written' : outcome.error.code };
}

test('port-forward, then ovsdb-client in the pod: both read, and neither writes', { skip }, async () => {
  const forwarded = await way();
  assert.equal(forwarded.text, 'port-forward to pod kube-system/ovn-central-0');
  assert.deepEqual(await tried(forwarded), { switches: ['somewhere'], code: 'OVSDB_READ_ONLY' });
  forbidden.add('portforward');
  const executed = await way();
  assert.equal(executed.text, 'ovsdb-client in pod kube-system/ovn-central-0');
  assert.deepEqual(await tried(executed), { switches: ['somewhere'], code: 'OVSDB_READ_ONLY' });
  assert.deepEqual([...new Set(opened)], ['portforward', 'exec']);
  assert.doesNotMatch(await cluster.ovn.nbctl('show'), /written/);
});

test('a way that does not answer holds back no other, the first that answers is used, and the last ones begin when all have failed', async () => {
  const started: string[] = [];
  const abandoned: string[] = [];
  const probe = async ({ text }: { readonly text: string }, signal: AbortSignal): Promise<string | undefined> => {
    started.push(text);
    if (text === 'silent')
      return await new Promise((done) =>
        signal.addEventListener('abort', () => {
          abandoned.push(text);
          done('given up');
        }),
      );
    return text === 'good' ? undefined : `${text} is refused`;
  };
  const ways = (...texts: readonly string[]): readonly { readonly text: string }[] => texts.map((text) => ({ text }));
  const tried: string[] = [];
  const found = await firstThatAnswers(ways('bad', 'silent', 'good', 'further'), probe, tried, 1);
  assert.deepEqual([found?.text, started, abandoned, tried], ['good', ['bad', 'silent', 'good'], ['silent'], []]);
  assert.equal(await firstThatAnswers(ways('bad', 'worse'), probe, tried, 1), undefined);
  assert.deepEqual(tried, ['bad: bad is refused', 'worse: worse is refused']);
  assert.equal(await firstThatAnswers([], probe, tried, 1), undefined);
});

test('kiln audit and kiln migrate plan find OVN, and say how; without any right each missing one is named', { skip }, async () => {
  forbidden.clear();
  const { exit, out, err } = await runHere(['audit', `--kubeconfig=${cluster.kubeconfig}`]);
  assert.match(err, /OVN by port-forward to pod kube-system\/ovn-central-0/);
  assert.equal(exit, 0, out + err);
  forbidden.add('portforward');
  const planned = await runHere(['migrate', 'plan', '-o', 'json', `--kubeconfig=${cluster.kubeconfig}`]);
  assert.match(planned.err, /OVN by ovsdb-client in pod kube-system\/ovn-central-0/);
  const { neighbours } = JSON.parse(planned.out) as { readonly neighbours: readonly { readonly tables: object }[] };
  assert.deepEqual(
    neighbours.map(({ tables }) => tables),
    [{ Logical_Switch: 1 }],
    'the switch somewhere is of nobody',
  );
  const status = await runHere(['status', '-o', 'json', `--kubeconfig=${cluster.kubeconfig}`]);
  assert.equal(
    (JSON.parse(status.out) as { readonly northbound: { readonly endpoint: string } }).northbound.endpoint,
    'ovsdb-client in pod kube-system/ovn-central-0',
  );
  forbidden.clear();
  for (const command of ['diff', 'neighbours', 'gc plan', 'gc run --dry-run=client'])
    assert.match(
      (await runHere([...command.split(' '), `--kubeconfig=${cluster.kubeconfig}`])).err,
      /OVN by port-forward to pod kube-system\/ovn-central-0/,
      command,
    );
  for (const one of ['portforward', 'exec']) forbidden.add(one);
  const without = await runHere(['explain', 'node', 'none', `--kubeconfig=${cluster.kubeconfig}`]);
  assert.equal(without.exit, 1, without.err);
  const blind = await runHere(['status', `--kubeconfig=${cluster.kubeconfig}`]);
  assert.match(blind.err, /hint: Northbound rows are not shown.*pods\/portforward is forbidden/);
  await assert.rejects(
    way(),
    (error) => error instanceof NoWay && /pods\/portforward is forbidden.*pods\/exec is forbidden/.test(error.message),
  );
  const refused = await runHere(['audit', `--kubeconfig=${cluster.kubeconfig}`]);
  assert.equal(refused.exit, 3);
  assert.match(refused.err, /found no way to the Northbound database/);
});

test(
  'kiln repair finds OVN by itself and writes by port-forward; ovsdb-client is enough for its plan, and not for more',
  { skip },
  async () => {
    forbidden.clear();
    assert.equal((await way('writes')).text, 'port-forward to pod kube-system/ovn-central-0');
    const flag = `--kubeconfig=${cluster.kubeconfig}`;
    await cluster.client.create(VPCS, { metadata: { name: 'blue' } });
    await cluster.ovn.nbctl('lr-add', 'blue', '--', 'set', 'Logical_Router', 'blue', 'external_ids:vendor=kube-ovn');
    const balancers = async (): Promise<readonly string[]> =>
      (await cluster.ovn.nbctl('--bare', '--columns=name', 'list', 'Load_Balancer')).split('\n').filter((name) => name !== '');
    forbidden.add('portforward');
    const unplanned = await runHere(['repair', '--all', '--yes', flag]);
    assert.equal(unplanned.exit, 3);
    assert.match(
      unplanned.err,
      /no way to the Northbound database over which it can write[\s\S]*pods\/portforward is forbidden[\s\S]*ovsdb-client in the pod: it only reads/,
    );
    const planned = await runHere(['repair', '--all', '--dry-run=client', flag]);
    assert.match(planned.err, /OVN by ovsdb-client in pod kube-system\/ovn-central-0/);
    assert.match(planned.out, /make {5}Load_Balancer vpc-blue-tcp-load/);
    assert.deepEqual(await balancers(), []);
    forbidden.clear();
    const repaired = await runHere(['repair', '--all', '--yes', flag]);
    assert.match(repaired.err, /proven by a second audit/, repaired.out + repaired.err);
    assert.ok((await balancers()).includes('vpc-blue-tcp-load'));
    assert.match(repaired.err, /OVN by port-forward to pod kube-system\/ovn-central-0/);
  },
);
