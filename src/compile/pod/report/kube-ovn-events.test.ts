/**
 * Events of pods with the reasons that alerts and tools of Kube-OVN wait for; the finer reason heads the message and is in the condition.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentOf } from '../../../api/kube-ovn-events.ts';
import { rowId } from '../../../nb/row-id.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

function eventsOf(scene: PodScene, pod: string): readonly (readonly [string, string])[] {
  return scene.bench.events.filter(({ object }) => object === `pods/shop/${pod}`).map(({ reason, message }) => [reason, message] as const);
}

function waiting(annotations: Readonly<Record<string, string>>, cidrBlock = '10.40.0.0/24'): PodScene {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock, namespaces: ['shop'] });
  scene.pod('first', { annotations: cidrBlock.endsWith('/30') ? {} : { 'ovn.kubernetes.io/ip_address': '10.40.0.5' } });
  scene.bench.converge();
  scene.pod('web', { annotations });
  scene.bench.converge();
  return scene;
}

for (const [cause, event, annotations, cidrBlock] of [
  ['AddressConflict', 'AcquireAddressFailed', { 'ovn.kubernetes.io/ip_address': '10.40.0.5' }, '10.40.0.0/24'],
  ['AddressOutOfRange', 'AcquireAddressFailed', { 'ovn.kubernetes.io/ip_address': '10.41.0.5' }, '10.40.0.0/24'],
  ['NoAvailableAddress', 'AcquireAddressFailed', {}, '10.40.0.0/30'],
  ['WaitingForVip', 'AcquireAddressFailed', { 'ovn.kubernetes.io/vip': 'none' }, '10.40.0.0/24'],
  ['InvalidAnnotation', 'ValidatePodNetworkFailed', { 'ovn.kubernetes.io/ip_address': '10.40.0.x' }, '10.40.0.0/24'],
] as const)
  test(`${event} with the cause ${cause}, once, and again when the cause is another`, () => {
    const scene = waiting(annotations, cidrBlock);
    const [first, ...more] = eventsOf(scene, 'web');
    assert.equal(first?.[0], event);
    assert.ok(first[1].startsWith(`${cause}: `), first[1]);
    assert.deepEqual(more, []);
    assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.reason, cause);
    assert.equal(componentOf(event), 'kube-ovn-controller');
    scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_address': '10.99.0.1' } });
    scene.bench.converge();
    assert.equal(eventsOf(scene, 'web').length, 2);
  });

test("CreateOVNPortFailed, where another program has a port of the pod's name", () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  // As the diff reports it.
  const message = 'Logical_Switch_Port web.shop belongs to another program';
  scene.bench.world.rowConflicts.set(rowId('Logical_Switch_Port', 'web.shop'), { owners: ['pod/shop/web'], message });
  scene.pod('web');
  scene.bench.converge();
  const [event] = eventsOf(scene, 'web');
  assert.equal(event?.[0], 'CreateOVNPortFailed');
  assert.match(event[1], /^RowConflict: Logical_Switch_Port web\.shop belongs to another program/);
});

test('PodNetworkUpdated, where a pod no longer has an interface, and nothing where an annotation was forged', () => {
  const scene = new PodScene();
  scene.attachment('infra/fast', 'kube-ovn');
  scene.subnet('fast', { cidrBlock: '10.50.0.0/24', provider: 'fast.infra.ovn' });
  scene.pod('web', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'infra/fast' } });
  scene.bench.converge();
  const given = scene.bench.object('pods', 'shop/web')?.metadata.annotations ?? {};
  const [ip, mac] = [given['fast.infra.ovn.kubernetes.io/ip_address'], given['fast.infra.ovn.kubernetes.io/mac_address']];
  assert.ok(ip !== undefined);
  const { 'k8s.v1.cni.cncf.io/networks': _, ...others } = given;
  scene.pod('web', { annotations: others });
  scene.bench.converge();
  assert.equal(scene.bench.object('pods', 'shop/web')?.metadata.annotations?.['fast.infra.ovn.kubernetes.io/ip_address'], undefined);
  assert.deepEqual(eventsOf(scene, 'web').at(-1), [
    'PodNetworkUpdated',
    `provider=fast.infra.ovn subnet=fast ip=${ip} mac=${mac} logicalSwitchPort=web.shop.fast.infra.ovn`,
  ]);
  assert.equal(eventsOf(scene, 'web').filter(([reason]) => reason === 'PodNetworkUpdated').length, 1);
});

test('PodNetworkUpdated, where a pod is routed after it got its addresses; not where both come together', () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  scene.pod('web', { node: '' });
  scene.pod('prompt');
  scene.bench.converge();
  const { metadata } = scene.bench.object('pods', 'shop/web') ?? assert.fail();
  assert.deepEqual(
    [metadata.annotations?.['ovn.kubernetes.io/allocated'], metadata.annotations?.['ovn.kubernetes.io/routed']],
    ['true', undefined],
  );
  scene.pod('web', { annotations: metadata.annotations ?? {} });
  scene.bench.converge();
  assert.equal(scene.annotations('shop/web')['ovn.kubernetes.io/routed'], 'true');
  const [[, details] = [], ...more] = eventsOf(scene, 'web');
  assert.deepEqual(more, [['PodNetworkUpdated', details]]);
  assert.deepEqual(
    eventsOf(scene, 'prompt').map(([reason]) => reason),
    ['PodNetworkAllocated'],
  );
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('NodeAddressConflictWithSubnet, where a Subnet holds the InternalIP of a node', () => {
  const scene = new PodScene();
  scene.subnet('wide', { cidrBlock: '192.168.0.0/16' });
  scene.bench.converge();
  const reported = scene.bench.events.filter(({ object }) => object === 'nodes/n1').map(({ reason, message }) => [reason, message]);
  assert.deepEqual(reported, [
    ['NodeAddressConflictWithSubnet', 'internal IP address of node n1 is in CIDR of subnet wide, this may result in network issues'],
  ]);
  assert.equal(componentOf('NodeAddressConflictWithSubnet'), 'kube-ovn-controller');
});

test('a reason of Kiln alone has its own source', () => {
  assert.equal(componentOf('Misbound'), undefined);
  assert.equal(componentOf('PodNetworkAllocated'), 'kube-ovn-controller');
});
