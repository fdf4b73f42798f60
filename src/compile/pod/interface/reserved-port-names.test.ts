/** Ports of nodes and routers have precedence over pods with the same port name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

function ownerOf(scene: PodScene, port: string): string | undefined {
  return scene.externalIds('Logical_Switch_Port', port)['kiln.io/owner'];
}

function node(scene: PodScene, name: string): void {
  scene.bench.put('nodes', { metadata: { name }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '192.168.1.77' }] } });
}

for (const podFirst of [true, false])
  test(`pod node-x1 in namespace example makes way for node x1.example, ${podFirst ? 'also when it was there first' : 'which was there first'}`, () => {
    const scene = new PodScene();
    scene.namespace('example');
    if (!podFirst) node(scene, 'x1.example');
    scene.bench.converge();
    scene.pod('node-x1', { namespace: 'example' });
    scene.bench.converge();
    if (podFirst) {
      assert.equal(ownerOf(scene, 'node-x1.example'), 'pod/example/node-x1');
      node(scene, 'x1.example');
      scene.bench.converge();
    }
    assert.equal(ownerOf(scene, 'node-x1.example'), 'node//x1.example');
    assert.match(String(scene.portAddresses('node-x1.example')), / 100\.64\./);
    assert.equal(scene.bench.object('ips', 'node-x1.example')?.spec['podName'], 'x1.example');
    const condition = scene.bench.condition('pods', 'example/node-x1', BOUND);
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'NameTaken']);
    assert.match(condition?.message ?? '', /node-x1\.example.*Node x1\.example.*another name/);
    assert.ok(scene.bench.events.some(({ object, reason }) => object === 'pods/example/node-x1' && reason === 'NameTaken'));
    assert.equal(scene.annotations('example/node-x1')['ovn.kubernetes.io/allocated'], undefined);
    assert.equal(scene.bench.writesAfterRestart(), 0);
    scene.bench.removeByForce('nodes', 'x1.example');
    scene.bench.converge();
    assert.equal(ownerOf(scene, 'node-x1.example'), 'pod/example/node-x1', 'the name is free again');
  });

for (const [pod, space, why] of [
  ['x', 'y-red', "the switch's side of its link"],
  ['red-x', 'y', "the router's side of its link"],
  ['cr-red-x', 'y', "the place of the gateway at the router's side"],
] as const)
  test(`pod ${pod} in namespace ${space} makes way for Subnet x.y of Vpc red: ${why}`, () => {
    for (const podFirst of [true, false]) {
      const scene = new PodScene();
      scene.namespace(space);
      scene.bench.put('vpcs', { metadata: { name: 'red' } });
      const subnet = (): unknown => scene.subnet('x.y', { vpc: 'red', cidrBlock: '10.9.0.0/24' });
      if (!podFirst) subnet();
      scene.bench.converge();
      scene.pod(pod, { namespace: space });
      scene.bench.converge();
      if (podFirst) {
        assert.equal(ownerOf(scene, `${pod}.${space}`), `pod/${space}/${pod}`);
        subnet();
        scene.bench.converge();
      }
      assert.equal(ownerOf(scene, 'x.y-red'), 'subnet//x.y');
      assert.equal(scene.bench.condition('subnets', 'x.y', 'Ready')?.status, 'True');
      assert.notEqual(ownerOf(scene, `${pod}.${space}`), `pod/${space}/${pod}`);
      assert.equal(scene.bench.object('ips', `${pod}.${space}`), undefined);
      assert.equal(scene.bench.condition('pods', `${space}/${pod}`, BOUND)?.reason, 'NameTaken');
    }
  });

test('a pod makes way for the peering of two Vpcs', () => {
  const scene = new PodScene();
  scene.namespace('b');
  scene.pod('red-blue.a', { namespace: 'b' });
  scene.bench.converge();
  scene.bench.put('vpcs', {
    metadata: { name: 'red' },
    spec: { vpcPeerings: [{ remoteVpc: 'blue.a.b', localConnectIP: '169.254.0.1/30' }] },
  });
  scene.bench.put('vpcs', {
    metadata: { name: 'blue.a.b' },
    spec: { vpcPeerings: [{ remoteVpc: 'red', localConnectIP: '169.254.0.2/30' }] },
  });
  scene.bench.converge();
  assert.equal(scene.portAddresses('red-blue.a.b'), undefined);
  assert.equal(scene.bench.condition('pods', 'b/red-blue.a', BOUND)?.reason, 'NameTaken');
});

test('a port retained for the next pod of a StatefulSet yields as well', () => {
  const scene = new PodScene();
  scene.statefulSet('node-x', 1);
  scene.pod('node-x-0', { statefulSet: 'node-x' });
  scene.bench.converge();
  scene.bench.removeByForce('pods', 'shop/node-x-0');
  scene.bench.converge();
  assert.equal(ownerOf(scene, 'node-x-0.shop'), 'ip//node-x-0.shop');
  node(scene, 'x-0.shop');
  scene.bench.converge();
  assert.equal(ownerOf(scene, 'node-x-0.shop'), 'node//x-0.shop');
});

test("a pod whose name only resembles that of a node's port has its port", () => {
  const scene = new PodScene();
  scene.namespace('y-red');
  scene.subnet('x.z', { vpc: 'ovn-cluster', cidrBlock: '10.9.0.0/24' });
  scene.pod('node-x1');
  scene.pod('x', { namespace: 'y-red' });
  scene.bench.converge();
  assert.match(String(scene.portAddresses('node-x1.shop')), / 10\.16\./);
  assert.match(String(scene.portAddresses('x.y-red')), / 10\.16\./);
});
