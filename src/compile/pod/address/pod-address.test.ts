import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

test('an address that is taken is waited for, visibly, and given when it is free', () => {
  const scene = new PodScene();
  const annotations = { 'ovn.kubernetes.io/ip_address': '10.16.7.7' };
  scene.pod('first', { annotations });
  scene.bench.converge();
  scene.pod('second', { annotations });
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/second', BOUND);
  assert.deepEqual([waits?.status, waits?.reason], ['False', 'AddressConflict']);
  assert.match(waits?.message ?? '', /10\.16\.7\.7.*first\.shop/);
  assert.equal(scene.portAddresses('second.shop'), undefined);
  assert.equal(scene.bench.condition('pods', 'shop/first', BOUND), undefined);
  scene.bench.removeByForce('pods', 'shop/first');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/second'), '10.16.7.7');
  assert.deepEqual(scene.bench.condition('pods', 'shop/second', BOUND)?.status, 'True');
  assert.deepEqual(
    scene.bench.events
      .filter(({ object }) => object === 'pods/shop/second')
      .map(({ reason }) => reason)
      .slice(-2)
      .toSorted(),
    ['Bound', 'PodNetworkAllocated'],
  );
});

test('a full Subnet makes pods wait; the oldest is first when there is room', () => {
  const scene = new PodScene();
  scene.subnet('tiny', { cidrBlock: '10.30.0.0/30', namespaces: ['shop'] });
  for (const name of ['a', 'b', 'c']) scene.pod(name);
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/a'), '10.30.0.2');
  assert.equal(scene.bench.condition('pods', 'shop/b', BOUND)?.reason, 'NoAvailableAddress');
  scene.bench.removeByForce('pods', 'shop/a');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/b'), '10.30.0.2');
  assert.equal(scene.addressOf('shop/c'), undefined);
});

test('a list of addresses gives the first free one', () => {
  const scene = new PodScene();
  const annotations = { 'ovn.kubernetes.io/ip_pool': '10.16.9.1, 10.16.9.2,10.16.9.3' };
  for (const name of ['a', 'b']) scene.pod(name, { annotations });
  scene.bench.converge();
  assert.deepEqual([scene.addressOf('shop/a'), scene.addressOf('shop/b')], ['10.16.9.1', '10.16.9.2']);
});

test('a list gives a StatefulSet pod the address of its ordinal', () => {
  const scene = new PodScene();
  scene.statefulSet('db', 3);
  const annotations = { 'ovn.kubernetes.io/ip_pool': '10.16.9.1;10.16.9.2' };
  for (const name of ['db-1', 'db-0', 'db-2']) scene.pod(name, { annotations, statefulSet: 'db' });
  scene.bench.converge();
  assert.deepEqual(
    [scene.addressOf('shop/db-0'), scene.addressOf('shop/db-1'), scene.addressOf('shop/db-2')],
    ['10.16.9.1', '10.16.9.2', undefined],
  );
  assert.match(
    scene.bench.condition('pods', 'shop/db-2', BOUND)?.message ?? '',
    /lists 2 addresses, and ordinal 2 of StatefulSet db has none/,
  );
});

test('an invalid annotation is reported with key, value and rule, until it is fixed', () => {
  const scene = new PodScene();
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_address': '10.16.0.300' } });
  scene.bench.converge();
  const refused = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(refused?.reason, 'InvalidAnnotation');
  assert.match(refused?.message ?? '', /Pod shop\/web: metadata\.annotations\[ovn\.kubernetes\.io\/ip_address\] "10\.16\.0\.300"/);
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_address': '10.16.0.200' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.16.0.200');
});

test('an address outside of the Subnet fails with a reason', () => {
  const scene = new PodScene();
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_address': '192.0.2.1' } });
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.reason, 'AddressOutOfRange');
});

test('a pod reports an address that a user has reserved under its name in another Subnet', () => {
  const scene = new PodScene();
  scene.bench.put('ips', {
    metadata: { name: 'web.shop' },
    spec: { subnet: 'elsewhere', podName: 'web', namespace: 'shop', ipAddress: '10.9.0.2', v4IpAddress: '10.9.0.2' },
  });
  scene.pod('web');
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(waits?.reason, 'ReservedElsewhere');
  assert.match(waits?.message ?? '', /IP web\.shop is reserved for this pod in Subnet elsewhere, but the pod belongs to ovn-default/);
  const counts = scene.bench.object('subnets', 'ovn-default')?.status as { readonly v4usingIPs?: unknown } | undefined;
  assert.equal(Number(counts?.v4usingIPs), 0);
  scene.bench.removeByForce('ips', 'web.shop');
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'True');
});
