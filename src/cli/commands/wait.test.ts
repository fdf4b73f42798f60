/** `kiln wait` with an API server and the controller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeClient } from '../../kube/client/client.ts';
import { ScriptedApi } from '../../kube/testing/scripted-api.ts';
import { traitsOf } from '../../world/resources.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { CommandFailure } from '../errors/command-failure.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';
import type { WaitFlags } from './wait.ts';
import { runWait } from './wait.ts';

let scene: CommandScene;
const skip = sceneOfThisFile((opened) => {
  scene = opened;
});

const FLAGS = { timeout: '60s', requestTimeout: '60s', output: 'table', leaseNamespace: 'kube-system', color: 'never' } as const;

/** Waits in the process of the test. @param said called with each line on standard error */
function waiting(client: KubeClient, objects: readonly string[], flags: Partial<WaitFlags>, said: (line: string) => void): Promise<number> {
  const io: CommandIo = {
    client,
    namespace: 'default',
    out: () => undefined,
    say: (line) => said(String(line)),
    paint: (_, text) => text,
    lastWords: () => undefined,
    onInterrupt: () => undefined,
    ask: undefined,
  };
  return runWait(objects, { ...FLAGS, for: 'Ready', ...flags }, io);
}

test('it waits for an object that does not exist yet, until it is in place', { skip }, async () => {
  const lines: string[] = [];
  const exit = await waiting(scene.client, ['vpc/early', 'subnet/early-web'], {}, (line) => {
    lines.push(line);
    if (line.startsWith('waiting for Vpc early to be Ready: it does not')) void scene.make('vpcs', { metadata: { name: 'early' } });
    if (line.startsWith('waiting for Subnet early-web to be Ready: it does not'))
      void scene.make('subnets', { metadata: { name: 'early-web' }, spec: { vpc: 'early', cidrBlock: '10.95.0.0/24' } });
  });
  assert.equal(exit, 0);
  assert.ok(lines.includes('waiting for Subnet early-web to be Ready: it does not exist'), lines.join('\n'));
  const now = await scene.client.get<{
    readonly metadata: { readonly name: string };
    readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
  }>(traitsOf('subnets'), { name: 'early-web' });
  assert.ok(now.status?.conditions?.some(({ type }) => type === 'Ready'));
});

test('a pod is bound; several objects and forms of names; output for programs', { skip }, async () => {
  await scene.make('pods', { metadata: { name: 'web', namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'busybox' }] } });
  const { exit, out } = await scene.kiln('wait', 'pod/web', '--for=Bound');
  assert.deepEqual([exit, out], [0, 'pod/default/web is Bound\n']);
  const kinds = await scene.kiln('wait', 'subnet', 'ovn-default', 'join', '--for=Ready', '-o', 'name');
  assert.deepEqual([kinds.exit, kinds.out], [0, 'subnet.kubeovn.io/ovn-default\nsubnet.kubeovn.io/join\n']);
  const json = await scene.kiln('wait', 'pod/default/web', 'ip/web.default', '--for=bound', '-o', 'json');
  assert.deepEqual(JSON.parse(json.out), {
    apiVersion: 'kiln.io/v1',
    kind: 'Wait',
    for: 'Bound',
    objects: [
      { resource: 'pods', namespace: 'default', name: 'web', reached: true },
      { resource: 'ips', namespace: '', name: 'web.default', reached: true },
    ],
  });
});

test('timed out: exit 4 and why: what blocks it, that it does not exist, that it is not being deleted', { skip }, async () => {
  await scene.make('vpcs', { metadata: { name: 'used' } });
  await scene.make('subnets', { metadata: { name: 'used-web' }, spec: { vpc: 'used', cidrBlock: '10.96.0.0/24' } });
  await scene.controller.untilQuiet();
  await scene.client.delete(traitsOf('vpcs'), { name: 'used' });
  const blocked = await scene.kiln('wait', 'vpc/used', '--for=condition=DeletionBlocked');
  assert.equal(blocked.exit, 0, blocked.err);
  const { exit, out, err } = await scene.kiln('wait', 'vpc/used', '--for=Deleted', '--timeout=1s', '-q');
  assert.deepEqual([exit, out], [4, '']);
  assert.match(
    err,
    /^error: not after 1 s: Vpc used is not deleted\n {2}why: Vpc used cannot be deleted: one object still uses it: Subnet used-web\./,
  );
  assert.match(err, /\n {2}next: kiln explain vpc used\n$/);
  const two = await scene.kiln('wait', 'vpc/nowhere', 'subnet/used-web', '--for=condition=Green', '--timeout=0');
  assert.equal(two.exit, 4);
  assert.match(two.err, /^error: Vpc nowhere, Subnet used-web are not Green=True$/m);
  assert.match(two.err, /^ {2}why: Vpc nowhere: it does not exist; Subnet used-web: it has no condition Green$/m);
  assert.match((await scene.kiln('wait', 'subnet/used-web', '--for=Deleted', '--timeout=0')).err, /why: it is not being deleted/);
  let deletes = 0;
  const gone = await waiting(scene.client, ['vpc/used'], { for: 'Deleted' }, () => {
    if (deletes++ === 0) void scene.client.delete(traitsOf('subnets'), { name: 'used-web' });
  });
  assert.equal(gone, 0);
  assert.equal((await scene.kiln('wait', 'vpc/used', '--for=delete', '--timeout=0')).exit, 0, 'what does not exist is deleted');
});

test('wrong usage: exit 2', { skip }, async () => {
  for (const [args, why] of [
    [['vpc/blue'], /required option '--for <state>'/],
    [['vpc/blue', '--for=Green'], /"Green" is none of Ready, Bound, Deleted/],
    [['subnet/red', '--for=Bound'], /a Subnet has no address of its own/],
    [['thing/red', '--for=Ready'], /does not know the kind "thing"/],
    [['vpc', '--for=Ready'], /needs a name/],
    [['vpc/blue', '--for=Ready', '--timeout=soon'], /"soon" is not a duration/],
  ] as const) {
    const { exit, err } = await scene.kiln('wait', ...args);
    assert.equal(exit, 2, err);
    assert.match(err, why);
  }
});

test('Ctrl-C says what has not been reached: exit 130', { skip }, async () => {
  const { exit, err } = await scene.kilnInterrupted(/does not exist/, 'wait', 'vpc/never', '--for=Ready', '--timeout=5m');
  assert.equal(exit, 130);
  assert.match(err, /^interrupted: Vpc never is not Ready$/m);
});

test('only the named object is listed and watched; without the right the command ends at once', async () => {
  const api = await ScriptedApi.start();
  try {
    const asked: string[] = [];
    api.handler = (exchange) => {
      asked.push(`${exchange.path} ${exchange.query.get('fieldSelector') ?? ''}`);
      exchange.status(403, 'Forbidden', 'may not list');
    };
    await assert.rejects(
      waiting(api.client(), ['pod/shop/web'], {}, () => undefined),
      (error: { readonly code?: string }) => error.code === 'KUBE_FORBIDDEN',
    );
    assert.deepEqual(asked, ['/api/v1/namespaces/shop/pods metadata.name=web']);
  } finally {
    await api.close();
  }
});

test('a kind that is not served: nothing of it exists; whoever waits for one learns it', async () => {
  const api = await ScriptedApi.start();
  try {
    api.handler = (exchange) => exchange.status(404, 'NotFound', 'the server could not find the requested resource');
    assert.equal(await waiting(api.client(), ['vpc/blue'], { for: 'Deleted' }, () => undefined), 0);
    await assert.rejects(
      waiting(api.client(), ['vpc/blue'], { timeout: '0s' }, () => undefined),
      (error) =>
        error instanceof CommandFailure &&
        error.exit === 4 &&
        error.why === 'the API server does not serve vpcs.kubeovn.io' &&
        error.next === 'kubectl apply -f deploy/crds.yaml',
    );
  } finally {
    await api.close();
  }
});
