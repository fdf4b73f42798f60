/**
 * Texts that a user of a namespace can write, other than the annotations of `forged-annotations.test.ts`, and their effects: one test for
 * each row of the table in docs/evidence/security.md.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

function keys(provider: string, said: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(said).map(([suffix, value]) => [`${provider}.kubernetes.io/${suffix}`, value]));
}

function tenants(): PodScene {
  const scene = new PodScene();
  scene.namespace('mallory');
  scene.subnet('red', { cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  return scene;
}

function reasonOf(scene: PodScene, pod: string): string | undefined {
  return scene.bench.condition('pods', pod, BOUND)?.reason;
}

function owners(scene: PodScene, address: string): readonly string[] {
  return scene.bench.rowIds('Logical_Switch_Port').filter((name) => String(scene.portAddresses(name)).endsWith(` ${address}`));
}

test("keys of an attached network: another pod's address fails, and an interface that is not attached does not exist", () => {
  const scene = tenants();
  scene.attachment('shop/fast', 'kube-ovn');
  scene.subnet('fast', { cidrBlock: '10.3.0.0/24', provider: 'fast.shop.ovn' });
  scene.bench.converge();
  const attached = { 'k8s.v1.cni.cncf.io/networks': 'shop/fast' };
  scene.pod('victim', { annotations: attached });
  scene.bench.converge();
  assert.deepEqual(owners(scene, '10.3.0.2'), ['victim.shop.fast.shop.ovn']);
  const said = keys('fast.shop.ovn', { allocated: 'true', logical_switch: 'fast', ip_address: '10.3.0.2' });
  scene.pod('liar', { namespace: 'mallory', annotations: { ...attached, ...said } });
  scene.pod('plain', { namespace: 'mallory', annotations: said });
  scene.bench.converge();
  assert.deepEqual(owners(scene, '10.3.0.2'), ['victim.shop.fast.shop.ovn']);
  assert.equal(reasonOf(scene, 'mallory/liar'), 'AddressConflict');
  assert.equal(scene.portAddresses('plain.mallory.fast.shop.ovn'), undefined);
});

test('vip and aaps: a Vip for pods of another Namespace, or one that a pod has, is not given', () => {
  const scene = tenants();
  scene.bench.put('vips', { metadata: { name: 'theirs' }, spec: { subnet: 'red', namespace: 'shop' } });
  scene.bench.put('vips', { metadata: { name: 'anybody' }, spec: { subnet: 'red' } });
  scene.bench.converge();
  scene.pod('victim', { annotations: { 'ovn.kubernetes.io/vip': 'anybody' } });
  scene.bench.converge();
  const address = scene.addressOf('shop/victim') ?? '';
  scene.pod('one', { namespace: 'mallory', annotations: { 'ovn.kubernetes.io/vip': 'theirs' } });
  scene.pod('two', { namespace: 'mallory', annotations: { 'ovn.kubernetes.io/vip': 'anybody' } });
  scene.pod('three', { namespace: 'mallory', annotations: { 'ovn.kubernetes.io/aaps': 'theirs' } });
  scene.bench.converge();
  assert.deepEqual(
    ['one', 'two', 'three'].map((name) => reasonOf(scene, `mallory/${name}`)),
    ['InvalidAnnotation', 'AddressConflict', 'InvalidAnnotation'],
  );
  assert.deepEqual(owners(scene, address), ['victim.shop']);
});

test('annotations and labels of IP objects and Vips on a pod, and the name of a virtual machine there, do nothing', () => {
  const scene = tenants();
  const victim = scene.pod('victim');
  scene.bench.converge();
  const forged = {
    'kiln.io/pod-uid': victim.metadata.uid,
    'kiln.io/owner-uid': victim.metadata.uid,
    'kiln.io/vip': 'victim.shop',
    'kiln.io/given': JSON.stringify({ uid: victim.metadata.uid, subnet: 'red', type: '', v4: '10.1.0.2', v6: '', mac: '' }),
    'ovn.kubernetes.io/virtualmachine': 'victim',
  };
  scene.pod('liar', { namespace: 'mallory', annotations: forged });
  scene.bench.converge();
  assert.match(String(scene.portAddresses('liar.mallory')), / 10\.16\./);
  assert.deepEqual(owners(scene, '10.1.0.2'), ['victim.shop']);
});

test('owner references to a StatefulSet or virtual machine of another namespace give no retained address', () => {
  const scene = tenants();
  scene.statefulSet('db', 1);
  scene.pod('db-0', { statefulSet: 'db' });
  scene.machine('vm');
  scene.pod('launcher', { machine: 'vm' });
  scene.bench.converge();
  const kept = [scene.portAddresses('db-0.shop'), scene.portAddresses('vm.shop')];
  for (const pod of ['shop/db-0', 'shop/launcher']) scene.bench.removeByForce('pods', pod);
  const owner = (resource: 'statefulsets' | 'virtualmachineinstances', key: string, apiVersion: string, kind: string): object => {
    const { name, uid } = scene.bench.object(resource, key)?.metadata ?? assert.fail();
    return { apiVersion, kind, name, uid, controller: true };
  };
  const made = (name: string, ownerReferences: readonly object[]): void => {
    scene.bench.put('pods', { metadata: { name, namespace: 'mallory', ownerReferences }, spec: { nodeName: 'n1' } });
  };
  made('db-0', [owner('statefulsets', 'shop/db', 'apps/v1', 'StatefulSet')]);
  made('launcher', [owner('virtualmachineinstances', 'shop/vm', 'kubevirt.io/v1', 'VirtualMachineInstance')]);
  scene.bench.converge();
  assert.deepEqual([scene.portAddresses('db-0.shop'), scene.portAddresses('vm.shop')], kept);
  for (const [portAddress] of kept as readonly (readonly string[])[])
    assert.equal(owners(scene, (portAddress ?? '').split(' ')[1] ?? '').length, 1);
});

test('annotations of a Namespace choose no Subnet, and its policy for misbound pods is about its own pods', () => {
  const scene = tenants();
  scene.namespace('mallory', {
    annotations: { 'ovn.kubernetes.io/logical_switch': 'red', 'ovn.kubernetes.io/cidr': '10.1.0.0/24', 'kiln.io/misbound': 'evict' },
  });
  scene.pod('victim', { annotations: { 'ovn.kubernetes.io/logical_switch': 'ovn-default' } });
  scene.pod('web', { namespace: 'mallory' });
  scene.bench.converge();
  assert.match(String(scene.portAddresses('web.mallory')), / 10\.16\./);
  assert.match(String(scene.portAddresses('victim.shop')), / 10\.16\./);
});

test('the config of a NetworkAttachmentDefinition affects only Subnets with its provider', () => {
  const scene = tenants();
  scene.attachment('shop/fast', 'kube-ovn');
  scene.subnet('fast', { cidrBlock: '10.3.0.0/24', provider: 'fast.shop.ovn' });
  scene.attachment('mallory/fast', { config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"fast.shop.ovn"}' });
  scene.bench.converge();
  scene.pod('liar', { namespace: 'mallory', annotations: { 'k8s.v1.cni.cncf.io/networks': 'mallory/fast' } });
  scene.bench.converge();
  assert.equal(reasonOf(scene, 'mallory/liar'), 'WaitingForSubnet');
  assert.deepEqual(
    scene.bench.rowIds('Logical_Switch_Port').filter((name) => name.startsWith('liar.')),
    [],
  );
});
