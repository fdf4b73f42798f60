import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';

const ROWS = ['Logical_Switch/red', 'Logical_Router_Port/blue-red', 'Logical_Switch_Port/red-blue', 'Logical_Switch_Port/web.shop'];

function setUp(vpc: string): PodScene {
  const scene = new PodScene();
  if (vpc !== 'ovn-cluster') scene.bench.put('vpcs', { metadata: { name: vpc } });
  scene.subnet('red', { vpc, cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
  scene.bench.put('pods', { metadata: { name: 'web', namespace: 'shop' }, spec: { nodeName: 'n1' } });
  scene.bench.settle();
  return scene;
}

const state = ({ bench }: PodScene, ids: readonly string[]): readonly unknown[] =>
  ids.map((id) => {
    const [table = '', name = ''] = id.split('/');
    return [...bench.northbound.table(table)].filter(([, row]) => row['name'] === name).map(([uuid]) => [id, uuid, bench.row(table, name)]);
  });

test('rows of a Subnet that vanished stay the same rows while a pod has an address of it, and a new Subnet takes them over', () => {
  const scene = setUp('blue');
  const before = state(scene, ROWS);
  assert.ok(before.every((found) => (found as readonly unknown[]).length === 1));
  scene.bench.vanish('subnets', 'red');
  scene.bench.settle();
  assert.deepEqual(state(scene, ROWS), before);
  const again = scene.bench.restarted();
  again.settle();
  assert.equal(again.writes, 0);
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
  scene.bench.settle();
  const uuids = (states: readonly unknown[]): readonly unknown[] =>
    states.map((found) => (found as readonly (readonly unknown[])[])[0]?.[1]);
  assert.deepEqual(uuids(state(scene, ROWS)), uuids(before));
  assert.equal(scene.bench.condition('subnets', 'red', 'Ready')?.status, 'True');
});

test('the same where the IP object is taken away too: it is made again, and the network stays the same rows', () => {
  for (const order of [['ips', 'subnets'] as const, ['subnets', 'ips'] as const]) {
    const scene = setUp('blue');
    const before = state(scene, ROWS);
    const { spec } = scene.bench.object('ips', 'web.shop') ?? {};
    for (const kind of order) scene.bench.vanish(kind, kind === 'ips' ? 'web.shop' : 'red');
    scene.bench.settle();
    assert.deepEqual(state(scene, ROWS), before);
    assert.deepEqual(scene.bench.object('ips', 'web.shop')?.spec, spec);
    const again = scene.bench.restarted();
    again.settle();
    assert.equal(again.writes, 0);
    scene.bench.vanish('pods', 'shop/web');
    scene.bench.settle();
    assert.deepEqual(
      state(scene, ROWS),
      ROWS.map(() => []),
    );
    assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
  }
});

test('the rows go with the last pod', () => {
  const scene = setUp('blue');
  scene.bench.vanish('subnets', 'red');
  scene.bench.settle();
  scene.bench.vanish('pods', 'shop/web');
  scene.bench.settle();
  assert.deepEqual(
    state(scene, ROWS),
    ROWS.map(() => []),
  );
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
});

test('a pod of the default Vpc stays in the groups by which it leaves the cluster', () => {
  const scene = setUp('ovn-cluster');
  const groups = ['Port_Group/node.n1', 'Port_Group/red.n1'];
  const before = state(scene, groups);
  assert.match(JSON.stringify(before), /web\.shop.*web\.shop/);
  scene.bench.vanish('subnets', 'red');
  scene.bench.settle();
  assert.deepEqual(state(scene, groups), before);
});
