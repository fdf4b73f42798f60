import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';

function gone(scene: PodScene, port: string): boolean {
  return scene.bench.object('ips', port) === undefined && scene.portAddresses(port) === undefined;
}

test('port, memberships and IP object are deleted with the pod, and the address is free', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const held = scene.bench.allocation.ledger.usage('ovn-default')?.v4?.using;
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.ok(gone(scene, 'web.shop'));
  assert.deepEqual(scene.bench.row('Port_Group', 'node.n1')?.['ports'], []);
  assert.equal(held, 1n);
  assert.equal(scene.bench.allocation.ledger.usage('ovn-default')?.v4?.using, 0n);
});

test('a recreated pod gets an IP object and a row of its own', () => {
  const scene = new PodScene();
  const first = scene.pod('web');
  scene.bench.converge();
  scene.bench.removeByForce('pods', 'shop/web');
  const second = scene.pod('web');
  assert.notEqual(second.metadata.uid, first.metadata.uid);
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'web.shop')?.metadata.annotations?.['kiln.io/pod-uid'], second.metadata.uid);
  assert.equal(scene.externalIds('Logical_Switch_Port', 'web.shop')['kiln.io/uid'], second.metadata.uid);
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress'], scene.addressOf('shop/web'));
  assert.equal(scene.bench.allocation.ledger.usage('ovn-default')?.v4?.using, 1n);
});

for (const [title, restartPolicy, status, released] of [
  ['completed', 'OnFailure', { phase: 'Succeeded' }, true],
  ['failed for good', 'Never', { phase: 'Failed' }, true],
  ['evicted', 'Always', { phase: 'Failed', reason: 'Evicted' }, true],
  ['failed and to be started again', 'OnFailure', { phase: 'Failed' }, false],
] as const) {
  test(`a pod that is ${title} ${released ? 'releases its address' : 'keeps its address'}`, () => {
    const scene = new PodScene();
    const pod = scene.pod('job', { spec: { restartPolicy } });
    scene.bench.converge();
    scene.bench.put('pods', { metadata: { name: 'job', namespace: 'shop' }, status, spec: pod.spec });
    scene.bench.converge();
    assert.equal(gone(scene, 'job.shop'), released);
    assert.equal(scene.bench.keys('pods').length, 1);
  });
}

test('a pod that terminates on a dead node is released after twice its grace period', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const { world } = scene.bench;
  const pod = world.pods.peek('shop/web');
  assert.ok(pod);
  const asked = Date.parse('2026-03-01T00:00:30Z');
  world.deadlines.advance(asked - 30_000);
  world.pods.set('shop/web', {
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: '2026-03-01T00:00:30Z', deletionGracePeriodSeconds: 30 },
  });
  scene.bench.converge();
  assert.ok(!gone(scene, 'web.shop'));
  assert.equal(world.deadlines.next, asked + 30_000);
  world.deadlines.advance(asked + 29_000);
  scene.bench.converge();
  assert.ok(!gone(scene, 'web.shop'));
  world.deadlines.advance(asked + 30_000);
  scene.bench.converge();
  assert.ok(gone(scene, 'web.shop'));
  assert.equal(world.deadlines.next, undefined);
});

test('a pod deleted during its allocation leaves nothing', () => {
  const scene = new PodScene();
  for (const rounds of [0, 1, 2]) {
    scene.pod('web');
    for (let round = 0; round < rounds; round++) scene.bench.step();
    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    assert.ok(gone(scene, 'web.shop'), `after ${rounds} rounds`);
    assert.equal(scene.bench.allocation.ledger.usage('ovn-default')?.v4?.using, 0n);
  }
});

test('pod and Subnet deleted together, at any time during the binding, leave nothing', () => {
  for (const rounds of [0, 1, 2, 3, 4]) {
    const scene = new PodScene();
    scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
    scene.bench.converge();
    scene.pod('web');
    for (let round = 0; round < rounds; round++) scene.bench.step();
    scene.bench.delete('subnets', 'red');
    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    assert.ok(gone(scene, 'web.shop'), `after ${rounds} rounds`);
    assert.deepEqual(
      [scene.bench.object('subnets', 'red'), scene.bench.row('Logical_Switch', 'red')],
      [undefined, undefined],
      `after ${rounds} rounds`,
    );
  }
});

test('deleted in the worst order (Vpc, Subnet, pod), everything is deleted, and nothing before its users', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop'] } });
  scene.subnet('blue-a', { vpc: 'blue', cidrBlock: '10.51.0.0/24', namespaces: ['shop'] });
  const rows = (): readonly string[] =>
    ['Logical_Router', 'Logical_Switch', 'Logical_Switch_Port', 'Logical_Router_Port']
      .flatMap((table) => scene.bench.rowIds(table))
      .filter((id) => /blue|web/.test(id));
  scene.pod('web');
  scene.bench.converge();
  const all = rows();
  assert.ok(all.length >= 5, all.join());
  scene.bench.delete('vpcs', 'blue');
  scene.bench.delete('subnets', 'blue-a');
  scene.bench.delete('ips', 'web.shop');
  scene.bench.converge();
  assert.deepEqual(rows(), all);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.deepEqual(rows(), []);
  assert.deepEqual(
    [scene.bench.object('vpcs', 'blue'), scene.bench.object('subnets', 'blue-a'), scene.bench.object('ips', 'web.shop')],
    [undefined, undefined, undefined],
  );
});
