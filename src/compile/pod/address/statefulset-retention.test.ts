import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

function uidOfRow(scene: PodScene, port: string): string | undefined {
  return [...scene.bench.northbound.table('Logical_Switch_Port').values()].find((row) => row['name'] === port)?._uuid;
}

function ownerOfRow(scene: PodScene, port: string): string | undefined {
  return scene.externalIds('Logical_Switch_Port', port)['kiln.io/owner'];
}

function bound(replicas = 2): PodScene {
  const scene = new PodScene();
  scene.statefulSet('db', replicas);
  for (let i = 0; i < replicas; i++) scene.pod(`db-${i}`, { statefulSet: 'db' });
  scene.bench.converge();
  return scene;
}

test('without a pod the address, IP object and port are retained, in no port group', () => {
  const scene = bound();
  const [address, row] = [scene.addressOf('shop/db-0'), uidOfRow(scene, 'db-0.shop')];
  assert.equal(scene.bench.object('ips', 'db-0.shop')?.spec['podType'], 'StatefulSet');
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'db-0.shop')?.spec['v4IpAddress'], address);
  assert.equal(uidOfRow(scene, 'db-0.shop'), row);
  assert.equal(ownerOfRow(scene, 'db-0.shop'), 'ip//db-0.shop');
  assert.deepEqual(scene.bench.row('Port_Group', 'node.n1')?.['ports'], ['Logical_Switch_Port/db-1.shop']);
  scene.pod('other');
  scene.bench.converge();
  assert.notEqual(scene.addressOf('shop/other'), address);

  const again = scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), address);
  assert.equal(uidOfRow(scene, 'db-0.shop'), row, 'the row is taken over in place');
  assert.equal(ownerOfRow(scene, 'db-0.shop'), 'pod/shop/db-0');
  assert.equal(scene.bench.object('ips', 'db-0.shop')?.metadata.annotations?.['kiln.io/pod-uid'], again.metadata.uid);
});

test('an address outlives a restart of the controller with no pod there', () => {
  const scene = bound();
  const address = scene.addressOf('shop/db-0');
  scene.bench.removeByForce('pods', 'shop/db-0');
  const fresh = scene.bench.restarted();
  fresh.put('pods', { metadata: { name: 'early', namespace: 'shop' }, spec: { nodeName: 'n1' } });
  fresh.converge();
  assert.notEqual(fresh.object('pods', 'shop/early')?.metadata.annotations?.['ovn.kubernetes.io/ip_address'], address);
  assert.equal(fresh.object('ips', 'db-0.shop')?.spec['v4IpAddress'], address);
});

test('scaling down releases the removed ordinals, and only those', () => {
  const scene = bound(3);
  scene.bench.edit('statefulsets', 'shop/db', { replicas: 1 });
  scene.bench.converge();
  assert.notEqual(scene.portAddresses('db-2.shop'), undefined, 'a pod that still runs keeps its port');
  for (const name of ['db-2', 'db-1', 'db-0']) scene.bench.removeByForce('pods', `shop/${name}`);
  scene.bench.converge();
  assert.deepEqual(
    scene.bench.keys('ips').filter((name) => name.startsWith('db-')),
    ['db-0.shop'],
  );
  assert.deepEqual(
    scene.bench.rowIds('Logical_Switch_Port').filter((name) => name.startsWith('db-')),
    ['db-0.shop'],
  );
});

test('retained addresses are released with their StatefulSet', () => {
  const scene = bound();
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.converge();
  scene.bench.removeByForce('statefulsets', 'shop/db');
  scene.bench.removeByForce('pods', 'shop/db-1');
  scene.bench.converge();
  assert.deepEqual(
    scene.bench.keys('ips').filter((name) => name.startsWith('db-')),
    [],
  );
  assert.deepEqual(
    scene.bench.rowIds('Logical_Switch_Port').filter((name) => name.startsWith('db-')),
    [],
  );
});

test('a StatefulSet recreated while no controller ran leaves no orphan port', () => {
  const scene = bound(1);
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.removeByForce('statefulsets', 'shop/db');
  const set = scene.statefulSet('db', 1);
  const pod = scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  const ip = scene.bench.object('ips', 'db-0.shop');
  assert.deepEqual(
    [ip?.metadata.annotations?.['kiln.io/pod-uid'], ip?.metadata.annotations?.['kiln.io/owner-uid']],
    [pod.metadata.uid, set.metadata.uid],
  );
  assert.deepEqual(scene.portAddresses('db-0.shop'), [`${String(ip?.spec['macAddress'])} ${scene.addressOf('shop/db-0')}`]);
  assert.equal(scene.externalIds('Logical_Switch_Port', 'db-0.shop')['kiln.io/uid'], pod.metadata.uid);
});

test('a retained address is released when the namespace moved to another Subnet and the policy is to follow', () => {
  const scene = bound(1);
  scene.namespace('shop', { annotations: { 'kiln.io/misbound': 'rebind' } });
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.converge();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'db-0.shop'), undefined);
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), '10.40.0.2');
});

for (const [how, cidrBlock, before] of [
  ['narrowed', '10.0.0.128/25', '10.0.0.0/24'],
  ['left with one family', 'fd00::/112', '10.0.0.0/24,fd00::/112'],
] as const) {
  test(`a network that is ${how} waits for the pods of a StatefulSet, not for the next ones`, () => {
    const scene = new PodScene();
    // The gateway moves with the network: pods keep their routes to the old one.
    const annotations = { 'kiln.io/allow-change-under-pods': 'true' };
    scene.bench.put('subnets', {
      metadata: { name: 'red', annotations },
      spec: { vpc: 'ovn-cluster', cidrBlock: before, namespaces: ['shop'] },
    });
    scene.statefulSet('db', 3);
    for (let i = 0; i < 3; i++) scene.pod(`db-${i}`, { statefulSet: 'db' });
    scene.bench.converge();
    scene.bench.edit('subnets', 'red', { cidrBlock, gateway: '', excludeIps: [], protocol: '' });
    scene.bench.converge();
    assert.match(scene.bench.condition('subnets', 'red', 'Accepted')?.message ?? '', /leaves out addresses in use; .*IP db-2\.shop/);
    for (let i = 2; i >= 0; i--) {
      scene.bench.removeByForce('pods', `shop/db-${i}`);
      scene.bench.converge();
      scene.pod(`db-${i}`, { statefulSet: 'db' });
      scene.bench.converge();
    }
    assert.equal(scene.bench.condition('subnets', 'red', 'Accepted')?.status, 'True');
    assert.deepEqual(scene.bench.row('Logical_Router_Port', 'ovn-cluster-red')?.['networks'], [
      cidrBlock.startsWith('fd') ? 'fd00::1/112' : '10.0.0.129/25',
    ]);
    const addresses = [0, 1, 2].map((i) => scene.addressOf(`shop/db-${i}`) ?? '');
    assert.ok(
      addresses.every((one) => /^(10\.0\.0\.1\d\d|fd00::\w+)$/.test(one)),
      addresses.join(' '),
    );
  });
}

test('a template with another address, MAC or pool releases the retained one, without a pod and with the next one', () => {
  const scene = bound(1);
  const kept = scene.addressOf('shop/db-0');
  const annotations = { 'ovn.kubernetes.io/ip_address': '10.16.0.99' };
  scene.bench.edit('statefulsets', 'shop/db', { template: { metadata: { annotations } } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), kept, 'a running pod keeps its address');
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.converge();
  assert.deepEqual(
    scene.bench.keys('ips').filter((name) => name.startsWith('db-')),
    [],
  );
  scene.pod('db-0', { statefulSet: 'db', annotations });
  scene.bench.converge();
  assert.match(String(scene.portAddresses('db-0.shop')), / 10\.16\.0\.99$/);
  const row = uidOfRow(scene, 'db-0.shop');
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.pod('db-0', { statefulSet: 'db', annotations });
  scene.bench.converge();
  assert.equal(uidOfRow(scene, 'db-0.shop'), row, 'what names the same stays');

  // The pod is recreated before the controller observes its deletion.
  const mac = { ...annotations, 'ovn.kubernetes.io/mac_address': '0a:00:00:00:00:99' };
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.pod('db-0', { statefulSet: 'db', annotations: mac });
  scene.bench.converge();
  assert.equal(String(scene.portAddresses('db-0.shop')), '0a:00:00:00:00:99 10.16.0.99');
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.pod('db-0', { statefulSet: 'db', annotations: { 'ovn.kubernetes.io/ip_pool': '10.16.0.77;10.16.0.78' } });
  scene.bench.converge();
  assert.match(String(scene.portAddresses('db-0.shop')), / 10\.16\.0\.77$/);
});

test("with a foreign Vpc router no port records the Subnet's network: an address outside of the spec is not retained, and the pod reports it", () => {
  const scene = new PodScene();
  const { bench } = scene;
  const theirs = '00000000-0000-4000-8000-000000000009';
  bench.foreignRow('Logical_Router', theirs, { name: 'z1', external_ids: new Map([['theirs', 'yes']]) });
  bench.put('vpcs', { metadata: { name: 'z1' }, spec: {} });
  const spec = { vpc: 'z1', cidrBlock: '10.67.0.0/24', gateway: '10.67.0.1', namespaces: ['shop'] };
  scene.subnet('red', { ...spec, excludeIps: ['10.67.0.2..10.67.0.199'] });
  scene.statefulSet('db', 1);
  scene.pod('db-0', { statefulSet: 'db' });
  bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), '10.67.0.200');
  bench.edit('subnets', 'red', { cidrBlock: '10.67.0.0/25', excludeIps: ['10.67.0.1'] });
  bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), '10.67.0.200');
  const { message = '' } = bench.condition('pods', 'shop/db-0', 'kiln.io/NetworkBound') ?? {};
  assert.match(message, /it keeps that one while it runs, and the next pod gets another one/);
  bench.removeByForce('pods', 'shop/db-0');
  bench.converge();
  scene.pod('db-0', { statefulSet: 'db' });
  bench.converge();
  assert.match(scene.addressOf('shop/db-0') ?? '', /^10\.67\.0\.\d+$/);
  assert.notEqual(scene.addressOf('shop/db-0'), '10.67.0.200');
});

test('the keys of security groups stay at the port while the pod is away, as the next pod will have them', () => {
  const annotations = { 'ovn.kubernetes.io/logical_switch': 'blue-net', 'ovn.kubernetes.io/security_groups': 'front,back' };
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('blue-net', { vpc: 'blue', cidrBlock: '10.44.0.0/24', namespaces: ['shop'] });
  scene.bench.put('statefulsets', {
    metadata: { name: 'db', namespace: 'shop' },
    spec: { replicas: 1, template: { metadata: { annotations } } },
  });
  scene.pod('db-0', { statefulSet: 'db', annotations });
  scene.bench.converge();
  const keys = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(scene.externalIds('Logical_Switch_Port', 'db-0.shop')).filter(([key]) => !key.startsWith('kiln.io/')),
    );
  const before = keys();
  assert.equal(before['associated_sg_default-securitygroup'], 'false');
  assert.equal(before['security_groups'], 'front/back');
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.converge();
  assert.equal(ownerOfRow(scene, 'db-0.shop'), 'ip//db-0.shop');
  assert.deepEqual(keys(), before);
});
