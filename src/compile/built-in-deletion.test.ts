/**
 * A user deletes objects that the cluster needs: they stay in effect, accept new dependents, are removed when nothing blocks them, and are
 * created again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkInvariants } from '../invariants/check-invariants.ts';
import { PodScene } from '../testing/pod-scene.ts';

const BUILT_IN = [
  ['vpcs', 'ovn-cluster'],
  ['subnets', 'ovn-default'],
  ['subnets', 'join'],
] as const;

/** Two nodes and a pod in the default Subnet; then a user deletes all Vpcs and Subnets. */
function allDeleted(): PodScene {
  const scene = new PodScene();
  scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {} });
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
  scene.subnet('plain', { cidrBlock: '10.8.0.0/24' });
  scene.pod('old');
  scene.bench.converge();
  for (const resource of ['vpcs', 'subnets'] as const) for (const name of scene.bench.keys(resource)) scene.bench.delete(resource, name);
  scene.bench.converge();
  return scene;
}

function uidOf({ bench }: PodScene, resource: 'vpcs' | 'subnets', name: string): string | undefined {
  return bench.object(resource, name)?.metadata.uid;
}

function isGoing({ bench }: PodScene, resource: 'vpcs' | 'subnets', name: string): boolean {
  return bench.world.tables[resource]?.peek(name)?.metadata.deletionTimestamp !== undefined;
}

function addressOf({ bench }: PodScene, node: string): string | undefined {
  return bench.object('nodes', node)?.metadata.annotations?.['ovn.kubernetes.io/ip_address'];
}

function violations({ bench }: PodScene): readonly unknown[] {
  return checkInvariants({ world: bench.world, plan: { rows: [], objects: [] } });
}

function ports({ bench }: PodScene): readonly string[] {
  return [...bench.northbound.table('Logical_Switch_Port')].map(([uuid, row]) => `${uuid} ${String(row['name'])}`).toSorted();
}

test('all Vpcs and Subnets are deleted: those in use stay with their ports and addresses, the others are deleted', () => {
  const scene = allDeleted();
  const { bench } = scene;
  assert.deepEqual(bench.keys('subnets'), ['join', 'ovn-default']);
  assert.deepEqual(bench.keys('vpcs'), ['ovn-cluster']);
  assert.ok(BUILT_IN.every(([resource, name]) => isGoing(scene, resource, name)));
  for (const [resource, name] of [BUILT_IN[0], BUILT_IN[2]]) {
    const reported = bench.condition(resource, name, 'DeletionBlocked');
    assert.deepEqual([reported?.status, reported?.reason], ['True', 'NeededByCluster']);
    assert.match(reported?.message ?? '', /The cluster needs it: .* nothing needs to be done/);
  }
  assert.equal(bench.condition('subnets', 'ovn-default', 'DeletionBlocked')?.reason, 'DeletionBlocked');
  assert.deepEqual(
    bench.events.filter(({ reason }) => reason === 'NeededByCluster').map(({ object, type }) => [object, type]),
    [
      ['vpcs/ovn-cluster', 'Normal'],
      ['subnets/join', 'Normal'],
    ],
  );
  const left = new Set(bench.rowIds('Logical_Switch_Port').filter((name) => /^node-|\.shop$/.test(name)));
  assert.deepEqual(left, new Set(['node-n1', 'node-n2', 'old.shop']));
  assert.deepEqual(violations(scene), []);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('the join Subnet that is being deleted takes new nodes, and the default Vpc new Subnets, which work', () => {
  const scene = allDeleted();
  const { bench } = scene;
  bench.put('nodes', { metadata: { name: 'n3' }, spec: {} });
  scene.subnet('late', { cidrBlock: '10.7.0.0/24', namespaces: ['late'] });
  scene.namespace('late');
  scene.pod('first', { namespace: 'late' });
  bench.converge();
  assert.match(addressOf(scene, 'n3') ?? '', /^100\.64\.0\./);
  assert.ok(bench.row('Logical_Switch_Port', 'node-n3'));
  assert.equal(bench.condition('subnets', 'late', 'Ready')?.status, 'True');
  assert.match(scene.addressOf('late/first') ?? '', /^10\.7\.0\./);
  assert.match(
    bench.condition('vpcs', 'ovn-cluster', 'DeletionBlocked')?.message ?? '',
    /: Subnet join, Subnet late, Subnet ovn-default\. /,
  );
});

test('the default Subnet is deleted with its last pod and created again in the Vpc that is being deleted: a waiting pod gets an address', () => {
  const scene = allDeleted();
  const { bench } = scene;
  const [vpc, subnet] = [uidOf(scene, 'vpcs', 'ovn-cluster'), uidOf(scene, 'subnets', 'ovn-default')];
  scene.pod('new');
  bench.converge();
  assert.match(bench.condition('pods', 'shop/new', 'kiln.io/NetworkBound')?.message ?? '', /Subnet ovn-default is being deleted/);
  const node = addressOf(scene, 'n1');
  bench.removeByForce('pods', 'shop/old');
  bench.converge();
  assert.match(scene.addressOf('shop/new') ?? '', /^10\.16\./);
  assert.notEqual(uidOf(scene, 'subnets', 'ovn-default'), subnet);
  assert.ok(!isGoing(scene, 'subnets', 'ovn-default'));
  assert.equal(bench.condition('subnets', 'ovn-default', 'Ready')?.status, 'True');
  assert.deepEqual([uidOf(scene, 'vpcs', 'ovn-cluster'), addressOf(scene, 'n1')], [vpc, node]);
});

test('the join Subnet and the Vpc are deleted with the last node, and created again for the next one', () => {
  const scene = allDeleted();
  const { bench } = scene;
  const before = BUILT_IN.map(([resource, name]) => uidOf(scene, resource, name));
  for (const node of ['n1', 'n2']) bench.removeByForce('nodes', node);
  bench.removeByForce('pods', 'shop/old');
  bench.converge();
  assert.ok(BUILT_IN.every(([resource, name], i) => ![undefined, before[i]].includes(uidOf(scene, resource, name))));
  assert.ok(!BUILT_IN.some(([resource, name]) => isGoing(scene, resource, name)));
  bench.put('nodes', { metadata: { name: 'n9' }, spec: {} });
  bench.converge();
  assert.match(addressOf(scene, 'n9') ?? '', /^100\.64\.0\./);
  assert.deepEqual(bench.object('vpcs', 'ovn-cluster')?.status?.['subnets'], ['join', 'ovn-default']);
});

test('a node that is added while the join Subnet is deleted with its last node is in the one that is created again', () => {
  const scene = allDeleted();
  const { bench } = scene;
  const before = uidOf(scene, 'subnets', 'join');
  for (const node of ['n1', 'n2']) bench.removeByForce('nodes', node);
  while (bench.condition('subnets', 'join', 'DeletionBlocked') !== undefined && bench.object('subnets', 'join')?.metadata.uid === before)
    bench.step();
  bench.put('nodes', { metadata: { name: 'n9' }, spec: {} });
  bench.converge();
  assert.match(addressOf(scene, 'n9') ?? '', /^100\.64\.0\./);
  assert.deepEqual(violations(scene), []);
});

test('the empty default Vpc is deleted at once, and a Subnet that was added meanwhile is in the one that is created again', () => {
  const scene = allDeleted();
  const { bench } = scene;
  for (const node of ['n1', 'n2']) bench.removeByForce('nodes', node);
  bench.removeByForce('pods', 'shop/old');
  const before = uidOf(scene, 'vpcs', 'ovn-cluster');
  while (bench.object('subnets', 'join') !== undefined || bench.object('subnets', 'ovn-default') !== undefined) bench.step();
  assert.equal(uidOf(scene, 'vpcs', 'ovn-cluster'), before);
  scene.subnet('late', { cidrBlock: '10.7.0.0/24' });
  bench.converge();
  assert.ok(![undefined, before].includes(uidOf(scene, 'vpcs', 'ovn-cluster')));
  assert.equal(bench.condition('subnets', 'late', 'Ready')?.status, 'True');
});

test('all three removed by force: created again over the same rows, with every port and every address', () => {
  const scene = allDeleted();
  const { bench } = scene;
  const before = [ports(scene), ['n1', 'n2'].map((node) => addressOf(scene, node)), scene.addressOf('shop/old')];
  const uids = BUILT_IN.map(([resource, name]) => uidOf(scene, resource, name));
  for (const [resource, name] of BUILT_IN) bench.removeByForce(resource, name);
  bench.converge();
  assert.ok(BUILT_IN.every(([resource, name], i) => ![undefined, uids[i]].includes(uidOf(scene, resource, name))));
  assert.deepEqual([ports(scene), ['n1', 'n2'].map((node) => addressOf(scene, node)), scene.addressOf('shop/old')], before);
  for (const [resource, name] of BUILT_IN) assert.equal(bench.condition(resource, name, 'Ready')?.status, 'True');
  assert.deepEqual(violations(scene), []);
});

test('the two Subnets, removed by force from the Vpc that is being deleted, are created again in it', () => {
  const scene = allDeleted();
  const { bench } = scene;
  const before = [ports(scene), ['n1', 'n2'].map((node) => addressOf(scene, node)), uidOf(scene, 'vpcs', 'ovn-cluster')];
  for (const name of ['join', 'ovn-default']) bench.removeByForce('subnets', name);
  bench.converge();
  assert.deepEqual([ports(scene), ['n1', 'n2'].map((node) => addressOf(scene, node)), uidOf(scene, 'vpcs', 'ovn-cluster')], before);
  for (const name of ['join', 'ovn-default']) assert.equal(bench.condition('subnets', name, 'Ready')?.status, 'True');
});
