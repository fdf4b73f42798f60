import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../../../nb/row-id.ts';
import { permutations } from '../../../testing/permutations.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';
const SUBNET = 'ovn.kubernetes.io/logical_switch';

function subnetOf(scene: PodScene, pod: string): string | undefined {
  return scene.annotations(pod)[SUBNET];
}

test('a pod that names a Subnet waits until there is one', () => {
  const scene = new PodScene();
  scene.pod('web', { annotations: { [SUBNET]: 'red' } });
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.deepEqual(
    [waits?.status, waits?.reason, waits?.message],
    [
      'False',
      'WaitingForSubnet',
      'Pod shop/web: metadata.annotations[ovn.kubernetes.io/logical_switch] "red": Subnet red does not exist; kiln explain pod web -n shop',
    ],
  );
  scene.subnet('red', { cidrBlock: '10.40.0.0/24' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.40.0.2');
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'True');
});

test('if the join Subnet claims a namespace its pods report the Subnet; a pod that requests it reports its annotation', () => {
  const scene = new PodScene();
  const reasonAndMessage = (pod: string): readonly unknown[] => {
    const { reason, message } = scene.bench.condition('pods', `shop/${pod}`, BOUND) ?? {};
    return [reason, message];
  };
  const none = 'Subnet join joins nodes to the network and has no pods';
  scene.bench.edit('subnets', 'join', { namespaces: ['shop'] });
  scene.pod('web');
  scene.pod('asks', { annotations: { [SUBNET]: 'join' } });
  scene.bench.converge();
  assert.deepEqual(reasonAndMessage('web'), [
    'WaitingForSubnet',
    `Pod shop/web: ${none}, but its spec.namespaces has Namespace shop; kubectl edit subnet join`,
  ]);
  assert.deepEqual(reasonAndMessage('asks'), [
    'InvalidAnnotation',
    `Pod shop/asks: metadata.annotations[${SUBNET}] "join": ${none}; kubectl edit pod -n shop asks`,
  ]);
  scene.bench.edit('subnets', 'join', {
    namespaces: [],
    namespaceSelectors: [{ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }],
  });
  scene.bench.converge();
  assert.match(String(reasonAndMessage('web')[1]), /its spec\.namespaceSelectors has Namespace shop; kubectl edit subnet join$/);
  scene.bench.edit('subnets', 'join', { namespaceSelectors: [] });
  scene.bench.converge();
  assert.equal(subnetOf(scene, 'shop/web'), 'ovn-default');
});

test('without a request a pod is in the default Subnet', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  assert.equal(subnetOf(scene, 'shop/web'), 'ovn-default');
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND), undefined);
});

test('a namespace that a custom Vpc claims waits for a Subnet of that Vpc, whatever comes first', () => {
  for (const order of permutations([0, 1, 2])) {
    const scene = new PodScene();
    scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop'] } });
    const steps = [
      () => scene.subnet('blue-b', { vpc: 'blue', cidrBlock: '10.52.0.0/24', namespaces: ['shop'] }),
      () => scene.subnet('blue-a', { vpc: 'blue', cidrBlock: '10.51.0.0/24', namespaces: ['elsewhere'] }),
      () => scene.pod('web'),
    ];
    for (const step of order) {
      steps[step]?.();
      scene.bench.converge();
    }
    assert.equal(subnetOf(scene, 'shop/web'), 'blue-b', order.join());
    assert.equal(scene.externalIds('Logical_Switch_Port', 'web.shop')['associated_sg_default-securitygroup'], 'false');
  }
});

test('several Subnets: the default one of the Vpc, then those that list the namespace, then those that select it', () => {
  const scene = new PodScene();
  scene.namespace('teams', { labels: { team: 'a' } });
  scene.subnet('selects', { vpc: 'blue', cidrBlock: '10.61.0.0/24', namespaceSelectors: [{ matchLabels: { team: 'a' } }] });
  scene.subnet('lists-2', {
    vpc: 'blue',
    cidrBlock: '10.62.0.0/24',
    namespaces: ['teams'],
    excludeIps: ['10.62.0.1', '10.62.0.9..10.62.0.12'],
  });
  scene.subnet('lists-1', { vpc: 'blue', cidrBlock: '10.63.0.0/24', namespaces: ['teams'] });
  scene.subnet('zero', { vpc: 'blue', cidrBlock: '10.64.0.0/24' });
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['teams'], defaultSubnet: 'zero' } });
  scene.bench.converge();
  assert.deepEqual(scene.bench.object('namespaces', 'teams')?.metadata.annotations, {
    'ovn.kubernetes.io/logical_switch': 'zero,lists-1,lists-2,selects',
    'ovn.kubernetes.io/cidr': '10.64.0.0/24;10.63.0.0/24;10.62.0.0/24;10.61.0.0/24',
    'ovn.kubernetes.io/exclude_ips': '10.64.0.1;10.63.0.1;10.62.0.1,10.62.0.9..10.62.0.12;10.61.0.1',
  });
  scene.pod('web', { namespace: 'teams' });
  scene.bench.converge();
  assert.equal(subnetOf(scene, 'teams/web'), 'zero');
});

test('a lost annotation of the Namespace is written again and never decides anything', () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  scene.namespace('shop', { annotations: { [SUBNET]: 'ovn-default' } });
  scene.pod('web');
  scene.bench.converge();
  assert.equal(subnetOf(scene, 'shop/web'), 'red');
  assert.equal(scene.bench.object('namespaces', 'shop')?.metadata.annotations?.[SUBNET], 'red');
});

test('a full Subnet is skipped for the next of the namespace, but not if the pod requests it', () => {
  const scene = new PodScene();
  scene.subnet('s1', { cidrBlock: '10.71.0.0/30', namespaces: ['shop'] });
  scene.subnet('s2', { cidrBlock: '10.72.0.0/24', namespaces: ['shop'] });
  for (const name of ['a', 'b']) scene.pod(name);
  scene.pod('c', { annotations: { [SUBNET]: 's1' } });
  scene.bench.converge();
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => subnetOf(scene, `shop/${name}`)),
    ['s1', 's2', 's1'],
  );
  assert.deepEqual([scene.addressOf('shop/c'), scene.bench.condition('pods', 'shop/c', BOUND)?.reason], [undefined, 'NoAvailableAddress']);
});

test('with a full Subnet, the join Subnet is skipped too, whatever it lists', () => {
  const scene = new PodScene();
  scene.subnet('a-full', { cidrBlock: '10.1.0.0/30', namespaces: ['shop'] });
  scene.bench.converge();
  scene.bench.edit('subnets', 'join', { namespaces: ['shop'] });
  scene.bench.converge();
  for (const name of ['first', 'second']) scene.pod(name);
  scene.bench.converge();
  assert.equal(subnetOf(scene, 'shop/first'), 'a-full');
  assert.equal(subnetOf(scene, 'shop/second'), undefined);
  assert.equal(scene.bench.condition('pods', 'shop/second', 'kiln.io/NetworkBound')?.reason, 'NoAvailableAddress');
});

test('when a Subnet adds or removes a namespace, running pods stay and new ones follow', () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.pod('old');
  scene.bench.converge();
  const before = [scene.portAddresses('old.shop'), scene.bench.object('ips', 'old.shop')?.metadata.uid];
  scene.bench.edit('subnets', 'red', { namespaces: [] });
  scene.pod('new');
  scene.bench.converge();
  assert.deepEqual([subnetOf(scene, 'shop/old'), subnetOf(scene, 'shop/new')], ['red', 'ovn-default']);
  assert.deepEqual([scene.portAddresses('old.shop'), scene.bench.object('ips', 'old.shop')?.metadata.uid], before);
});

test('a Subnet that is being deleted accepts no new pod and keeps its pods', () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.pod('old');
  scene.bench.converge();
  scene.bench.delete('subnets', 'red');
  scene.pod('new');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/old'), '10.40.0.2');
  assert.match(scene.bench.condition('pods', 'shop/new', BOUND)?.message ?? '', /Subnet red is being deleted/);
  assert.notEqual(scene.bench.object('subnets', 'red'), undefined);
  scene.bench.removeByForce('pods', 'shop/old');
  scene.bench.converge();
  assert.equal(scene.bench.object('subnets', 'red'), undefined);
  assert.equal(subnetOf(scene, 'shop/new'), 'ovn-default');
});

test('a namespace that waits for a Subnet never falls back', () => {
  const scene = new PodScene();
  scene.namespace('chart', { annotations: { 'kiln.io/await-subnet': 'true' } });
  scene.pod('web', { namespace: 'chart' });
  scene.bench.converge();
  assert.match(scene.bench.condition('pods', 'chart/web', BOUND)?.message ?? '', /Namespace chart waits for a Subnet, and none claims it/);
  scene.subnet('green', { cidrBlock: '10.80.0.0/24', namespaces: ['chart'] });
  scene.bench.converge();
  assert.equal(subnetOf(scene, 'chart/web'), 'green');
});

test('a pod beside its new Subnet has the condition and no Event until the switch is there', () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.pod('web');
  scene.bench.step();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.deepEqual([waits?.status, waits?.reason], ['False', 'WaitingForSubnet']);
  assert.match(waits?.message ?? '', /Subnet red has no switch in OVN yet/);
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'True');
  assert.deepEqual(
    scene.bench.events.filter(({ object, type }) => object === 'pods/shop/web' && type === 'Warning'),
    [],
  );
});

test("a pod whose Subnet's switch belongs to another program reports the conflict, also by an Event", () => {
  const scene = new PodScene();
  scene.bench.foreignRow('Logical_Switch', '00000000-0000-4000-8000-00000000000f', { name: 'red' });
  // As the diff reports it.
  const message = 'Logical_Switch red belongs to another program';
  scene.bench.world.rowConflicts.set(rowId('Logical_Switch', 'red'), { owners: ['subnet//red'], message });
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.pod('web');
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.match(waits?.message ?? '', /Subnet red: Logical_Switch red belongs to another program/);
  const events = scene.bench.events.filter(({ object }) => object === 'pods/shop/web');
  assert.deepEqual(
    events.map(({ type, reason }) => [type, reason]),
    [['Warning', 'WaitingForSubnet']],
  );
});
