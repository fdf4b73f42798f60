/** With `tenancy: namespaced` the webhook denies a pod, by the same functions and with the same message as the pod's condition. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Tenancy } from '../../world/settings.ts';
import type { ReviewedObject } from '../protocol/admission-review.ts';
import { validateRequest } from './validate-request.ts';
import type { AdmissionResult } from '../protocol/admission-result.ts';

function tenants(tenancy: Tenancy): PodScene {
  const scene = new PodScene({ tenancy });
  scene.namespace('red');
  scene.subnet('red', { cidrBlock: '10.10.1.0/24', namespaces: ['red'] });
  scene.subnet('shop', { cidrBlock: '10.10.2.0/24', namespaces: ['shop'] });
  scene.attachment('red/net', 'kube-ovn');
  scene.subnet('attached', { cidrBlock: '10.10.3.0/24', provider: 'net.red.ovn' });
  scene.bench.converge();
  return scene;
}

function reviewed({ bench }: PodScene, resource: ResourceName, object: object, before?: object): AdmissionResult {
  const { group, version, plural, kind } = traitsOf(resource);
  const reviewed = object as ReviewedObject;
  const { name = '', namespace = '' } = reviewed.metadata;
  return validateRequest(
    {
      ...{ uid: 'u', group, version, resource: plural, kind, subresource: '', namespace, name, dryRun: false },
      ...{ fieldManager: '', preconditionUid: '', user: 'tenant' },
      operation: before === undefined ? 'CREATE' : 'UPDATE',
      object: reviewed,
      oldObject: before as ReviewedObject | undefined,
    },
    { world: bench.world, complete: true, checkRequest: (request) => bench.allocation.check(request) },
    () => undefined,
  );
}

const KEY = 'ovn.kubernetes.io';
const REFUSED: readonly Readonly<Record<string, string>>[] = [
  { [`${KEY}/logical_switch`]: 'red' },
  { 'k8s.v1.cni.cncf.io/networks': 'red/net' },
  { [`${KEY}/port_security`]: 'false' },
  { [`${KEY}/layer2_forward`]: 'true' },
  { [`${KEY}/port_vips`]: '0.0.0.0/0' },
  { [`${KEY}/port_vips`]: '10.10.2.1' },
  { [`${KEY}/dhcp-v4-options`]: 'router=10.10.2.9' },
];

const pod = (annotations: Readonly<Record<string, string>>): object => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', annotations },
  spec: {},
});

test('a list that is too long is denied in both tenancies, for a new pod and for an edited one, with one message', () => {
  const names = (count: number): string => Array.from({ length: count }, (_, i) => `n${i}`).join(',');
  for (const tenancy of ['open', 'namespaced'] as const)
    for (const annotations of [
      { [`${KEY}/port_vips`]: Array.from({ length: 12_000 }, (_, i) => `10.10.${i % 200}.9`).join(',') },
      { 'k8s.v1.cni.cncf.io/networks': names(249) },
      { [`${KEY}/aaps`]: names(33) },
    ])
      for (const before of [undefined, pod({})]) {
        const { denials } = reviewed(tenants(tenancy), 'pods', pod(annotations), before);
        assert.equal(denials.length, 1);
        assert.match(denials[0]?.message ?? '', /at most (64 addresses|32)/);
      }
});

test('the denial of a pod has the message that its condition would have', () => {
  for (const annotations of REFUSED) {
    assert.deepEqual(reviewed(tenants('open'), 'pods', pod(annotations)).denials, []);
    const scene = tenants('namespaced');
    const { denials } = reviewed(scene, 'pods', pod(annotations));
    scene.pod('web', { annotations });
    scene.bench.converge();
    const { reason, message = '' } = scene.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound') ?? {};
    assert.equal(denials.length, 1, JSON.stringify(annotations));
    const [denial] = denials;
    assert.deepEqual([denial?.kind, denial?.code], ['forbidden', reason]);
    assert.ok(message.startsWith(denial?.message ?? '-'), `${message} / ${denial?.message}`);
  }
});

test('an address of an IPPool for other namespaces is denied at admission with either tenancy: of a pod, an IP object and a Vip', () => {
  for (const tenancy of ['open', 'namespaced'] as const) {
    const scene = tenants(tenancy);
    scene.bench.put('ippools', { metadata: { name: 'red' }, spec: { subnet: 'ovn-default', ips: ['10.16.0.50'], namespaces: ['red'] } });
    scene.bench.put('vips', { metadata: { name: 'held' }, spec: { subnet: 'ovn-default', v4ip: '10.16.0.50' } });
    scene.bench.converge();
    const annotations = [
      { [`${KEY}/logical_switch`]: 'ovn-default', [`${KEY}/ip_pool`]: 'red' },
      { [`${KEY}/logical_switch`]: 'ovn-default', [`${KEY}/ip_address`]: '10.16.0.50' },
      { [`${KEY}/logical_switch`]: 'ovn-default', [`${KEY}/ip_pool`]: '10.16.0.9,10.16.0.50' },
      { [`${KEY}/vip`]: 'held' },
    ];
    const spec = { podName: 'web', namespace: 'shop', subnet: 'ovn-default', ipAddress: '10.16.0.50' };
    const vip = (namespace: string): object => ({
      metadata: { name: 'v' },
      spec: { subnet: 'ovn-default', v4ip: '10.16.0.50', namespace },
    });
    const results = [
      ...annotations.flatMap((one) => [reviewed(scene, 'pods', pod(one)), reviewed(scene, 'pods', pod(one), pod({}))]),
      reviewed(scene, 'ips', { metadata: { name: 'web.shop' }, spec }),
      reviewed(scene, 'vips', vip('shop')),
      reviewed(scene, 'vips', vip('shop'), vip('red')),
    ];
    for (const { denials } of results) {
      assert.deepEqual([...new Set(denials.map(({ code }) => code))], ['NamespaceNotAdmitted']);
      assert.match(denials[0]?.message ?? '', /kubectl edit ippool red/);
    }
  }
});

test('an edit of annotations is denied for new requests that are not allowed, for a waiting pod and for a running one', () => {
  const scene = tenants('namespaced');
  scene.pod('web');
  scene.pod('waits', { annotations: { [`${KEY}/logical_switch`]: 'nosuch' } });
  scene.bench.converge();
  const edited = (name: string, annotations: Readonly<Record<string, string>>): AdmissionResult => {
    const before = scene.bench.object('pods', `shop/${name}`);
    assert.ok(before !== undefined);
    return reviewed(
      scene,
      'pods',
      { ...before, metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, ...annotations } } },
      before,
    );
  };
  const codes = ({ denials }: AdmissionResult): readonly string[] => denials.map(({ code }) => code);
  assert.deepEqual(codes(edited('web', { [`${KEY}/port_security`]: 'false' })), ['PortNotAllowed']);
  assert.deepEqual(codes(edited('web', { [`${KEY}/port_security`]: 'true', note: 'x' })), []);
  assert.deepEqual(codes(edited('waits', { [`${KEY}/logical_switch`]: 'red' })), ['NamespaceNotAdmitted']);
  assert.deepEqual(codes(edited('waits', { [`${KEY}/logical_switch`]: 'shop' })), []);
});

test('a former fault does not deny an edit of another field', () => {
  const scene = tenants('namespaced');
  scene.pod('web', { annotations: { [`${KEY}/logical_switch`]: 'red' } });
  scene.bench.converge();
  const before = scene.bench.object('pods', 'shop/web');
  assert.ok(before !== undefined);
  const after = { ...before, metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, note: 'x' } } };
  assert.deepEqual(reviewed(scene, 'pods', after, before).denials, []);
});

test('an IP object for a pod of a namespace that the Subnet does not admit is denied', () => {
  const ip = { metadata: { name: 'web.shop' }, spec: { podName: 'web', namespace: 'shop', subnet: 'red', ipAddress: '10.10.1.9' } };
  assert.deepEqual(reviewed(tenants('open'), 'ips', ip).denials, []);
  const { denials } = reviewed(tenants('namespaced'), 'ips', ip);
  assert.deepEqual(
    denials.map(({ code, field }) => [code, field]),
    [['NamespaceNotAdmitted', 'spec.subnet']],
  );
});

test('an external address needs an external Subnet that admits the namespace, for a new pod and for an edited one', () => {
  const scene = tenants('namespaced');
  const { bench } = scene;
  bench.put('nodes', { metadata: { name: 'n1', annotations: { 'ovn.kubernetes.io/chassis': 'c1' } } });
  bench.put('configmaps', {
    metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' },
    spec: { 'external-gw-nodes': 'n1', 'nic-ip': '172.20.0.254/24' },
  });
  bench.converge();
  const wants = pod({ [`${KEY}/snat`]: '172.20.0.9' });
  const codes = (object: object, before?: object): readonly string[] =>
    reviewed(scene, 'pods', object, before).denials.map(({ code }) => code);
  // Also where no Subnet has the addresses.
  assert.deepEqual([codes(wants), codes(wants, pod({}))], [['NamespaceNotAdmitted'], ['NamespaceNotAdmitted']]);
  bench.put('vpcs', { metadata: { name: 'outside' } });
  scene.subnet('external', { cidrBlock: '172.20.0.0/24', vpc: 'outside' });
  bench.converge();
  assert.deepEqual(codes(wants), ['NamespaceNotAdmitted']);
  assert.match(
    reviewed(scene, 'pods', wants).denials[0]?.message ?? '',
    /annotation ovn\.kubernetes\.io\/snat "172\.20\.0\.9": Subnet external does not admit Namespace shop/,
  );
  bench.put('subnets', { metadata: { name: 'external', annotations: { 'kiln.io/admit-namespaces': 'shop' } } });
  bench.converge();
  assert.deepEqual(codes(wants), []);
  assert.deepEqual(codes(pod({ [`${KEY}/eip`]: 'x' })), ['PodNatInvalid']);
});
