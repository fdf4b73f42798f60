import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permutations } from '../../../testing/permutations.ts';
import { PodScene } from '../../../testing/pod-scene.ts';
import type { PodInput } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';
const SUBNET = 'ovn.kubernetes.io/logical_switch';

/** Pods that are bound to the default Subnet, and then a Subnet that claims their namespace. */
function late(pods: Readonly<Record<string, PodInput>>, policy?: string): PodScene {
  const scene = new PodScene();
  if (policy !== undefined) say(scene, policy);
  scene.statefulSet('db', 1);
  for (const [name, input] of Object.entries(pods)) scene.pod(name, input);
  scene.bench.converge();
  claim(scene);
  return scene;
}

function claim(scene: PodScene): void {
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
}

function say(scene: PodScene, policy: string): void {
  scene.namespace('shop', { annotations: { 'kiln.io/misbound': policy } });
}

function bound(scene: PodScene, pod: string): readonly [string | undefined, string | undefined] {
  const condition = scene.bench.condition('pods', `shop/${pod}`, BOUND);
  return [condition?.status, condition?.reason];
}

function message(scene: PodScene, pod: string): string {
  return scene.bench.condition('pods', `shop/${pod}`, BOUND)?.message ?? '';
}

function eventsOf(scene: PodScene, reason: string): readonly string[] {
  return scene.bench.events.filter((event) => event.reason === reason).map(({ object }) => object);
}

test('a Subnet that claims a namespace later makes its pods misbound: condition and Event report it, and no pod is moved', () => {
  const scene = late({ web: {}, db: {} });
  assert.deepEqual(bound(scene, 'web'), ['True', 'Misbound']);
  assert.match(
    message(scene, 'web'),
    /Pod shop\/web has its address from Subnet ovn-default, and Namespace shop belongs to red since; .*delete this one/,
  );
  assert.deepEqual(eventsOf(scene, 'Misbound').toSorted(), ['pods/shop/db', 'pods/shop/web']);
  assert.match(scene.addressOf('shop/web') ?? '', /^10\.16\./);
  assert.equal(scene.bench.writesAfterRestart(), 0);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.pod('web');
  scene.bench.converge();
  assert.match(scene.addressOf('shop/web') ?? '', /^10\.40\./);
  assert.deepEqual(bound(scene, 'web'), [undefined, undefined]);
});

test('the condition turns when the Subnet gives the namespace up again', () => {
  const scene = late({ web: {} });
  scene.bench.edit('subnets', 'red', { namespaces: [] });
  scene.bench.converge();
  assert.deepEqual(bound(scene, 'web'), ['True', 'Bound']);
});

test('a pod that names its Subnet or its address is where it wants to be, and so is one with a reserved address', () => {
  const scene = new PodScene();
  scene.bench.put('ips', {
    metadata: { name: 'kept.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
    spec: { podName: 'kept', namespace: 'shop', subnet: 'ovn-default', podType: '' },
  });
  scene.bench.converge();
  scene.pod('names', { annotations: { [SUBNET]: 'ovn-default' } });
  scene.pod('asks', { annotations: { 'ovn.kubernetes.io/ip_address': '10.16.0.99' } });
  scene.pod('kept');
  scene.bench.converge();
  claim(scene);
  for (const pod of ['names', 'asks', 'kept']) assert.deepEqual(bound(scene, pod), [undefined, undefined], pod);
});

test('report: a StatefulSet keeps its address over restarts of its pod, and the pod reports how to move it', () => {
  const scene = late({ 'db-0': { statefulSet: 'db' } });
  const address = scene.addressOf('shop/db-0');
  for (let round = 0; round < 2; round++) {
    assert.match(message(scene, 'db-0'), /annotate the Namespace with kiln\.io\/misbound=rebind/);
    scene.bench.removeByForce('pods', 'shop/db-0');
    scene.bench.converge();
    assert.equal(scene.bench.object('ips', 'db-0.shop')?.spec['v4IpAddress'], address);
    scene.pod('db-0', { statefulSet: 'db' });
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/db-0'), address);
  }
});

test('rebind: a running pod stays, the next one of its name is bound where the namespace is', () => {
  const scene = late({ 'db-0': { statefulSet: 'db' } }, 'rebind');
  assert.match(scene.addressOf('shop/db-0') ?? '', /^10\.16\./);
  assert.deepEqual(bound(scene, 'db-0'), ['True', 'Misbound']);
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), '10.40.0.2');
  assert.deepEqual(scene.bench.externalIds('Logical_Switch_Port', 'db-0.shop')['ls'], 'red');
  assert.deepEqual(bound(scene, 'db-0'), [undefined, undefined]);
});

test('rebind: the message of a pod without a controller names no owner', () => {
  const scene = late({ bare: {}, owned: { replicaSet: 'web' } }, 'rebind');
  assert.match(message(scene, 'bare'), /; a new pod is bound there: delete this one/);
  assert.match(message(scene, 'owned'), /; the next pod of its owner is bound there/);
});

test('evict: pods of a controller are evicted as their budgets allow; others report why not', () => {
  const scene = new PodScene();
  say(scene, 'evict');
  for (const name of ['a', 'b']) scene.pod(name, { replicaSet: 'web' });
  scene.pod('bare');
  scene.bench.converge();
  scene.bench.mayEvict = (pod) => pod === 'shop/a';
  claim(scene);
  assert.deepEqual(
    ['a', 'b', 'bare'].map((name) => scene.bench.object('pods', `shop/${name}`) !== undefined),
    [false, true, true],
  );
  assert.deepEqual(eventsOf(scene, 'MisboundEvicted'), ['pods/shop/a']);
  assert.match(message(scene, 'b'), /evicted as soon as its disruption budgets allow/);
  assert.match(message(scene, 'bare'), /not evicted, since no controller would create it again/);
  scene.bench.mayEvict = () => true;
  scene.bench.converge();
  assert.equal(scene.bench.object('pods', 'shop/b'), undefined);
  assert.notEqual(scene.bench.object('pods', 'shop/bare'), undefined);
  scene.pod('c', { replicaSet: 'web' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/c'), '10.40.0.2');
});

test('evict: no pod is evicted while the Subnet cannot accept the new pod', () => {
  const scene = new PodScene();
  say(scene, 'evict');
  scene.pod('web', { replicaSet: 'web' });
  scene.bench.converge();
  scene.subnet('red', { vpc: 'nowhere', cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  assert.notEqual(scene.bench.object('pods', 'shop/web'), undefined);
  assert.match(message(scene, 'web'), /evicted when that is ready: .*nowhere/);
});

test("the cluster's policy is in effect if the namespace has none, and an invalid one is reported", () => {
  const scene = late({ web: { replicaSet: 'web' } }, 'move');
  assert.notEqual(scene.bench.object('pods', 'shop/web'), undefined);
  const [event] = scene.bench.events.filter(({ object }) => object === 'namespaces/shop');
  assert.match(
    event?.message ?? '',
    /Namespace shop: annotation kiln\.io\/misbound "move" is none of report, rebind, evict; report is in effect/,
  );
  scene.bench.removeByForce('pods', 'shop/web');
  const eager = new PodScene({ misbound: 'evict' });
  eager.pod('web', { replicaSet: 'web' });
  eager.bench.converge();
  claim(eager);
  assert.equal(eager.bench.object('pods', 'shop/web'), undefined);
});

test('one manifest in every order ends the same: with a namespace that awaits its Subnet, and with eviction', () => {
  for (const annotations of [{ 'kiln.io/await-subnet': 'true' }, { 'kiln.io/await-subnet': 'red' }, { 'kiln.io/misbound': 'evict' }])
    for (const order of permutations([0, 1, 2])) {
      const scene = new PodScene();
      const steps = [
        () => scene.namespace('shop', { annotations }),
        () => scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] }),
        () => scene.pod('web', { replicaSet: 'web', namespace: 'shop' }),
      ];
      scene.bench.removeByForce('namespaces', 'shop');
      for (const step of order) {
        steps[step]?.();
        scene.bench.converge();
      }
      // As the ReplicaSet controller: it creates the pod again.
      if (scene.bench.object('pods', 'shop/web') === undefined) scene.pod('web', { replicaSet: 'web' });
      scene.bench.converge();
      assert.equal(scene.annotations('shop/web')[SUBNET], 'red', `${JSON.stringify(annotations)} ${order.join()}`);
      assert.equal(scene.addressOf('shop/web'), '10.40.0.2');
      assert.deepEqual(
        scene.bench.keys('ips').filter((name) => name.endsWith('.shop')),
        ['web.shop'],
      );
    }
});
