/** `kiln explain` with an API server, the Northbound database and the controller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testing/until.ts';
import { traitsOf } from '../../world/resources.ts';
import { runHere } from '../testing/command-here.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

const GREEN = '\u001b[32m';
let scene: CommandScene;
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  await scene.make('vpcs', { metadata: { name: 'blue' } });
  await scene.make('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock: '10.92.0.0/24' } });
  await scene.make('pods', {
    metadata: { name: 'web', namespace: 'default', annotations: { 'ovn.kubernetes.io/logical_switch': 'red' } },
    spec: { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 0 },
  });
  while (
    (await scene.client.find(
      { group: 'kubeovn.io', version: 'v1', plural: 'ips', kind: 'IP', namespaced: false },
      { name: 'web.default' },
    )) === undefined
  )
    await scene.controller.untilQuiet();
  await scene.controller.untilQuiet();
});

test('a tree on standard output, and nothing on standard error', { skip }, async () => {
  const { exit, out, err } = await scene.kiln('explain', 'vpc', 'blue');
  assert.deepEqual([exit, err], [0, '']);
  assert.match(out, /^NAME +READY +REASON +AGE\nVpc\/blue +True /);
  assert.match(out, /│ {2}└─ Subnet\/red {2}10\.92\.0\.0\/24 .*\n│ {5}└─ IP\/web\.default {2}10\.92\.0\.2 .*\n│ {8}└─ Pod\/default\/web /);
  assert.match(out, /Logical_Router blue +vpc-router/);
  assert.ok(!out.includes(GREEN));
  assert.ok((await scene.kiln('explain', 'vpc/blue', '--color=always')).out.includes(`${GREEN}True`));
});

test('a waiting object: exit 1, what it waits for, since when, and the next command', { skip }, async () => {
  await scene.client.delete({ group: 'kubeovn.io', version: 'v1', plural: 'subnets', kind: 'Subnet', namespaced: false }, { name: 'red' });
  await scene.controller.untilQuiet();
  const { exit, out } = await scene.kiln('explain', 'subnet', 'red');
  assert.equal(exit, 1);
  assert.match(out, /waits: Subnet red cannot be deleted: one object still uses it: IP web\.default/);
  assert.match(
    out,
    /since: \d{4}-\d\d-\d\dT.*Z \([\dms]+\)\nnext: {2}kiln delete subnet red --cascade --dry-run=client\n {7}kiln explain ip web\.default\n$/,
  );
  const json = JSON.parse((await scene.kiln('explain', 'subnet', 'red', '-o', 'json')).out) as {
    readonly kind: string;
    readonly waiting: { readonly reason: string };
    readonly northbound: { readonly count: number };
  };
  assert.deepEqual([json.kind, json.waiting.reason], ['Explanation', 'DeletionBlocked']);
  assert.ok(json.northbound.count > 0);
  const forms = [
    ['pod', 'web', '-n', 'default'],
    ['Pod/default/web', '-n', 'kube-system'],
    ['pod', 'default/web'],
  ];
  for (const form of forms) assert.match((await scene.kiln('explain', ...form)).out, /├─ depends on\n│ {2}├─ IP\/web\.default/);
});

test('a pod past its grace period with a foreign finalizer has no addresses any more', { skip }, async () => {
  await scene.make('subnets', { metadata: { name: 'grey' }, spec: { vpc: 'blue', cidrBlock: '10.93.0.0/24' } });
  await scene.make('pods', {
    metadata: {
      name: 'slow',
      namespace: 'default',
      finalizers: ['example.com/slow'],
      annotations: { 'ovn.kubernetes.io/logical_switch': 'grey' },
    },
    spec: { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 0 },
  });
  const holders = async (): Promise<number> => {
    const json = JSON.parse((await scene.kiln('explain', 'subnet', 'grey', '-o', 'json')).out) as {
      readonly blockers: { readonly count: number };
    };
    return json.blockers.count;
  };
  await until('it has an address', async () => (await holders()) === 1);
  await scene.client.delete(
    { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
    { name: 'slow', namespace: 'default' },
  );
  await until('it holds nothing', async () => (await holders()) === 0);
  assert.match(
    (await scene.kiln('explain', 'pod', 'default/slow')).out,
    /waits: Pod slow waits for the programs that set its finalizers example\.com\/slow/,
  );
});

test('the addresses of a Subnet are counted in readable numbers; an object in effect does not wait', { skip }, async () => {
  await scene.make('subnets', { metadata: { name: 'six' }, spec: { cidrBlock: 'fd00:92::/64' } });
  await scene.controller.untilQuiet();
  const { exit, out } = await scene.kiln('explain', 'subnet', 'six');
  assert.equal(exit, 1);
  assert.match(out, /^Subnet\/six +fd00:92::\/64 +True /m);
  assert.match(
    out,
    /\n\naddresses: IPv6 0 in use, about 2\^64 free\n\nnote: {2}Subnet six: .*\nsince: .*\nnext: {2}kubectl edit subnet six\n$/,
  );
  await scene.client.delete(traitsOf('subnets'), { name: 'six' });
  await scene.controller.untilQuiet();
});

test('without a Northbound database the rest is printed, with a hint or a warning', { skip }, async () => {
  const to = `--kubeconfig=${scene.kubeconfig}`;
  const without = await runHere(['explain', 'vpc', 'blue', to]);
  assert.equal(without.exit, 0);
  assert.match(without.err, /^hint: .*KILN_OVN_NB/);
  assert.doesNotMatch(without.out, /Northbound/);
  const gone = await runHere(['explain', 'vpc', 'blue', to, '--ovn-nb=tcp:127.0.0.1:1']);
  assert.equal(gone.exit, 0);
  assert.match(gone.err, /^warning: the Northbound database at tcp:127\.0\.0\.1:1 cannot be read: OVSDB_CONNECT_FAILED/);
});

test('exit codes: 1 not there, 2 usage, 3 out of reach; three lines each', { skip }, async () => {
  const lines = /^error: .+\n {2}why: .+\n {2}next: .+\n$/;
  const missing = await scene.kiln('explain', 'vpc', 'none');
  assert.equal(missing.exit, 1);
  assert.match(missing.err, lines);
  const unknown = await scene.kiln('explain', 'thing', 'x');
  assert.equal(unknown.exit, 2);
  assert.match(unknown.err, lines);
  assert.match((await scene.kiln('explain', 'subnte', 'x')).err, /why: the nearest kind that it knows is subnet\n/);
  assert.match((await scene.kiln('explain', 'pods', '-n', 'shop')).err, /next: kubectl get pods -n shop\n/);
  assert.match((await scene.kiln('explain', 'vpc', 'blue', '--ovn-nb=tcp:1:x')).err, /next: kiln status --help\n/);
  assert.match((await scene.kiln('explain', 'deployment/shop/web')).err, /why: Deployment web does not exist in namespace shop\n/);
  assert.equal((await scene.kiln('explain', 'vpc', 'blue', '--nonsense')).exit, 2);
  assert.equal((await scene.kiln('explain')).exit, 2);
  const unreachable = await runHere(['explain', 'vpc', 'blue'], { KUBECONFIG: '/nowhere/kubeconfig' });
  assert.equal(unreachable.exit, 3);
  assert.match(unreachable.err, lines);
});
