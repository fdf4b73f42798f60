import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

function using(scene: PodScene, subnet: string): number {
  const status = scene.bench.object('subnets', subnet)?.status as { readonly v4usingIPs?: unknown } | undefined;
  return Number(status?.v4usingIPs);
}

function made(scene: PodScene, name: string, spec: object, metadata: object = {}): void {
  scene.bench.put('ips', { metadata: { name, ...metadata }, spec: { podName: 'web', namespace: 'shop', podType: '', ...spec } });
}

test('an IP object whose name does not fit its Subnet keeps its pod from binding; the pod reports what to do; nothing is counted', () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.1.0.0/28', provider: 'net0.shop.ovn' });
  made(scene, 'web.shop', { subnet: 'side', podType: 'StatefulSet' });
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(waits?.reason, 'NameInvalid');
  assert.match(
    waits?.message ?? '',
    /IP web\.shop: metadata\.name "web\.shop" is not the name of the port of pod shop\/web in Subnet side.*kubectl delete ip web\.shop/,
  );
  assert.match(scene.bench.conditionText('ips', 'web.shop'), /NameInvalid/);
  assert.equal(using(scene, 'side'), 0);
  scene.bench.removeByForce('ips', 'web.shop');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.1.0.2');
  assert.equal(using(scene, 'side'), 1);
});

test('an IP object with a request and its pod end the same in every order: the pod has the requested address', () => {
  for (const order of ['request first', 'pod first', 'at once', 'Subnet last']) {
    const scene = new PodScene();
    const late = order === 'Subnet last';
    if (!late) scene.subnet('front', { cidrBlock: '10.2.0.0/24', namespaces: ['shop'] });
    scene.namespace('shop', { annotations: { 'kiln.io/await-subnet': 'front' } });
    const steps = [
      () => made(scene, 'web.shop', { subnet: 'front', ipAddress: '10.2.0.77' }),
      () => scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'front' } }),
    ];
    if (order === 'pod first') steps.reverse();
    if (order !== 'pod first') for (const step of steps) step();
    else {
      scene.bench.removeByForce('subnets', 'front');
      for (const step of steps) {
        step();
        scene.bench.converge();
      }
      scene.subnet('front', { cidrBlock: '10.2.0.0/24', namespaces: ['shop'] });
    }
    scene.bench.converge();
    if (late) scene.subnet('front', { cidrBlock: '10.2.0.0/24', namespaces: ['shop'] });
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/web'), '10.2.0.77', order);
    assert.equal(using(scene, 'front'), 1, order);
    assert.equal(scene.bench.writesAfterRestart(), 0, order);
  }
});

test('a request that cannot be met keeps its pod waiting with the reason, and both continue when it can', () => {
  const scene = new PodScene();
  scene.pod('first', { annotations: { 'ovn.kubernetes.io/ip_address': '10.16.8.8' } });
  scene.bench.converge();
  made(scene, 'web.shop', { subnet: 'ovn-default', ipAddress: '10.16.8.8' });
  scene.pod('web');
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(waits?.reason, 'AddressConflict');
  assert.match(
    waits?.message ?? '',
    /IP web\.shop: the address 10\.16\.8\.8 in Subnet "ovn-default" is held by first\.shop.*kubectl delete ip web\.shop/,
  );
  assert.equal(using(scene, 'ovn-default'), 1);
  scene.bench.removeByForce('pods', 'shop/first');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.16.8.8');
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'True');
});

test("a user's IP object of the name of its port, for another pod, is named", () => {
  const scene = new PodScene();
  made(scene, 'web.shop', { subnet: 'ovn-default', podName: 'other' });
  scene.pod('web');
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(waits?.reason, 'ReservedElsewhere');
  assert.match(waits?.message ?? '', /IP web\.shop, which has the name of its port, is for Pod shop\/other.*kubectl describe ip web\.shop/);
  assert.equal(using(scene, 'ovn-default'), 0);
  scene.bench.removeByForce('ips', 'web.shop');
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'True');
});

test("a pod created by hand with the name of a StatefulSet's future pod reports it", () => {
  const scene = new PodScene();
  scene.statefulSet('web', 1);
  scene.pod('web-0', { statefulSet: 'web' });
  scene.bench.converge();
  scene.bench.removeByForce('pods', 'shop/web-0');
  scene.pod('web-0');
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web-0', BOUND);
  assert.match(waits?.message ?? '', /IP web-0\.shop, which has the name of its port, is for StatefulSet shop\/web/);
  assert.equal(using(scene, 'ovn-default'), 1, 'the one that the StatefulSet keeps');
});

test('an IP object that lost its address keeps nothing for a StatefulSet, and its pod is given one', () => {
  const scene = new PodScene();
  scene.statefulSet('web', 1);
  made(
    scene,
    'web-0.shop',
    { podName: 'web-0', subnet: 'ovn-default', podType: 'StatefulSet' },
    { finalizers: ['kubeovn.io/kube-ovn-controller'] },
  );
  scene.pod('web-0', { statefulSet: 'web' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web-0'), '10.16.0.2');
  assert.equal(scene.bench.object('ips', 'web-0.shop')?.spec['v4IpAddress'], '10.16.0.2');
});

test('an IP object is released if its pod requests another Subnet than its StatefulSet did, and the pod binds there', () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.1.0.0/28' });
  scene.statefulSet('web', 1);
  scene.pod('web-0', { statefulSet: 'web' });
  scene.bench.converge();
  scene.bench.removeByForce('pods', 'shop/web-0');
  scene.bench.converge();
  scene.pod('web-0', { statefulSet: 'web', annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web-0'), '10.1.0.2');
  assert.equal(using(scene, 'ovn-default'), 0);
});

test("a pod waits for an earlier IP object that another program's finalizer keeps, reports it, and gets no address", () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const ip = scene.bench.object('ips', 'web.shop');
  scene.bench.put('ips', { metadata: { name: 'web.shop', finalizers: [...(ip?.metadata.finalizers ?? []), 'example.com/keeps'] } });
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  scene.pod('web');
  scene.bench.converge();
  const waits = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.match(waits?.message ?? '', /IP web\.shop, .* blocked by finalizer example\.com\/keeps/);
  scene.bench.removeByForce('ips', 'web.shop');
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'True');
});
