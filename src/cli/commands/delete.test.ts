/** `kiln delete` with an API server, the Northbound database and the controller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

const REPLICA_SETS = { group: 'apps', version: 'v1', plural: 'replicasets', kind: 'ReplicaSet', namespaced: true };
let scene: CommandScene;
const skip = sceneOfThisFile((opened) => {
  scene = opened;
});

async function tenant(name: string, cidr: string, ...pods: readonly object[]): Promise<void> {
  await tenantOf(name, cidr, { terminationGracePeriodSeconds: 0 }, pods);
}

async function tenantOf(name: string, cidr: string, spec: object, pods: readonly object[]): Promise<void> {
  await scene.make('vpcs', { metadata: { name } });
  await scene.make('subnets', { metadata: { name: `${name}-net` }, spec: { vpc: name, cidrBlock: cidr } });
  for (const [index, metadata] of pods.entries()) {
    await scene.make('pods', {
      metadata: {
        name: `${name}-${index}`,
        namespace: 'default',
        annotations: { 'ovn.kubernetes.io/logical_switch': `${name}-net` },
        ...metadata,
      },
      spec: { containers: [{ name: 'main', image: 'busybox' }], ...spec },
    });
    while ((await find('ips', `${name}-${index}.default`)) === undefined) await sleep(50);
  }
  await scene.controller.untilQuiet();
}

function find(resource: ResourceName, name: string, namespace?: string): Promise<KubeObject | undefined> {
  return scene.client.find(traitsOf(resource), namespace === undefined ? { name } : { name, namespace });
}

test('without --cascade the deletion of an object in use fails, with the reason and the command', { skip }, async () => {
  await tenant('green', '10.93.0.0/24', {});
  const { exit, err } = await scene.kiln('delete', 'vpc', 'green');
  assert.equal(exit, 1);
  assert.match(
    err,
    /^error: vpc\.kubeovn\.io\/green was not deleted\n {2}why: .*one object still uses it: Subnet green-net.*\n {2}next: kiln delete vpc green --cascade --dry-run=client\n$/,
  );
});

test('a dry run shows the tree and what it does to workloads, and changes nothing', { skip }, async () => {
  const { exit, out } = await scene.kiln('delete', 'vpc', 'green', '--cascade', '--dry-run=client');
  assert.equal(exit, 0);
  assert.match(
    out,
    /^NAME +READY +REASON +AGE\nVpc\/green .*\n└─ Subnet\/green-net .*\n {3}└─ IP\/green-0\.default .*\n {6}└─ Pod\/default\/green-0 /,
  );
  assert.match(
    out,
    /\ndeletes: 4 objects, dependents first\nworkloads: 1 pod is deleted\n {2}not created again by a controller: default\/green-0\nNorthbound rows deleted with them: \d+\n$/,
  );
  const server = await scene.kiln('delete', 'vpc', 'green', '--cascade', '--dry-run=server');
  assert.equal(server.exit, 0, server.err);
  assert.match(server.err, /the API server accepts the deletion of one object/);
  assert.equal((await find('pods', 'green-0', 'default'))?.metadata.deletionTimestamp, undefined);
});

test('without a terminal it needs --yes, and then deletes everything, leaves first', { skip }, async () => {
  const asked = await scene.kiln('delete', 'vpc', 'green', '--cascade');
  assert.equal(asked.exit, 2);
  assert.match(asked.err, /there is no terminal for the confirmation\n {2}next: kiln delete vpc green --cascade --yes\n$/);
  const done = await scene.kiln('delete', 'vpc', 'green', '--cascade', '--yes', '--timeout=120s');
  assert.equal(done.exit, 0, done.err);
  const lines = done.out.trimEnd().split('\n');
  assert.deepEqual(lines.toSorted(), [
    'ip.kubeovn.io/green-0.default deleted',
    'pod/default/green-0 deleted',
    'subnet.kubeovn.io/green-net deleted',
    'vpc.kubeovn.io/green deleted',
  ]);
  assert.equal(lines.at(-1), 'vpc.kubeovn.io/green deleted');
  assert.match(done.err, /4 deleted in [\d.]+ s\n$/);
  await scene.controller.untilQuiet();
  assert.equal(scene.controller.world.rows.ownedBy('vpc//green').size, 0);
});

test('pods that would come back: the command stops and reports them, until a flag decides on their owner', { skip }, async () => {
  await tenant('owned', '10.94.0.0/24');
  const template = {
    metadata: { labels: { app: 'shop' }, annotations: { 'ovn.kubernetes.io/logical_switch': 'owned-net' } },
    spec: { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 0 },
  };
  const made = { replicas: 4, selector: { matchLabels: { app: 'shop' } }, template };
  await scene.client.create(REPLICA_SETS, { metadata: { name: 'shop', namespace: 'default' }, spec: made } as KubeObject);
  const its = async (resource: ResourceName): Promise<number> =>
    (await scene.client.list(traitsOf(resource))).items.filter(({ metadata }) => metadata.name.startsWith('shop-')).length;
  while ((await its('ips')) < made.replicas) await sleep(50);
  await scene.controller.untilQuiet();
  const stopped = await scene.kiln('delete', 'subnet', 'owned-net', '--cascade', '--yes');
  assert.equal(stopped.exit, 1);
  assert.match(stopped.err, /ReplicaSet default\/shop \(4\) would create them again/);
  assert.match(
    stopped.err,
    /why: these workloads would create the pods again: ReplicaSet default\/shop\n {2}next: .*--owners=keep\|scale\|delete/,
  );
  assert.equal(await its('pods'), made.replicas);
  const done = await scene.kiln('delete', 'subnet', 'owned-net', '--cascade', '--yes', '--owners=scale', '--timeout=120s', '-o', 'json');
  assert.equal(done.exit, 0, done.err);
  assert.match(done.err, /ReplicaSet default\/shop scaled to 0; to undo: kubectl scale replicaset shop -n default --replicas=4\n/);
  const json = JSON.parse(done.out) as {
    readonly apiVersion: string;
    readonly kind: string;
    readonly deleted: readonly string[];
    readonly left: readonly string[];
  };
  assert.deepEqual([json.apiVersion, json.kind, json.deleted.length, json.left], ['kiln.io/v1', 'Deletion', 9, []]);
  const scaled = await scene.client.get<KubeObject & { readonly spec: { readonly replicas: number } }>(REPLICA_SETS, {
    name: 'shop',
    namespace: 'default',
  });
  assert.equal(scaled.spec.replicas, 0);
});

test(
  'built-in objects, and dependents of nodes, are not deleted; nor are owners of objects that Kiln does not observe',
  { skip },
  async () => {
    for (const [kind, name] of [
      ['namespace', 'default'],
      ['node', 'node-1'],
    ] as const) {
      const { exit, err } = await scene.kiln('delete', kind, name, '--cascade', '--dry-run=client');
      assert.equal(exit, 2, err);
      assert.match(err, new RegExp(` {2}next: kubectl delete ${kind} ${name}\\n$`));
    }
    const join = await scene.kiln('delete', 'subnet', 'join', '--cascade', '--yes');
    assert.equal(join.exit, 1);
    assert.match(
      join.err,
      /Subnet join is built in: Kiln would create it again at once; Node \S+ uses IP node-\S+, and kiln deletes no nodes/,
    );
  },
);

test('a timeout: exit 4 and the objects left; Ctrl-C: 130 and the next command; no finalizer is removed', { skip }, async () => {
  // The pod's node is down: no kubelet reports that the pod has ended.
  await tenantOf('stuck', '10.95.0.0/24', { nodeName: 'away', terminationGracePeriodSeconds: 3_600 }, [
    { finalizers: ['example.com/keep'] },
  ]);
  const late = await scene.kiln('delete', 'vpc', 'stuck', '--cascade', '--yes', '--timeout=2s');
  assert.equal(late.exit, 4, late.err);
  assert.match(
    late.err,
    /why: not gone in time: pod\/default\/stuck-0 \(finalizer example\.com\/keep\), ip\.kubeovn\.io\/stuck-0\.default, subnet\.kubeovn\.io\/stuck-net, vpc\.kubeovn\.io\/stuck\n/,
  );
  const unled = await scene.kiln('delete', 'vpc', 'stuck', '--cascade', '--yes', '--timeout=2s', '--lease-namespace=default');
  assert.match(unled.err, /why: no controller leads, so nothing changes; not gone in time: pod\/default\/stuck-0 /);
  const stopped = await scene.kilnInterrupted(/deletes: \d+ objects/, 'delete', 'vpc', 'stuck', '--cascade', '--yes', '--timeout=120s');
  assert.equal(stopped.exit, 130);
  assert.match(stopped.err, /interrupted: 0 deleted, 4 left; the deletions stay; to continue: kiln delete vpc stuck --cascade\n$/);
  assert.deepEqual((await find('pods', 'stuck-0', 'default'))?.metadata.finalizers, ['example.com/keep']);
  assert.equal((await find('vpcs', 'stuck'))?.metadata.deletionTimestamp, undefined, 'what is held is not even asked for');
});

test('a Subnet that only a foreign finalizer keeps does not block its Vpc', { skip }, async () => {
  await scene.make('vpcs', { metadata: { name: 'kept' } });
  await scene.make('subnets', {
    metadata: { name: 'kept-net', finalizers: ['example.com/keep'] },
    spec: { vpc: 'kept', cidrBlock: '10.96.0.0/24' },
  });
  await scene.controller.untilQuiet();
  const running = scene.kiln('delete', 'vpc', 'kept', '--cascade', '--yes', '--timeout=120s');
  while ((await find('vpcs', 'kept')) !== undefined) await sleep(50);
  assert.deepEqual((await find('subnets', 'kept-net'))?.metadata.finalizers, ['example.com/keep']);
  await scene.client.mergePatch(traitsOf('subnets'), { name: 'kept-net' }, { metadata: { finalizers: null } });
  const { exit, out, err } = await running;
  assert.deepEqual([exit, out.trimEnd().split('\n')], [0, ['vpc.kubeovn.io/kept deleted', 'subnet.kubeovn.io/kept-net deleted']], err);
});

test('a foreign row in what goes is told before and at once, with its program, and no advice to remove it', { skip }, async () => {
  await tenant('shared', '10.86.0.0/24');
  const made = ['--id=@port', 'create', 'Logical_Switch_Port', 'name=vm-7', 'external_ids:neutron\\:revision_number=3', '--'];
  await scene.nbctl(...made, 'add', 'Logical_Switch', 'shared-net', 'ports', '@port');
  await scene.controller.untilQuiet();
  const plan = await scene.kiln('delete', 'subnet', 'shared-net', '--cascade', '--dry-run=client');
  assert.match(
    plan.out,
    /\nwaits for another program: Logical_Switch_Port vm-7 of neutron in Logical_Switch shared-net is never deleted, and Subnet shared-net is gone only after it; to look at it: ovn-nbctl list Logical_Switch_Port [-0-9a-f]{36}\n/i,
  );
  const began = performance.now();
  const { exit, err } = await scene.kiln('delete', 'subnet', 'shared-net', '--cascade', '--yes', '--timeout=120s');
  assert.ok(performance.now() - began < 60_000, 'it does not wait its time-out');
  assert.equal(exit, 1, err);
  assert.match(
    err,
    /error: 1 of the 1 objects are still there\n {2}why: rows of other programs are never deleted: subnet\.kubeovn\.io\/shared-net waits for Logical_Switch_Port vm-7 of neutron in Logical_Switch shared-net\n {2}next: ovn-nbctl list Logical_Switch_Port [-0-9a-f]{36} shows the row; the deletion ends by itself once its program has removed it\n$/i,
  );
  // Without the database the words of the controller's condition are there.
  const blind = await scene.kiln('delete', 'subnet', 'shared-net', '--cascade', '--yes', '--timeout=120s', '--ovn-nb=');
  assert.equal(blind.exit, 1, blind.err);
  assert.match(blind.err, /waits for Logical_Switch_Port vm-7 of neutron in Logical_Switch shared-net\n {2}next: kiln neighbours /i);
  assert.doesNotMatch(`${err}${blind.err}`, /ovn-nbctl (remove|destroy|lsp-del)/);
  await scene.nbctl('lsp-del', 'vm-7');
  while ((await find('subnets', 'shared-net')) !== undefined) await sleep(50);
});

/**
 * Holds an IP object, and with it its Subnet, by a finalizer, so that the command waits. (A pod would not work: after its grace period it
 * blocks nothing.)
 * @returns a function that removes the finalizer
 */
async function held(ip: string): Promise<() => Promise<unknown>> {
  const path = { name: ip };
  const { metadata } = (await find('ips', ip)) as { readonly metadata: { readonly finalizers?: readonly string[] } };
  const finalizers = [...(metadata.finalizers ?? []), 'example.com/hang'];
  await scene.client.mergePatch(traitsOf('ips'), path, { metadata: { finalizers } });
  return () => scene.client.mergePatch(traitsOf('ips'), path, { metadata: { finalizers: null } });
}

async function isGone(pod: string): Promise<void> {
  while ((await find('pods', pod, 'default')) !== undefined) await sleep(20);
}

interface Deletion {
  readonly deleted: readonly string[];
  readonly left: readonly string[];
}

test('new objects are named and not deleted: exit 1, and the deleted ones are listed', { skip }, async () => {
  await tenant('amid', '10.96.0.0/24', {});
  const letGo = await held('amid-0.default');
  const running = scene.kiln('delete', 'vpc', 'amid', '--cascade', '--yes', '--timeout=120s', '-o', 'json');
  await isGone('amid-0');
  await scene.make('pods', {
    metadata: { name: 'late', namespace: 'default', annotations: { 'ovn.kubernetes.io/logical_switch': 'amid-net' } },
    spec: { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 0 },
  });
  while ((await find('ips', 'late.default')) === undefined) await sleep(50);
  await letGo();
  const { exit, out, err } = await running;
  assert.equal(exit, 1, err);
  assert.match(err, /\nIP late\.default is new and was not in the plan: it is not deleted\n/);
  assert.match(
    err,
    /error: 2 of the 4 objects are still there\n {2}why: blocked by new objects that the plan did not show: IP late\.default\n/,
  );
  assert.match(err, / {2}next: kiln delete vpc amid --cascade\n$/);
  const { deleted, left } = JSON.parse(out) as Deletion;
  assert.deepEqual(deleted.toSorted(), ['ip.kubeovn.io/amid-0.default', 'pod/default/amid-0']);
  assert.deepEqual(left, ['subnet.kubeovn.io/amid-net', 'vpc.kubeovn.io/amid']);
  const again = await scene.kiln('delete', 'vpc', 'amid', '--cascade', '--yes', '--timeout=120s', '-o', 'name');
  assert.deepEqual([again.exit, again.out.trimEnd().split('\n').at(-1)], [0, 'vpc.kubeovn.io/amid'], again.err);
});

test('one that is made again under its name meanwhile is another one: it stays', { skip }, async () => {
  await tenant('twice', '10.97.0.0/24', {});
  const letGo = await held('twice-0.default');
  const running = scene.kiln('delete', 'vpc', 'twice', '--cascade', '--yes', '--timeout=120s');
  await isGone('twice-0');
  await scene.client.delete(traitsOf('subnets'), { name: 'twice-net' });
  await letGo();
  for (;;) {
    try {
      await scene.make('subnets', { metadata: { name: 'twice-net' }, spec: { vpc: 'default', cidrBlock: '10.98.0.0/24' } });
      break;
    } catch {
      await sleep(20);
    }
  }
  const { exit, err } = await running;
  assert.equal(exit, 0, err);
  assert.notEqual(await find('subnets', 'twice-net'), undefined);
});

test(
  'the command retries during an outage of the API server; a rejected request ends it, and the deleted objects are listed',
  { skip },
  async () => {
    await tenant('cuts', '10.99.0.0/24', {});
    const fault = async (match: object, error: object, times?: number): Promise<void> => {
      const path = { group: '', version: 'v1', plural: 'faults', kind: 'Fault', namespaced: false };
      await scene.client.transport.request({
        subject: { verb: 'create', resource: path.plural },
        method: 'POST',
        path: '/lab/faults',
        body: {
          match: { verbs: ['delete'], userAgent: 'kiln-delete', ...match },
          fault: error,
          ...(times !== undefined && { times }),
        },
      });
    };
    await fault({ resources: ['pods'] }, { kind: 'error', code: 503, message: 'not now' }, 2);
    // The answer of an API server that has just started and does not serve custom resources yet.
    const unknown = 'the server could not find the requested resource';
    await fault({ resources: ['subnets.kubeovn.io'] }, { kind: 'error', code: 404, reason: 'NotFound', message: unknown }, 2);
    await fault({ resources: ['subnets.kubeovn.io'] }, { kind: 'error', code: 403, reason: 'Forbidden', message: 'policy says no' }, 1);
    const { exit, out, err } = await scene.kiln('delete', 'vpc', 'cuts', '--cascade', '--yes', '--timeout=120s', '-o', 'json');
    assert.equal(exit, 3, err);
    assert.match(err, /\nthe API server does not accept requests now; the command retries: KUBE_UNAVAILABLE: .*not now\n/);
    assert.match(
      err,
      /error: 2 of the 4 objects are still there\n {2}why: KUBE_FORBIDDEN: .*policy says no\n {2}next: .*; then kiln delete vpc cuts --cascade\n$/,
    );
    const { deleted, left } = JSON.parse(out) as Deletion;
    assert.deepEqual([deleted.length, left], [2, ['subnet.kubeovn.io/cuts-net', 'vpc.kubeovn.io/cuts']]);
    assert.equal((await scene.kiln('delete', 'vpc', 'cuts', '--cascade', '--yes', '--timeout=120s')).exit, 0);
    // The interruption also works while the command closes Subnets, before it deletes the first pod.
    const labels = { app: 'shut' };
    await tenant('shut', '10.87.0.0/24', { labels });
    await scene.client.create(REPLICA_SETS, {
      metadata: { name: 'shut', namespace: 'default' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'busybox' }] } },
      },
    } as never);
    const adopted = async (): Promise<boolean> => JSON.stringify(await find('pods', 'shut-0', 'default')).includes('ownerReferences');
    while (!(await adopted())) await sleep(50);
    await fault({ resources: ['subnets.kubeovn.io'] }, { kind: 'error', code: 503, message: 'not now' }, 2);
    const closed = await scene.kiln('delete', 'subnet', 'shut-net', '--cascade', '--yes', '--owners=keep', '--timeout=120s');
    assert.equal(closed.exit, 0, closed.err);
    assert.match(closed.err, /\nthe API server does not accept requests now; the command retries: KUBE_UNAVAILABLE: .*not now\n/);
    assert.equal(closed.err.match(/the command retries/g)?.length, 1, 'the Subnet was closed before anything else was asked for');
  },
);
