import assert from 'node:assert/strict';
import { test } from 'node:test';
import { celFindings } from '../api/cel/cel-rules.ts';
import { vpcEgressGatewayKind } from '../api/kinds/vpc-egress-gateway.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import { diffObject } from '../diff/object-diff.ts';
import type { AnyObject, ObjectWrite } from '../diff/object-diff.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { RESOURCES } from '../kinds/generated/resources.ts';
import type { ResourceName } from '../world/resources.ts';
import type { UnimplementedObject } from '../world/world.ts';
import { objectId } from './output.ts';

const NOW = '2026-01-02T03:04:05Z';

/** The writes for such an object. */
function writes(scene: PodScene, reported: Omit<UnimplementedObject, 'uid'>, held: Partial<AnyObject> = {}): readonly ObjectWrite[] {
  const { resource, key } = reported;
  const { world, desired } = scene.bench;
  world.unimplemented.set(`${resource}/${key}`, { ...reported, uid: 'u1' });
  scene.bench.compile();
  const metadata = { name: key, uid: 'u1', resourceVersion: '7', generation: 1, ...held.metadata };
  return diffObject(resource, key, desired.objects.of(objectId(resource, key)), { ...held, metadata }, NOW);
}

function patchOf(write: ObjectWrite | undefined): Readonly<Record<string, unknown>> {
  assert.ok(write?.verb === 'patch');
  return write.patch;
}

function statusConditions(write: ObjectWrite | undefined): readonly Readonly<Record<string, unknown>>[] {
  return (patchOf(write)['status'] as { readonly conditions: readonly Readonly<Record<string, unknown>>[] }).conditions;
}

test('an object of an unimplemented kind gets one condition in its status, and no other write', () => {
  const scene = new PodScene();
  const reported = { resource: 'vlans', key: 'v10', feature: 'underlay networks' } as const;
  const [write, ...more] = writes(scene, reported);
  assert.deepEqual(more, []);
  assert.ok(write?.verb === 'patch' && write.subresource === 'status');
  assert.deepEqual(Object.keys(write.patch), ['status'], 'no finalizer, no label');
  const conditions = statusConditions(write);
  assert.deepEqual(
    conditions.map(({ type, status, reason, observedGeneration }) => [type, status, reason, observedGeneration]),
    [['Ready', 'False', 'NotCarriedOut', 1]],
  );
  assert.equal(
    conditions[0]?.['message'],
    'Vlan v10 is not implemented: this version of Kiln does not implement underlay networks. It has no effect in OVN',
  );
  assert.deepEqual(
    write.events.map(({ type, reason }) => [type, reason]),
    [['Warning', 'NotCarriedOut']],
  );
  assert.deepEqual(writes(scene, reported, { status: { conditions } }), [], 'it stands there');
});

test('a kind without conditions has them in its annotation; one with neither gets an Event', () => {
  const scene = new PodScene();
  for (const resource of ['security-groups', 'bgp-confs', 'networkpolicies'] satisfies ResourceName[]) {
    const reported = { resource, key: resource === 'networkpolicies' ? 'shop/one' : 'one', feature: 'it' };
    const [write, ...more] = writes(scene, reported);
    assert.deepEqual(more, []);
    assert.ok(
      write?.verb === 'patch' && write.subresource === undefined && write.resourceVersion === '7',
      `${resource}: not over a list that was not seen`,
    );
    const { annotations, ...rest } = patchOf(write)['metadata'] as { readonly annotations: Readonly<Record<string, string>> };
    assert.deepEqual([Object.keys(write.patch), rest], [['metadata'], {}]);
    const text = annotations[kilnAnnotation.conditions] ?? '';
    assert.match(text, /"type":"Ready","status":"False","reason":"NotCarriedOut"/);
    const metadata = { name: 'one', uid: 'u1', resourceVersion: '8', generation: 1, annotations };
    assert.deepEqual(writes(scene, reported, { metadata }), [], resource);
  }
  assert.deepEqual(writes(scene, { resource: 'services', key: 'shop/web', feature: 'load balancing' }), []);
  const events = [...scene.bench.desired.reports.fresh];
  assert.deepEqual(
    events.map(({ key, type, reason }) => [key, type, reason]),
    [['shop/web', 'Warning', 'NotCarriedOut']],
  );
});

test('a broken CEL rule that an old API server did not check is reported with field and rule, until it is corrected', () => {
  const scene = new PodScene();
  const reported = { resource: 'vpc-egress-gateways', key: 'net/veg', feature: 'it' } as const;
  const subject = { kind: 'VpcEgressGateway', namespace: 'net', name: 'veg' };
  const broken = celFindings(vpcEgressGatewayKind, subject, { policies: [{ snat: true }] }).map(({ message }) => message);
  const [write] = writes(scene, { ...reported, broken });
  const conditions = statusConditions(write);
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Ready', 'False', 'NotCarriedOut'],
      ['Validated', 'False', 'Invalid'],
    ],
  );
  assert.equal(
    conditions[1]?.['message'],
    'VpcEgressGateway net/veg: spec.policies[0] "{"snat":true}" is not allowed; a policy needs ipBlocks or subnets',
  );
  const [corrected] = writes(scene, { ...reported, broken: [] }, { status: { conditions } });
  assert.deepEqual(
    statusConditions(corrected).map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Ready', 'False', 'NotCarriedOut'],
      ['Validated', 'True', 'Accepted'],
    ],
  );
});

test("Kube-OVN's finalizer is removed when the object is deleted, and not sooner, with an Event that names what stays", () => {
  const scene = new PodScene();
  const finalizers = ['kubeovn.io/kube-ovn-controller', 'example.com/other', 'kube-ovn-controller'];
  for (const resource of ['ovn-fips', 'vpc-nat-gateways', 'qos-policies', 'switch-lb-rules'] satisfies ResourceName[]) {
    const reported = { resource, key: 'one', feature: 'it' } as const;
    const metadata = { name: 'one', uid: 'u1', resourceVersion: '7', finalizers };
    assert.ok(
      writes(scene, reported, { metadata }).every(
        ({ verb, ...write }) => verb === 'patch' && !JSON.stringify(write).includes('finalizers'),
      ),
      `${resource} lives`,
    );
    const going = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const [write] = writes(scene, { ...reported, terminating: true }, { metadata: going });
    assert.ok(write?.verb === 'patch' && write.resourceVersion === '7', resource);
    assert.deepEqual((patchOf(write)['metadata'] as { readonly finalizers: unknown }).finalizers, ['example.com/other'], resource);
    assert.match(
      write.events[0]?.message ?? '',
      / one is deleted\. Its configuration that Kube-OVN made on nodes remains, and so do its leftover rows in OVN: /,
    );
    const [, ...more] = writes(scene, { ...reported, terminating: true }, { metadata: { ...going, finalizers: ['example.com/other'] } });
    assert.deepEqual(more, [], `${resource} waits for its other owner alone`);
  }
});

test('the cluster-wide network policies say that they are not enforced, each on the object', () => {
  const scene = new PodScene();
  for (const [resource, kind] of [
    ['adminnetworkpolicies', 'AdminNetworkPolicy'],
    ['baselineadminnetworkpolicies', 'BaselineAdminNetworkPolicy'],
    ['clusternetworkpolicies', 'ClusterNetworkPolicy'],
  ] as const) {
    const { unimplemented, optional, namespaced } = RESOURCES[resource];
    assert.deepEqual([optional, namespaced], [true, false]);
    const [write, ...more] = writes(scene, { resource, key: 'deny-all', feature: unimplemented });
    assert.deepEqual(more, []);
    const { metadata } = patchOf(write) as { readonly metadata: { readonly annotations: Readonly<Record<string, string>> } };
    const [condition] = JSON.parse(metadata.annotations[kilnAnnotation.conditions] ?? '[]') as readonly Readonly<Record<string, unknown>>[];
    assert.deepEqual([condition?.['type'], condition?.['status'], condition?.['reason']], ['Ready', 'False', 'NotCarriedOut']);
    assert.match(
      String(condition?.['message']),
      new RegExp(`^${kind} deny-all is not implemented: .*traffic that it should deny is still allowed`),
    );
    assert.deepEqual(
      write?.events.map(({ type }) => type),
      ['Warning'],
    );
  }
});
