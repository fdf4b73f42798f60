import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ineffectiveConditions } from '../explain/ineffective-conditions.ts';
import { statusOf } from '../explain/status.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { ResourceName } from '../world/resources.ts';

/** Kiln's reports about an object, as `kiln explain` and `kiln status` print them. */
function messageOf({ bench }: PodScene, resource: ResourceName, key: string): string {
  const object = bench.object(resource, key);
  assert.ok(object);
  const [found] = ineffectiveConditions(bench.world, resource, object);
  const listed = statusOf(bench.world, true).findings.filter((one) => one.resource === resource && one.key === key);
  assert.deepEqual(
    listed.map(({ what, message }) => [what, message]),
    found === undefined ? [] : [['without effect', found.message]],
  );
  return found === undefined ? '' : `${found.reason}: ${found.message}`;
}

test('an unread annotation of every kind is reported on the object, in kiln explain and in kiln status, until it is fixed', () => {
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  scene.subnet('net', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  bench.converge();
  bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'net', ips: ['10.4.0.20..10.4.0.22'] } });
  bench.put('vips', { metadata: { name: 'vip' }, spec: { subnet: 'net' } });
  scene.attachment('shop/nad', 'kube-ovn');
  scene.pod('web');
  bench.converge();
  const kinds: readonly (readonly [ResourceName, string])[] = [
    ['vpcs', 'blue'],
    ['subnets', 'net'],
    ['ippools', 'few'],
    ['vips', 'vip'],
    ['ips', 'web.shop'],
    ['nodes', 'n1'],
    ['namespaces', 'shop'],
    ['network-attachment-definitions', 'shop/nad'],
    ['pods', 'shop/web'],
  ];
  for (const [resource, key] of kinds) {
    const object = bench.object(resource, key);
    assert.ok(object);
    const { annotations = {} } = object.metadata;
    assert.equal(messageOf(scene, resource, key), '', resource);
    bench.put(resource, { ...object, metadata: { ...object.metadata, annotations: { ...annotations, 'kiln.io/leese': '1h' } } });
    bench.converge();
    assert.match(
      messageOf(scene, resource, key),
      /^AnnotationUnread: .*metadata\.annotations\[kiln\.io\/leese\] "1h" is read by no program; /,
      resource,
    );
    const edited = bench.object(resource, key);
    const { 'kiln.io/leese': _, ...rest } = edited?.metadata.annotations ?? {};
    bench.put(resource, { ...(edited ?? object), metadata: { ...(edited ?? object).metadata, annotations: rest } });
    bench.converge();
    assert.equal(messageOf(scene, resource, key), '', resource);
  }
});

test("a pod's key on a Subnet or a Node is reported there", () => {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.4.0.0/24' });
  scene.bench.converge();
  for (const [resource, key] of [
    ['subnets', 'net'],
    ['nodes', 'n1'],
  ] as const) {
    const object = scene.bench.object(resource, key) ?? assert.fail();
    const annotations = { ...object.metadata.annotations, 'ovn.kubernetes.io/ip_pool': 'few' };
    scene.bench.put(resource, { ...object, metadata: { ...object.metadata, annotations } });
    scene.bench.converge();
    assert.match(
      messageOf(scene, resource, key),
      /^AnnotationUnread: .*ip_pool\] "few" is read by no program; it is read on pods: write it on the pod/,
    );
  }
});

test('annotations of a workload itself, which its pods do not get', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const annotations = { 'ovn.kubernetes.io/ip_pool': '10.16.0.20,10.16.0.21' };
  const template = { metadata: { annotations } };
  bench.put('statefulsets', { metadata: { name: 'db', namespace: 'shop', annotations }, spec: { replicas: 1 } });
  bench.put('statefulsets', { metadata: { name: 'right', namespace: 'shop', annotations }, spec: { replicas: 1, template } });
  bench.put('virtualmachines', { metadata: { name: 'vm', namespace: 'shop', annotations }, spec: { template: {} } });
  // Only the node agent reads this one.
  const limited = { 'ovn.kubernetes.io/ingress_rate': '3' };
  bench.put('statefulsets', { metadata: { name: 'slow', namespace: 'shop', annotations: limited }, spec: { replicas: 1 } });
  bench.compile();
  const events = [...bench.desired.reports.fresh].map(({ resource, key, reason }) => `${resource} ${key} ${reason}`);
  assert.deepEqual(events.toSorted(), [
    'statefulsets shop/db AnnotationUnread',
    'statefulsets shop/slow AnnotationUnread',
    'virtualmachines shop/vm AnnotationUnread',
  ]);
  assert.match(
    messageOf(scene, 'statefulsets', 'shop/db'),
    /metadata\.annotations\[ovn\.kubernetes\.io\/ip_pool\] .* is read by no program; pods have the annotations of their template alone: write it into spec\.template\.metadata\.annotations$/,
  );
  assert.equal(messageOf(scene, 'statefulsets', 'shop/right'), '');
});

test('a policy of a namespace that is none', () => {
  const scene = new PodScene();
  scene.namespace('shop', { annotations: { 'kiln.io/misbound': 'move' } });
  scene.bench.compile();
  assert.deepEqual(
    [...scene.bench.desired.reports.fresh].map(({ resource, key, reason }) => `${resource} ${key} ${reason}`),
    ['namespaces shop InvalidAnnotation'],
  );
  assert.equal(
    messageOf(scene, 'namespaces', 'shop'),
    'InvalidAnnotation: Namespace shop: annotation kiln.io/misbound "move" is none of report, rebind, evict; report is in effect',
  );
});
