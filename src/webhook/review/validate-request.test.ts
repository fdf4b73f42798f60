import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConditionType } from '../../api/condition-types.ts';
import { derivedMac } from '../../compile/row-mac.ts';
import { rowId } from '../../nb/row-id.ts';
import type { ResourceName } from '../../world/resources.ts';
import { conditionsOf } from '../../world/conditions.ts';
import type { TestObject } from '../../testing/memory-objects.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import type { AdmissionRequest, Operation, ReviewedObject } from '../protocol/admission-review.ts';
import type { RecentlyDenied, DeletionInUse } from '../kinds/deletion.ts';
import { validateRequest } from './validate-request.ts';
import type { Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { admissionRequest } from '../testing/admission-request.ts';
import { DeniedDeletions } from './denied-deletions.ts';

function observed({ bench }: PodScene, complete = true): Observed {
  return { world: bench.world, complete, checkRequest: (request) => bench.allocation.check(request) };
}

/** The user name under which the API server knows the controller. */
const OWN = 'system:serviceaccount:kube-system:kiln-controller';

interface RequestFields extends Partial<Pick<AdmissionRequest, 'fieldManager' | 'preconditionUid' | 'subresource' | 'user'>> {
  readonly before?: object;
  readonly complete?: boolean;
  readonly recentlyDenied?: RecentlyDenied;
  readonly inUse?: DeletionInUse;
}

/** The validation of a write of this object. */
function reviewed(
  scene: PodScene,
  operation: Operation,
  resource: ResourceName,
  object: object,
  more: RequestFields = {},
): AdmissionResult {
  const { before, complete, recentlyDenied = () => false, inUse = 'deny', ...rest } = more;
  const plain = admissionRequest(operation, resource, object);
  const request = { ...plain, ...(operation !== 'DELETE' && { oldObject: before as ReviewedObject | undefined }), ...rest };
  return validateRequest(request, observed(scene, complete), () => undefined, { inUse, recentlyDenied }, OWN);
}

const codes = ({ denials }: AdmissionResult): readonly string[] => denials.map(({ code }) => code);
const only = (result: AdmissionResult): string => {
  assert.equal(result.denials.length, 1, JSON.stringify(result));
  return result.denials[0]?.message ?? '';
};

function tenant(): PodScene {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  return scene;
}

const subnet = (name: string, spec: object): object => ({ metadata: { name }, spec });
const pod = (name: string, annotations: object): object => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, annotations },
  spec: {},
});

/** The message of the condition. On an existing object it continues with the command that repairs it. */
function sentence(message = ''): string {
  return message.replace(/; (kubectl (edit|delete)|kiln explain) [a-z.-]+ .*$/, '');
}

test('the denial of a Subnet has the message of its condition', () => {
  const mistakes: Readonly<Record<string, object>> = {
    overlap: { vpc: 'blue', cidrBlock: '10.1.0.128/25' },
    network: { vpc: 'blue', cidrBlock: '10.2.0.0/33' },
    gateway: { vpc: 'blue', cidrBlock: '10.3.0.0/24', gateway: '10.4.0.1' },
    range: { vpc: 'blue', cidrBlock: '10.5.0.0/24', excludeIps: ['10.5.0.9..10.5.0.3'] },
    node: { cidrBlock: '192.168.1.0/24' },
    blue: { vpc: 'blue', cidrBlock: '10.6.0.0/24' },
  };
  for (const [name, spec] of Object.entries(mistakes)) {
    const scene = tenant();
    const result = reviewed(scene, 'CREATE', 'subnets', subnet(name, spec));
    scene.subnet(name, spec);
    scene.bench.converge();
    const condition = scene.bench.condition('subnets', name, 'Accepted');
    assert.equal(condition?.status, 'False', name);
    assert.deepEqual([result.denials[0]?.code, result.denials[0]?.message], [condition?.reason, sentence(condition?.message)], name);
    assert.match(condition?.message ?? '', new RegExp(`; kubectl edit subnet ${name}$`));
    assert.equal(result.denials[0]?.kind, 'invalid');
  }
});

test('the denial of a Subnet in an orphaned network with a pod has the message of the condition', () => {
  const scene = tenant();
  const { bench } = scene;
  const spec = { vpc: 'blue', cidrBlock: '10.8.0.0/24' };
  scene.subnet('left', spec);
  scene.pod('stays', { annotations: { 'ovn.kubernetes.io/logical_switch': 'left' } });
  bench.converge();
  bench.removeByForce('subnets', 'left');
  bench.converge();
  const result = reviewed(scene, 'CREATE', 'subnets', subnet('new', spec));
  assert.deepEqual(reviewed(scene, 'CREATE', 'subnets', subnet('left', spec)).denials, []);
  scene.subnet('new', spec);
  bench.converge();
  const condition = bench.condition('subnets', 'new', 'Accepted');
  assert.deepEqual([result.denials[0]?.code, result.denials[0]?.message], ['SubnetCidrOverlap', sentence(condition?.message)]);
});

test('beside a frozen Subnet its network in effect counts, with the message of the condition, and not the requested one', () => {
  for (const edit of [{ gateway: '11.0.0.1' }, { vpc: 'green' }, { provider: 'macvlan.default' }]) {
    const scene = tenant();
    const { bench } = scene;
    bench.edit('subnets', 'net', { cidrBlock: '10.5.0.0/24', ...edit });
    bench.converge();
    assert.deepEqual(codes(reviewed(scene, 'CREATE', 'subnets', subnet('fine', { vpc: 'blue', cidrBlock: '10.5.0.0/24' }))), []);
    const spec = { vpc: 'blue', cidrBlock: '10.1.0.0/25' };
    const result = reviewed(scene, 'CREATE', 'subnets', subnet('new', spec));
    scene.subnet('new', spec);
    bench.converge();
    const condition = bench.condition('subnets', 'new', 'Accepted');
    assert.match(condition?.message ?? '', /overlaps 10\.1\.0\.0\/24 of Subnet net;/);
    assert.equal(only(result), sentence(condition?.message));
  }
});

test('a valid Subnet is allowed, beside others that overlap in another Vpc, in another provider, or are invalid themselves', () => {
  const scene = tenant();
  scene.bench.put('vpcs', { metadata: { name: 'green' } });
  const spec = { config: JSON.stringify({ cniVersion: '0.3.1', type: 'macvlan', ipam: { type: 'kube-ovn' } }) };
  scene.bench.put('network-attachment-definitions', { metadata: { namespace: 'default', name: 'macvlan' }, spec });
  scene.subnet('mac', { provider: 'macvlan.default', cidrBlock: '10.2.0.0/24', vpc: 'blue' });
  scene.subnet('wrong', { vpc: 'blue', cidrBlock: '10.0.0.0/8', gateway: '11.0.0.1' });
  scene.bench.converge();
  for (const spec of [
    { vpc: 'green', cidrBlock: '10.1.0.0/24' },
    { vpc: 'blue', cidrBlock: '10.2.0.0/24' },
    { provider: 'macvlan.default', cidrBlock: '10.1.0.0/24' },
  ])
    assert.deepEqual(reviewed(scene, 'CREATE', 'subnets', subnet('fine', spec)), { denials: [], warnings: [] });
});

test('an ineffective field is allowed with a warning that has the message of the condition', () => {
  const scene = tenant();
  const spec = { cidrBlock: '10.96.0.0/24', private: true, allowSubnets: ['10.4.0.1/16'], provider: 'lan.shop.ovn' };
  const result = reviewed(scene, 'CREATE', 'subnets', subnet('odd', spec));
  assert.deepEqual(result.denials, []);
  scene.subnet('odd', spec);
  scene.bench.converge();
  const message = scene.bench.condition('subnets', 'odd', 'WithoutEffect')?.message ?? '';
  assert.deepEqual(
    result.warnings.map((one) => [/^Subnet odd: (spec\.\w+)/.exec(one)?.[1], message.includes(one)]),
    [
      ['spec.allowSubnets', true],
      ['spec.cidrBlock', true],
      ['spec.provider', true],
    ],
  );
  const vpc = { metadata: { name: 'v' }, spec: { staticRoutes: [{ cidr: '10.6.0.1/8', nextHopIP: '10.1.0.9' }] } };
  assert.match(reviewed(scene, 'CREATE', 'vpcs', vpc).warnings.join(), /staticRoutes\[0\]\.cidr "10\.6\.0\.1\/8" has bits set/);
});

test('a link whose network is that of a Subnet or of another link gets a warning with the message of the condition, whichever of them comes last', () => {
  const scene = tenant();
  const { bench } = scene;
  const link = (remoteVpc: string, localConnectIP: string): object => ({ remoteVpc, localConnectIP });
  const warnings = (spec: object): readonly string[] => {
    const before = bench.object('vpcs', 'blue') ?? assert.fail();
    const result = reviewed(scene, 'UPDATE', 'vpcs', { ...before, spec }, { before });
    assert.deepEqual(result.denials, []);
    return result.warnings;
  };
  const message = (): string => bench.condition('vpcs', 'blue', 'WithoutEffect')?.message ?? '';
  const links = { vpcPeerings: [link('red', '10.1.0.1/25'), link('green', '169.254.0.1/30'), link('grey', '169.254.0.2/30')] };
  const said = warnings(links);
  assert.deepEqual(
    said.map((one) => /^Vpc blue: (\S+) /.exec(one)?.[1]),
    ['spec.vpcPeerings[0].localConnectIP', 'spec.vpcPeerings[2].localConnectIP'],
  );
  bench.edit('vpcs', 'blue', links);
  bench.converge();
  assert.deepEqual(
    said.filter((one) => !message().includes(one)),
    [],
  );
  const apart = { vpcPeerings: [link('red', '10.9.0.1/30'), link('green', '169.254.0.1/30')] };
  assert.deepEqual(warnings(apart), []);
  bench.edit('vpcs', 'blue', apart);
  bench.converge();
  assert.deepEqual(reviewed(scene, 'CREATE', 'subnets', subnet('far', { vpc: 'blue', cidrBlock: '10.8.0.0/24' })).warnings, []);
  const [late = '', ...more] = reviewed(scene, 'CREATE', 'subnets', subnet('late', { vpc: 'blue', cidrBlock: '10.9.0.0/24' })).warnings;
  assert.match(late, /^Vpc blue: spec\.vpcPeerings\[0\]\.localConnectIP "10\.9\.0\.1\/30" overlaps 10\.9\.0\.0\/24 of Subnet late;/);
  assert.deepEqual(more, []);
  scene.subnet('late', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
  bench.converge();
  assert.ok(message().includes(late));
});

test('a selector of a Subnet that takes in namespaces outside of its Vpc is allowed with a warning that names them', () => {
  const scene = tenant();
  scene.bench.put('vpcs', { metadata: { name: 'listing' }, spec: { namespaces: ['shop'] } });
  scene.namespace('far');
  scene.bench.converge();
  const broad = {
    vpc: 'listing',
    cidrBlock: '10.88.0.0/24',
    namespaceSelectors: [{ matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] }],
  };
  const created = reviewed(scene, 'CREATE', 'subnets', subnet('broad', broad));
  assert.deepEqual(created.denials, []);
  assert.match(
    created.warnings.join(),
    /spec\.namespaceSelectors ".*far.*" is selected, and is not of Vpc listing; .* new pods of others wait/,
  );
  const { denials, warnings } = reviewed(scene, 'UPDATE', 'subnets', subnet('broad', broad), {
    before: subnet('broad', { ...broad, namespaceSelectors: [] }),
  });
  assert.deepEqual([denials, warnings], [[], created.warnings]);
  const narrow = { ...broad, namespaceSelectors: [{ matchLabels: { x: 'y' } }] };
  assert.deepEqual(reviewed(scene, 'CREATE', 'subnets', subnet('narrow', narrow)).warnings, []);
});

test('a request of a pod that another one outranks is allowed with a warning', () => {
  const scene = tenant();
  scene.bench.put('vips', { metadata: { name: 'own' }, spec: { subnet: 'net', v4ip: '10.1.0.50' } });
  scene.bench.converge();
  const created = (annotations: Readonly<Record<string, string>>): AdmissionResult =>
    reviewed(scene, 'CREATE', 'pods', { metadata: { name: 'new', namespace: 'shop', annotations }, spec: {} });
  const requests = {
    'ovn.kubernetes.io/vip': 'own',
    'ovn.kubernetes.io/ip_address': '10.1.0.9',
    'ovn.kubernetes.io/logical_router': 'red',
  };
  const { denials, warnings } = created(requests);
  assert.deepEqual(denials, []);
  assert.match(warnings.join('\n'), /ip_address\] "10\.1\.0\.9" does nothing; the pod has the addresses and the MAC of Vip own/);
  assert.match(warnings.join('\n'), /logical_router\] "red" does nothing; the pod is in Vpc \S+, that of its Subnet net/);
  assert.deepEqual(created({ 'ovn.kubernetes.io/vip': 'own' }), { denials: [], warnings: [] });
});

test('the denial of a CIDR without addresses in use has the message of the condition; one with them waits for the masks of pods', () => {
  const scene = tenant();
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'net' } });
  scene.bench.converge();
  assert.equal(scene.annotations('shop/web')['ovn.kubernetes.io/ip_address'], '10.1.0.2');
  const before = scene.bench.object('subnets', 'net') as { readonly spec: object };
  const narrowed = (cidrBlock: string): object => ({ ...before, spec: { ...before.spec, cidrBlock } });
  const change = (after: object, from: object = before): AdmissionResult => reviewed(scene, 'UPDATE', 'subnets', after, { before: from });
  assert.deepEqual(codes(change(narrowed('10.1.0.0/30'))), ['SubnetMaskInUse']);
  const refused = change(narrowed('10.1.0.0/31'));
  assert.deepEqual(codes(refused), ['CidrInUse']);
  scene.bench.edit('subnets', 'net', { cidrBlock: '10.1.0.0/31' });
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.message, only(refused));
  // A fault that already exists does not block another change.
  const now = narrowed('10.1.0.0/31') as { readonly spec: object };
  assert.deepEqual(codes(change({ ...now, spec: { ...now.spec, namespaces: ['shop', 'more'] } }, now)), []);
});

test('a Subnet waits for a missing Vpc, with a warning; a Vpc that is being deleted accepts no new Subnet', () => {
  const scene = tenant();
  const early = reviewed(scene, 'CREATE', 'subnets', subnet('early', { vpc: 'later', cidrBlock: '10.9.0.0/24' }));
  assert.deepEqual(
    [early.denials, early.warnings],
    [[], ['Subnet early: spec.vpc "later" names a Vpc that does not exist; it must name one that does; kubectl get vpcs']],
  );
  scene.bench.delete('vpcs', 'blue');
  scene.bench.converge();
  const late = reviewed(scene, 'CREATE', 'subnets', subnet('late', { vpc: 'blue', cidrBlock: '10.9.0.0/24' }));
  assert.deepEqual([codes(late), late.denials[0]?.kind], [['VpcTerminating'], 'forbidden']);
  scene.subnet('late', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'late', 'Ready')?.message, only(late));
});

test('the default Vpc and the join Subnet deny no object while they are being deleted', () => {
  const scene = tenant();
  for (const [resource, name] of [
    ['vpcs', 'ovn-cluster'],
    ['subnets', 'join'],
  ] as const) {
    const object = scene.bench.object(resource, name) ?? {};
    assert.match(only(reviewed(scene, 'DELETE', resource, object)), /is built in: Kiln would create it again at once$/);
    scene.bench.delete(resource, name);
  }
  scene.bench.converge();
  assert.deepEqual(codes(reviewed(scene, 'CREATE', 'subnets', subnet('late', { cidrBlock: '10.9.0.0/24' }))), []);
  assert.deepEqual(codes(reviewed(scene, 'CREATE', 'vips', { metadata: { name: 'late' }, spec: { subnet: 'join' } })), []);
});

test('a deletion is denied while the object has blockers, with the message of the condition', () => {
  const scene = tenant();
  scene.pod('web');
  scene.bench.converge();
  const vpc = scene.bench.object('vpcs', 'blue') ?? {};
  const net = scene.bench.object('subnets', 'net') ?? {};
  const ip = scene.bench.object('ips', 'web.shop') ?? {};
  assert.match(
    only(reviewed(scene, 'DELETE', 'vpcs', vpc)),
    /^Vpc blue cannot be deleted: one object still uses it: Subnet net\. Delete that first, then Vpc blue; .*: kiln delete vpc blue --cascade$/,
  );
  assert.match(only(reviewed(scene, 'DELETE', 'subnets', net)), /^Subnet net cannot be deleted: one object still uses it: IP web\.shop\./);
  assert.match(only(reviewed(scene, 'DELETE', 'ips', ip)), /^IP web\.shop cannot be deleted: one object still uses it: Pod shop\/web\./);
  assert.deepEqual(codes(reviewed(scene, 'DELETE', 'vpcs', vpc)), ['DeletionBlocked']);

  // A pod that is being deleted does not block.
  scene.bench.delete('pods', 'shop/web');
  assert.notEqual(scene.bench.object('ips', 'web.shop'), undefined);
  assert.deepEqual(codes(reviewed(scene, 'DELETE', 'subnets', net)), []);
  scene.bench.delete('subnets', 'net');
  assert.deepEqual(codes(reviewed(scene, 'DELETE', 'vpcs', vpc)), []);
});

test('with deletion-in-use=wait the deletion of an object in use is allowed with a warning that names its blockers; that of a built-in object is denied', () => {
  const scene = tenant();
  for (let i = 0; i < 6; i++) scene.pod(`web-${i}`);
  scene.bench.converge();
  const [vpc, net] = [scene.bench.object('vpcs', 'blue') ?? {}, scene.bench.object('subnets', 'net') ?? {}];
  const waits = { inUse: 'wait' } as const;
  const { denials, warnings } = reviewed(scene, 'DELETE', 'vpcs', vpc, waits);
  assert.deepEqual(denials, []);
  assert.deepEqual(warnings, [
    'Vpc blue is in use: it stays in effect, accepts no new dependents, and is deleted when the object that uses it is gone (kiln explain vpc blue): Subnet net',
  ]);
  const [many = ''] = reviewed(scene, 'DELETE', 'subnets', net, waits).warnings;
  assert.match(many, /is deleted when the 6 objects that use it are gone \(kiln explain subnet net\): IP web-0\.shop, .* and 3 more$/);
  assert.ok(many.length <= 256, 'an API server truncates longer warnings');
  assert.match(only(reviewed(scene, 'DELETE', 'vpcs', scene.bench.object('vpcs', 'ovn-cluster') ?? {}, waits)), /is built in/);
  for (let i = 0; i < 6; i++) scene.bench.delete('pods', `shop/web-${i}`);
  scene.bench.converge();
  assert.deepEqual(reviewed(scene, 'DELETE', 'subnets', net, waits), { denials: [], warnings: [] });
});

test('the second kubectl delete -f of a tenant: objects whose deletion the same user requested before, and that have no blockers, do not block', () => {
  const scene = tenant();
  scene.pod('web');
  scene.bench.converge();
  const vpc = scene.bench.object('vpcs', 'blue') ?? {};
  const net = scene.bench.object('subnets', 'net') ?? {};
  const recentlyDenied: RecentlyDenied = (resource, key) => resource === 'subnets' && key === 'net';
  const again = (object: object, plural: 'vpcs' | 'subnets'): readonly string[] =>
    codes(reviewed(scene, 'DELETE', plural, object, { recentlyDenied }));
  assert.deepEqual(again(vpc, 'vpcs'), ['DeletionBlocked'], 'its pod still runs: the Subnet would be refused again');
  scene.bench.delete('pods', 'shop/web');
  scene.bench.converge();
  assert.deepEqual(again(vpc, 'vpcs'), []);
  assert.deepEqual(again(net, 'subnets'), []);
  assert.deepEqual(
    codes(reviewed(scene, 'DELETE', 'vpcs', vpc)),
    ['DeletionBlocked'],
    'an empty Subnet that nobody wants deleted is in the way',
  );
  scene.subnet('other', { vpc: 'blue', cidrBlock: '10.2.0.0/24' });
  scene.bench.converge();
  assert.match(only(reviewed(scene, 'DELETE', 'vpcs', vpc, { recentlyDenied })), /one object still uses it: Subnet other\./);
});

test('denied deletions are remembered for five minutes, by user and object', () => {
  let now = 0;
  const refused = new DeniedDeletions(() => now);
  const net = { resource: 'subnets', key: 'net', user: 'ann' } as const;
  refused.note(net);
  now = 299_999;
  assert.deepEqual([refused.has(net), refused.has({ ...net, user: 'bob' }), refused.has({ ...net, key: 'other' })], [true, false, false]);
  now = 300_000;
  assert.equal(refused.has(net), false);
  const endless = { ...net, user: 'x'.repeat(100_000) };
  refused.note(endless);
  assert.equal(refused.has(endless), false);
});

test('deletions are allowed: of objects that cannot be validated, of objects being deleted, and by the controller itself', () => {
  const scene = tenant();
  const vpc = scene.bench.object('vpcs', 'blue') ?? { metadata: {} };
  assert.deepEqual(codes(reviewed(scene, 'DELETE', 'vpcs', vpc, { complete: false })), []);
  assert.deepEqual(codes(reviewed(scene, 'DELETE', 'vpcs', vpc, { user: OWN, preconditionUid: 'uid-of-it' })), [], "Kiln's own");
  assert.deepEqual(codes(reviewed(scene, 'DELETE', 'services', { metadata: { name: 'blue', namespace: 'shop' } })), []);
  const going = { ...vpc, metadata: { ...vpc.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(codes(reviewed(scene, 'DELETE', 'vpcs', going)), []);
});

test('a change is denied for the faults it adds, and never for finalizers, status, or an object that is being deleted', () => {
  const scene = tenant();
  const before = scene.bench.object('subnets', 'net') ?? { metadata: {}, spec: {} };
  const change = (spec: object, metadata: object = {}): object => ({
    ...before,
    metadata: { ...before.metadata, ...metadata },
    spec: { ...before.spec, ...spec },
  });
  const validated = (spec: object, more: RequestFields = {}): AdmissionResult =>
    reviewed(scene, 'UPDATE', 'subnets', change(spec), { before, ...more });
  assert.deepEqual(codes(validated({ vpc: 'green' })), ['SubnetVpcChanged']);
  assert.deepEqual(codes(validated({ cidrBlock: 'nonsense' })), ['SubnetCidrInvalid']);
  assert.deepEqual(codes(validated({ provider: 'macvlan.shop' })), ['SubnetProviderChanged']);
  assert.deepEqual(codes(validated({ provider: 'macvlan.shop.ovn' })), [], 'OVN still carries it');
  assert.deepEqual(codes(validated({ cidrBlock: 'nonsense' }, { user: OWN, fieldManager: 'kiln-controller' })), [], "Kiln's own");
  assert.deepEqual(codes(validated({ cidrBlock: 'nonsense' }, { subresource: 'status' })), []);
  assert.deepEqual(codes(validated({ gateway: '10.1.0.254' })), [], 'a gateway may change');
  const bad = change({ mtu: 1 });
  assert.deepEqual(
    codes(reviewed(scene, 'UPDATE', 'subnets', change({ mtu: 1, private: true }), { before: bad })),
    [],
    'it was wrong before',
  );
  const going = change({}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const stripped = change({ cidrBlock: 'nonsense' }, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [] });
  assert.deepEqual(codes(reviewed(scene, 'UPDATE', 'subnets', stripped, { before: going })), []);
});

test('what interfaces of running pods keep does not change under them, in the words of the condition; it does without them, or where an annotation allows it', () => {
  const scene = tenant();
  const { bench } = scene;
  const subnet = (): TestObject => bench.object('subnets', 'net') ?? assert.fail();
  const validated = (spec: object, annotations: Readonly<Record<string, string>> = {}): AdmissionResult => {
    const before = subnet();
    const after = { ...before, metadata: { ...before.metadata, annotations }, spec: { ...before.spec, ...spec } };
    return reviewed(scene, 'UPDATE', 'subnets', after, { before });
  };
  const edits = [
    [{ gateway: '10.1.0.254' }, 'SubnetGatewayInUse'],
    [{ mtu: 1300 }, 'SubnetMtuInUse'],
    [{ vlan: 'v100' }, 'SubnetGatewayInUse'],
    [{ cidrBlock: '10.1.0.0/25' }, 'SubnetMaskInUse'],
  ] as const;
  const harmless = { cidrBlock: '10.1.0.0/23' };
  for (const [edit] of edits) assert.deepEqual(codes(validated(edit)), [], 'no pod runs');
  scene.pod('runs');
  bench.converge();
  assert.deepEqual(codes(validated(harmless)), [], 'a wider network');
  assert.deepEqual(codes(validated({ mtu: 0 })), [], 'the MTU that it has');
  const narrower = validated({ cidrBlock: '10.1.0.0/25' }, { 'kiln.io/allow-change-under-pods': 'true' });
  assert.match(narrower.warnings.join(), /running pods keep the mask of 10\.1\.0\.0\/24 until they are made again \(Pod shop\/runs\)/);
  for (const [edit, code] of edits) {
    const result = validated(edit);
    assert.deepEqual(codes(result), [code]);
    const [{ message, kind } = assert.fail()] = result.denials;
    assert.match(message, /Pod shop\/runs.*kubectl annotate subnet net kiln\.io\/allow-change-under-pods=true/);
    assert.equal(kind, 'invalid');
    assert.deepEqual(codes(validated(edit, { 'kiln.io/allow-change-under-pods': 'true' })), []);
    if ('mtu' in edit) continue;
    const { spec } = subnet();
    bench.edit('subnets', 'net', edit);
    bench.converge();
    assert.ok(bench.condition('subnets', 'net', 'Accepted')?.message?.startsWith(message), message);
    bench.edit('subnets', 'net', { vlan: '', gateway: spec['gateway'], cidrBlock: spec['cidrBlock'] });
    bench.converge();
  }
});

test('a Subnet over the API server, or for a namespace that its Vpc does not list, is denied in the words of the condition; not before the Vpc exists', () => {
  const scene = tenant();
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'listing' }, spec: { namespaces: ['shop'] } });
  bench.put('services', {
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIPs: ['172.30.0.1'], ports: [{ port: 443 }] },
  });
  bench.converge();
  const specs = {
    over: { cidrBlock: '172.30.0.0/24' },
    lists: { vpc: 'listing', cidrBlock: '10.88.0.0/24', namespaces: ['shop', 'other'] },
    early: { vpc: 'later', cidrBlock: '10.88.0.0/24', namespaces: ['other'] },
  };
  const validated = Object.entries(specs).map(([name, spec]) => reviewed(scene, 'CREATE', 'subnets', { metadata: { name }, spec }));
  assert.deepEqual(validated.map(codes), [['SubnetHoldsApiServer'], ['SubnetNamespaceNotOfVpc'], []]);
  for (const name of ['over', 'lists'] as const) {
    scene.subnet(name, specs[name]);
    bench.converge();
    const result = validated[Object.keys(specs).indexOf(name)] ?? assert.fail();
    assert.ok(bench.condition('subnets', name, 'Accepted')?.message?.startsWith(only(result)));
  }
  const before = bench.object('subnets', 'lists') ?? assert.fail();
  const more = { ...before, spec: { ...before.spec, mtu: 1400 } };
  assert.deepEqual(codes(reviewed(scene, 'UPDATE', 'subnets', more, { before })), [], 'it was wrong before');
});

test('an empty spec.vpc in an update names the default Vpc: it is allowed there and written again, and denied elsewhere', () => {
  const scene = tenant();
  const { bench } = scene;
  const emptied = (name: string): AdmissionResult => {
    const before = bench.object('subnets', name) ?? assert.fail();
    return reviewed(scene, 'UPDATE', 'subnets', { ...before, spec: { ...before.spec, vpc: '' } }, { before });
  };
  assert.deepEqual([codes(emptied('ovn-default')), codes(emptied('net'))], [[], ['SubnetVpcChanged']]);
  const { networks } = bench.row('Logical_Router_Port', 'ovn-cluster-ovn-default') ?? {};
  bench.edit('subnets', 'ovn-default', { vpc: '' });
  bench.converge();
  assert.equal(bench.object('subnets', 'ovn-default')?.spec['vpc'], 'ovn-cluster');
  assert.deepEqual(bench.row('Logical_Router_Port', 'ovn-cluster-ovn-default')?.['networks'], networks);
});

test('an object that names a missing one is allowed with a warning, and takes effect once that exists', () => {
  const scene = tenant();
  const { bench } = scene;
  const late: readonly (readonly [ResourceName, string, object])[] = [
    ['vips', 'v', { subnet: 'late', v4ip: '10.77.0.9' }],
    ['ips', 'p.shop', { subnet: 'late', podName: 'p', namespace: 'shop', ipAddress: '10.77.0.10' }],
    ['ippools', 'pool', { subnet: 'late', ips: ['10.77.0.20..10.77.0.30'] }],
    ['ovn-eips', 'e', { externalSubnet: 'late' }],
    ['iptables-eips', 'i', { externalSubnet: 'late', natGwDp: 'gw' }],
  ];
  for (const [resource, name, spec] of late) {
    const { denials, warnings } = reviewed(scene, 'CREATE', resource, { metadata: { name }, spec });
    assert.deepEqual([denials, warnings.length], [[], 1], resource);
    assert.match(warnings[0] ?? '', /late.*does not exist/);
    bench.put(resource, { metadata: { name }, spec });
  }
  bench.converge();
  assert.equal(bench.condition('vips', 'v', 'Accepted')?.reason, 'WaitingForSubnet');
  scene.subnet('late', { vpc: 'blue', cidrBlock: '10.77.0.0/24' });
  bench.converge();
  assert.equal(bench.object('vips', 'v')?.status?.['v4ip'], '10.77.0.9');
  assert.equal(bench.object('ips', 'p.shop')?.spec['v4IpAddress'], '10.77.0.10');
});

test('a network in effect cannot be removed from OVN, with the message of the condition; one that is not in effect yet can', () => {
  const scene = tenant();
  const { bench } = scene;
  bench.put('subnets', { metadata: { name: 'waits' }, spec: { vpc: 'nowhere', cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  const edited = (name: string): AdmissionResult => {
    const before = bench.object('subnets', name) ?? assert.fail();
    return reviewed(scene, 'UPDATE', 'subnets', { ...before, spec: { ...before.spec, provider: 'macvlan.shop' } }, { before });
  };
  assert.deepEqual(codes(edited('waits')), []);
  const refused = only(edited('net'));
  bench.edit('subnets', 'net', { provider: 'macvlan.shop' });
  bench.converge();
  assert.equal(sentence(bench.condition('subnets', 'net', 'Accepted')?.message), refused);
});

test('the denial of a rule for an EIP that is being deleted has the message of its condition; a rule from a backup is allowed', () => {
  const scene = tenant();
  const { bench } = scene;
  bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: { externalSubnet: 'net' } });
  bench.put('ovn-snat-rules', { metadata: { name: 'first' }, spec: { ovnEip: 'e1' } });
  bench.converge();
  const rule = { metadata: { name: 'late', creationTimestamp: '2026-01-01T01:00:00Z' }, spec: { ovnEip: 'e1' } };
  assert.deepEqual(codes(reviewed(scene, 'CREATE', 'ovn-fips', rule)), []);
  bench.delete('ovn-eips', 'e1');
  bench.converge();
  const { denials } = reviewed(scene, 'CREATE', 'ovn-fips', rule);
  assert.deepEqual(
    denials.map(({ code, field, kind }) => [code, field, kind]),
    [['EipTerminating', 'spec.ovnEip', 'forbidden']],
  );
  const { labels } = bench.object('ovn-snat-rules', 'first')?.metadata ?? assert.fail();
  assert.deepEqual(codes(reviewed(scene, 'CREATE', 'ovn-fips', { ...rule, metadata: { ...rule.metadata, labels } })), []);
  bench.passTo(Date.parse('2026-01-01T01:00:00Z'));
  bench.put('ovn-fips', rule);
  bench.converge();
  assert.equal(bench.condition('ovn-fips', 'late', 'Accepted')?.message, denials[0]?.message);
});

test('an edit of a rule to name an EIP that is being deleted is denied with the message of its condition; other edits of its rules are allowed', () => {
  const scene = tenant();
  const { bench } = scene;
  for (const name of ['e1', 'e2']) bench.put('ovn-eips', { metadata: { name }, spec: { externalSubnet: 'net' } });
  bench.put('ovn-fips', { metadata: { name: 'first' }, spec: { ovnEip: 'e1' } });
  bench.put('ovn-fips', { metadata: { name: 'late' }, spec: { ovnEip: 'e2' } });
  bench.converge();
  bench.delete('ovn-eips', 'e1');
  bench.converge();
  const edited = (name: string, spec: object): AdmissionResult => {
    const before = bench.object('ovn-fips', name) ?? assert.fail();
    return reviewed(scene, 'UPDATE', 'ovn-fips', { ...before, spec: { ...before.spec, ...spec } }, { before });
  };
  const { denials } = edited('late', { ovnEip: 'e1' });
  assert.deepEqual(
    denials.map(({ code, field, kind }) => [code, field, kind]),
    [['EipTerminating', 'spec.ovnEip', 'forbidden']],
  );
  assert.deepEqual(codes(edited('late', { ovnEip: 'e9' })), []);
  assert.deepEqual(codes(edited('first', { ipName: 'a.shop' })), []);
  assert.deepEqual(codes(edited('first', { ovnEip: 'e2' })), []);
  bench.edit('ovn-fips', 'late', { ovnEip: 'e1' });
  bench.converge();
  assert.equal(bench.condition('ovn-fips', 'late', 'Accepted')?.message, denials[0]?.message);
});

test('the denial of a pod with an invalid request has the message of its condition', () => {
  const key = (suffix: string): string => `ovn.kubernetes.io/${suffix}`;
  const requests: Readonly<Record<string, object>> = {
    unreadableAttachment: { [key('ip_address')]: 'ten.one' },
    outside: { [key('ip_address')]: '10.7.0.9' },
    gateway: { [key('ip_address')]: '10.1.0.1' },
    taken: { [key('ip_address')]: '10.1.0.9' },
    mac: { [key('mac_address')]: '00:00:00:zz:00:01' },
    gatewayMac: { [key('mac_address')]: derivedMac(rowId('Logical_Router_Port', 'blue-net')) },
    rate: { [key('ingress_rate')]: 'fast' },
    networks: { 'k8s.v1.cni.cncf.io/networks': '[{' },
  };
  for (const [name, annotations] of Object.entries(requests)) {
    const scene = tenant();
    scene.pod('holder', { annotations: { [key('ip_address')]: '10.1.0.9' } });
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/holder'), '10.1.0.9');
    const result = reviewed(scene, 'CREATE', 'pods', pod(name, annotations));
    scene.pod(name, { annotations: annotations as Record<string, string> });
    scene.bench.converge();
    const condition = scene.bench.condition('pods', `shop/${name}`, 'kiln.io/NetworkBound');
    assert.equal(condition?.status, 'False', name);
    assert.equal(only(result), sentence(condition?.message), name);
  }
});

test("the denial of a pod whose port would have the name of a node's or a Subnet's port has the message of its condition, and no other pod is denied", () => {
  const scene = tenant();
  scene.bench.put('nodes', { metadata: { name: 'x1.shop' }, spec: {} });
  scene.subnet('x.shop', { vpc: 'ovn-cluster', cidrBlock: '10.77.0.0/24' });
  scene.bench.converge();
  for (const [name, isTaken] of [
    ['node-x1', true],
    ['ovn-cluster-x', true],
    ['node-x2', false],
    ['ovn-cluster-y', false],
  ] as const) {
    const result = reviewed(scene, 'CREATE', 'pods', pod(name, {}));
    scene.pod(name);
    scene.bench.converge();
    const condition = scene.bench.condition('pods', `shop/${name}`, 'kiln.io/NetworkBound');
    assert.deepEqual(codes(result), isTaken ? ['NameTaken'] : [], name);
    if (isTaken) assert.equal(only(result), sentence(condition?.message), name);
  }
});

test('the address of a pod that is being deleted may be requested; one of a reservation may not', () => {
  const scene = tenant();
  const request = (address: string): AdmissionResult =>
    reviewed(scene, 'CREATE', 'pods', pod('next', { 'ovn.kubernetes.io/ip_address': address, 'ovn.kubernetes.io/logical_switch': 'net' }));
  scene.pod('last', { annotations: { 'ovn.kubernetes.io/ip_address': '10.1.0.9' } });
  scene.bench.put('ips', {
    metadata: { name: 'vip.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
    spec: { subnet: 'net', podName: 'vip', namespace: 'shop', ipAddress: '10.1.0.10' },
  });
  scene.bench.converge();
  assert.deepEqual(codes(request('10.1.0.9')), ['AddressConflict']);
  scene.bench.delete('pods', 'shop/last');
  assert.deepEqual(codes(request('10.1.0.9')), []);
  assert.match(only(request('10.1.0.10')), /the address 10\.1\.0\.10 in Subnet "net" is held by vip\.shop/);
});

test('the denial of a Vip, an EIP, an IP object, a pool or a pod has the message and, but for pools, the code of its condition', () => {
  const cases: readonly (readonly [ResourceName, ConditionType, string, object, 'goes'?])[] = [
    ['vips', 'Accepted', '', { subnet: 'net', v4ip: '10.1.0.10' }],
    ['vips', 'Accepted', '', { subnet: 'net', v4ip: '10.9.0.1' }],
    ['vips', 'Accepted', '', { subnet: 'net', v4ip: 'ten' }],
    ['vips', 'Accepted', '', { subnet: 'net' }, 'goes'],
    ['ovn-eips', 'Accepted', '', { externalSubnet: 'net', v4Ip: '10.1.0.10' }],
    ['ovn-eips', 'Accepted', '', { externalSubnet: 'net' }, 'goes'],
    ['iptables-eips', 'Accepted', '', { externalSubnet: 'net', v4ip: '10.1.0.10' }],
    ['ips', 'Accepted', 'x.shop', { subnet: 'net', podName: 'x', namespace: 'shop', ipAddress: '10.1.0.10' }],
    ['ips', 'Accepted', 'x.shop', { subnet: 'net', podName: 'x', namespace: 'shop', macAddress: '00:00:00:00:00:10' }],
    ['ips', 'Accepted', 'x.shop', { subnet: 'net', podName: 'y', namespace: 'shop' }],
    ['ips', 'Accepted', 'x.shop', { subnet: 'net', podName: 'x', namespace: 'shop' }, 'goes'],
    ['ippools', 'Ready', '', { subnet: 'net', ips: ['10.1.0.50'] }, 'goes'],
    ['pods', 'kiln.io/NetworkBound', 'shop/x', { 'ovn.kubernetes.io/ip_address': '10.1.0.10' }],
    ['pods', 'kiln.io/NetworkBound', 'shop/x', { 'ovn.kubernetes.io/ip_address': '10.9.0.1', 'ovn.kubernetes.io/logical_switch': 'net' }],
    ['pods', 'kiln.io/NetworkBound', 'shop/x', { 'ovn.kubernetes.io/logical_switch': 'net' }, 'goes'],
  ];
  for (const [resource, type, name, spec, goes] of cases) {
    const scene = tenant();
    scene.bench.put('ips', {
      metadata: { name: 'vip.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
      spec: { subnet: 'net', podName: 'vip', namespace: 'shop', ipAddress: '10.1.0.10', macAddress: '00:00:00:00:00:10' },
    });
    if (goes) scene.pod('stays');
    scene.bench.converge();
    if (goes) scene.bench.delete('subnets', 'net');
    scene.bench.converge();
    const object = resource === 'pods' ? pod('x', spec) : { metadata: { name: name === '' ? 'x' : name, uid: 'uid-x' }, spec };
    const result = reviewed(scene, 'CREATE', resource, object);
    if (resource === 'pods') scene.pod('x', { annotations: spec as Record<string, string> });
    else scene.bench.put(resource, object as Parameters<typeof scene.bench.put>[1]);
    scene.bench.converge();
    const there = scene.bench.object(resource, name === '' ? 'x' : name);
    const condition = there && conditionsOf(resource, there).find((one) => one.type === type);
    const what = `${resource} ${JSON.stringify(spec)}`;
    assert.equal(condition?.status, 'False', what);
    assert.equal(sentence(only(result)), sentence(condition?.message), what);
    if (resource !== 'ippools') assert.deepEqual(codes(result), [condition?.reason], what);
  }
});

test('a Subnet that is being deleted accepts no new dependents: no pod that names it, no IP object, no IPPool', () => {
  const scene = tenant();
  scene.pod('stays');
  scene.bench.converge();
  scene.bench.delete('subnets', 'net');
  scene.bench.converge();
  for (const [resource, object] of [
    ['pods', pod('new', { 'ovn.kubernetes.io/logical_switch': 'net' })],
    ['ips', { metadata: { name: 'new.shop' }, spec: { subnet: 'net', podName: 'new', namespace: 'shop' } }],
    ['ippools', { metadata: { name: 'new' }, spec: { subnet: 'net', ips: ['10.1.0.50'] } }],
  ] as const) {
    const result = reviewed(scene, 'CREATE', resource, object);
    assert.match(only(result), /Subnet net is being deleted.*; kubectl describe subnet net$/, resource);
    assert.deepEqual(codes(result), ['SubnetTerminating']);
  }
});

test('IP objects: a wrong name, an address outside or taken, a lease that is none; what is set is fixed', () => {
  const scene = tenant();
  scene.pod('web');
  scene.bench.converge();
  const taken = scene.addressOf('shop/web') ?? '';
  const ip = (name: string, spec: object, annotations: object = {}): object => ({
    metadata: { name, annotations },
    spec: { subnet: 'net', podName: 'db', namespace: 'shop', ...spec },
  });
  const validated = (object: object): readonly string[] => codes(reviewed(scene, 'CREATE', 'ips', object));
  assert.deepEqual(validated(ip('db.shop', {})), []);
  assert.deepEqual(validated(ip('db.elsewhere', {})), ['NameInvalid']);
  assert.deepEqual(validated(ip('db.shop', { ipAddress: taken })), ['AddressConflict']);
  assert.deepEqual(validated(ip('db.shop', { ipAddress: '10.7.0.1' })), ['AddressOutOfRange']);
  assert.deepEqual(validated(ip('db.shop', {}, { 'kiln.io/lease': 'a day' })), ['LeaseInvalid']);
  const unknown = reviewed(scene, 'CREATE', 'ips', ip('db.shop', { subnet: 'later' }));
  assert.deepEqual([codes(unknown), unknown.warnings.length], [[], 1]);
  const before = scene.bench.object('ips', 'web.shop') ?? { spec: {} };
  const after = { ...before, spec: { ...before.spec, v4IpAddress: '10.1.0.77' } } as object;
  assert.deepEqual(codes(reviewed(scene, 'UPDATE', 'ips', after, { before })), ['IPFieldImmutable', 'IPAddressInvalid']);
  assert.deepEqual(codes(reviewed(scene, 'UPDATE', 'ips', after, { before, user: OWN, fieldManager: 'kiln-controller' })), []);
});

test('IPPools: ranges that make no sense, addresses outside or of another pool; a pool waits for a missing Subnet', () => {
  const scene = tenant();
  const pool = (name: string, spec: object): object => ({
    metadata: { name },
    spec: { subnet: 'net', ips: ['10.1.0.20..10.1.0.30'], ...spec },
  });
  const validated = (object: object): readonly string[] => codes(reviewed(scene, 'CREATE', 'ippools', object));
  assert.deepEqual(validated(pool('p', {})), []);
  assert.deepEqual(validated(pool('p', { ips: ['10.1.0.30..10.1.0.20'] })), ['IPPoolIpsInvalid']);
  assert.deepEqual(validated(pool('p', { ips: ['10.8.0.1'] })), ['IPPoolIpsInvalid']);
  scene.bench.put('ippools', pool('first', {}) as Parameters<typeof scene.bench.put>[1]);
  scene.bench.converge();
  assert.deepEqual(validated(pool('p', {})), ['IPPoolOverlap']);
  // A pool that is invalid itself blocks no other.
  scene.bench.put('ippools', pool('second', { ips: ['10.1.0.30..10.1.0.40'] }) as Parameters<typeof scene.bench.put>[1]);
  scene.bench.converge();
  assert.deepEqual(validated(pool('p', { ips: ['10.1.0.35'] })), []);
  const early = reviewed(scene, 'CREATE', 'ippools', pool('p', { subnet: 'later' }));
  assert.deepEqual([codes(early), early.warnings.length], [[], 1]);
  const before = scene.bench.object('ippools', 'first') ?? {};
  assert.deepEqual(codes(reviewed(scene, 'UPDATE', 'ippools', pool('first', { subnet: 'ovn-default', ips: ['10.16.0.9'] }), { before })), [
    'IPPoolSubnetImmutable',
  ]);
});

test('IPPools of a frozen Subnet are validated against the network in effect, as by the rules', () => {
  const scene = tenant();
  scene.bench.edit('subnets', 'net', { cidrBlock: 'nonsense' });
  scene.bench.converge();
  const validated = (ips: string): readonly string[] =>
    codes(reviewed(scene, 'CREATE', 'ippools', { metadata: { name: 'p' }, spec: { subnet: 'net', ips: [ips] } }));
  assert.deepEqual([validated('10.1.0.20..10.1.0.30'), validated('10.8.0.1')], [[], ['IPPoolIpsInvalid']]);
});

test('Vpcs: routes that make no sense, the name of a Subnet', () => {
  const scene = tenant();
  const validated = (name: string, spec: object): AdmissionResult => reviewed(scene, 'CREATE', 'vpcs', { metadata: { name }, spec });
  assert.deepEqual(codes(validated('v', { staticRoutes: [{ cidr: '10.0.0.0/8', nextHopIP: 'there' }] })), ['VpcStaticRouteInvalid']);
  assert.deepEqual(codes(validated('net', {})), ['VpcNamedAsSubnet']);
  assert.deepEqual(validated('v', { enableBfd: true, enableExternal: true }), { denials: [], warnings: [] });
});

test('before the World is complete an object is validated alone', () => {
  const scene = tenant();
  const overlapping = subnet('s', { vpc: 'blue', cidrBlock: '10.1.0.0/24' });
  assert.deepEqual(codes(reviewed(scene, 'CREATE', 'subnets', overlapping, { complete: false })), []);
  assert.deepEqual(codes(reviewed(scene, 'CREATE', 'subnets', subnet('s', { cidrBlock: 'no' }), { complete: false })), [
    'SubnetCidrInvalid',
  ]);
  const annotations = { 'ovn.kubernetes.io/ip_address': 'no' };
  assert.deepEqual(codes(reviewed(scene, 'CREATE', 'pods', pod('p', annotations), { complete: false })), ['PodIpAddressInvalid']);
});

test('asking leaves nothing behind: no reservation, no query, nothing to compute', () => {
  const scene = tenant();
  const { world } = scene.bench;
  const look = (): readonly unknown[] => [world.reservations.size, world.queries, world.reactor.isIdle];
  const before = look();
  for (let i = 0; i < 20; i++) {
    reviewed(scene, 'CREATE', 'pods', pod(`p${i}`, { 'ovn.kubernetes.io/logical_switch': `no-${i}` }));
    reviewed(scene, 'CREATE', 'pods', pod(`q${i}`, { 'ovn.kubernetes.io/ip_address': `10.1.0.${i + 10}` }));
    reviewed(scene, 'CREATE', 'subnets', subnet(`s${i}`, { vpc: `no-${i}`, cidrBlock: '10.9.0.0/24' }));
  }
  assert.deepEqual(look(), before);
});

test('the webhook denies what breaks the CEL rules of a definition, for API servers that do not know them', () => {
  const scene = tenant();
  const gateway = (spec: object): object => ({ metadata: { name: 'g', namespace: 'shop' }, spec: { externalSubnet: 'x', ...spec } });
  const good = gateway({ policies: [{ subnets: ['net'] }], prefix: 'a' });
  assert.match(
    only(reviewed(scene, 'CREATE', 'vpc-egress-gateways', gateway({}))),
    /^VpcEgressGateway shop\/g: spec .*needs a policy or a selector/,
  );
  assert.deepEqual(reviewed(scene, 'CREATE', 'vpc-egress-gateways', good).denials, []);
  const renamed = gateway({ policies: [{ subnets: ['net'] }], prefix: 'b' });
  assert.deepEqual(codes(reviewed(scene, 'UPDATE', 'vpc-egress-gateways', renamed, { before: good })), ['Immutable']);
  const resolver = (name: string): object => ({ metadata: { name: 'r' }, spec: { name } });
  assert.deepEqual(codes(reviewed(scene, 'UPDATE', 'dnsnameresolvers', resolver('b.c.'), { before: resolver('a.c.') })), ['Immutable']);
});

test('no client is Kiln by its request: field manager and precondition count for the controller alone, known by its user', () => {
  const scene = tenant();
  const vpc = scene.bench.object('vpcs', 'blue') ?? { metadata: {} };
  const wrong = subnet('odd', { vpc: 'blue', cidrBlock: 'nonsense' });
  const before = scene.bench.object('subnets', 'net') ?? { metadata: {}, spec: {} };
  const moved = { ...before, spec: { ...before.spec, vpc: 'green' } };
  const says = { fieldManager: 'kiln-controller', preconditionUid: 'uid-of-it' };
  const verdicts = (more: RequestFields): readonly boolean[] => [
    reviewed(scene, 'CREATE', 'subnets', wrong, more).denials.length > 0,
    reviewed(scene, 'UPDATE', 'subnets', moved, { ...more, before }).denials.length > 0,
    reviewed(scene, 'DELETE', 'vpcs', vpc, more).denials.length > 0,
  ];
  const refused = [true, true, true];
  for (const user of [
    'alice',
    '',
    'kiln-controller',
    'system:serviceaccount:shop:kiln-controller',
    'system:serviceaccount:kube-system:kiln',
  ])
    assert.deepEqual(verdicts({ ...says, user }), refused, `user "${user}"`);
  assert.deepEqual(verdicts({ ...says, user: OWN }), [false, false, false], 'the controller');
  // A person may use the controller's credentials, and still gets errors for mistakes.
  assert.deepEqual(verdicts({ user: OWN, fieldManager: 'kubectl-edit' }), refused);
  for (const user of ['system:serviceaccount:kube-system:generic-garbage-collector', 'system:kube-controller-manager'])
    assert.deepEqual(verdicts({ user }), [true, true, false], `${user} deletes alone`);
});

test('while the own user is not known no request is the own one', () => {
  const request = { operation: 'CREATE', user: '', fieldManager: 'kiln-controller' } as const;
  const scene = tenant();
  const review = {
    ...request,
    ...{ uid: 'u', group: 'kubeovn.io', version: 'v1', resource: 'subnets', kind: 'Subnet', subresource: '', namespace: '', name: 'odd' },
    object: subnet('odd', { vpc: 'blue', cidrBlock: 'nonsense' }) as ReviewedObject,
    oldObject: undefined,
    dryRun: false,
    preconditionUid: '',
  };
  assert.equal(validateRequest(review, observed(scene), () => undefined).denials.length > 0, true);
});
