/**
 * Each reason and code of the reference occurs: a test of rules, webhook or commands, or a scenario, asserts it, or one of the objects here
 * produces it, as a user would. A mere mention does not count (`asserted-words.ts`). A reason that nothing emits, or that no test produces,
 * has no place in the reference.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { REASONS } from '../../src/api/reasons.ts';
import type { Reason } from '../../src/api/reasons.ts';
import { kubeErrorCodes } from '../../src/kube/errors.ts';
import { errorCodes } from '../../src/ovsdb/errors.ts';
import { PodScene } from '../../src/testing/pod-scene.ts';
import type { ResourceName } from '../../src/world/resources.ts';
import { traitsOf } from '../../src/world/resources.ts';
import type { ReviewedObject } from '../../src/webhook/protocol/admission-review.ts';
import { validateRequest } from '../../src/webhook/review/validate-request.ts';
import { assertedWords } from './asserted-words.ts';

interface Attempt {
  readonly resource: ResourceName;
  readonly name?: string;
  readonly spec: object;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The old object, if this is an edit. */
  readonly before?: object;
}

const subnet = (spec: object, more: Partial<Attempt> = {}): Attempt => ({
  resource: 'subnets',
  spec: { cidrBlock: '10.70.0.0/24', ...spec },
  ...more,
});
const pod = (suffix: string, value: string): Attempt => ({
  resource: 'pods',
  spec: {},
  annotations: { [`ovn.kubernetes.io/${suffix}`]: value },
});
const vip = (spec: object): Attempt => ({ resource: 'vips', spec: { subnet: 'ovn-default', ...spec } });

const ip = (spec: object): Attempt => ({
  resource: 'ips',
  name: 'web.shop',
  spec: { podName: 'web', namespace: 'shop', subnet: 'ovn-default', ...spec },
});

/** An object of a user for each reason that no other test asserts, or that is easily missed. */
const ATTEMPTS: Partial<Readonly<Record<Reason, Attempt>>> = {
  ValidateLogicalSwitchSuccess: subnet({}),
  InvalidIPFamily: pod('ip_family', 'ipv6'),
  IPMacInvalid: ip({ macAddress: 'aa:bb' }),
  IPPodTypeInvalid: ip({ podType: 'Deployment' }),
  SubnetAclInvalid: subnet({ acls: [{ direction: 'to-lport', priority: 1, match: 'nonsense', action: 'drop' }] }),
  SubnetExcludeIpsInvalid: subnet({ excludeIps: ['10.70.0.x'] }),
  SubnetGatewayInvalid: subnet({ gateway: 'none' }),
  SubnetOptionsInvalid: subnet({ enableDHCP: true, dhcpV4Options: 'nonsense=1' }),
  UpdateIPAMFailed: { resource: 'ippools', spec: { subnet: 'ovn-default', ips: ['10.99.0.1'] } },
  ValidatePodNetworkFailed: pod('ip_address', '10.16.0.x'),
  VpcPolicyRouteInvalid: { resource: 'vpcs', spec: { policyRoutes: [{ action: 'drop', match: 'nonsense', priority: 1 }] } },
  WaitingForVip: pod('vip', 'none'),
  ProviderImpossible: subnet({ provider: 'a b' }),
  NeedsAnotherField: subnet({ allowSubnets: ['10.0.0.0/8'] }),
  IPNameMismatch: {
    resource: 'ips',
    name: 'other.shop',
    spec: { podName: 'web', namespace: 'shop', subnet: 'ovn-default', v4IpAddress: '10.16.0.9', ipAddress: '10.16.0.9', macAddress: '' },
    annotations: { 'kiln.io/pod-uid': 'some' },
  },
  IPPoolSubnetMissing: { resource: 'ippools', spec: { subnet: '', ips: ['10.16.0.50'] } },
  IPSubnetMissing: { resource: 'ips', spec: { podName: 'web', namespace: 'shop', subnet: '' }, annotations: { 'kiln.io/pod-uid': 'some' } },
  IptablesEIPAddressInvalid: { resource: 'iptables-eips', spec: { externalSubnet: 'ovn-default', natGwDp: 'gw', v4ip: '10.16' } },
  IptablesEIPMacInvalid: { resource: 'iptables-eips', spec: { externalSubnet: 'ovn-default', natGwDp: 'gw', macAddress: 'none' } },
  OvnEipMacInvalid: { resource: 'ovn-eips', spec: { externalSubnet: 'ovn-default', macAddress: 'none' } },
  OvnEipTypeInvalid: { resource: 'ovn-eips', spec: { externalSubnet: 'ovn-default', type: 'none' } },
  PodDhcpOptionsInvalid: pod('dhcp-v4-options', 'nonsense=1'),
  PodIpFamilyInvalid: pod('ip_family', 'ipv5'),
  PodIpPoolInvalid: pod('ip_pool', '10.16.0.1,nonsense'),
  PodMacAddressInvalid: pod('mac_address', 'none'),
  PodNicTypeInvalid: pod('pod_nic_type', 'none'),
  PodPortVipsInvalid: pod('port_vips', 'none'),
  PodQosInvalid: pod('loss', '101'),
  PodRateInvalid: pod('ingress_rate', 'fast'),
  PodRoutesInvalid: pod('routes', '{}'),
  PodSecurityGroupsInvalid: pod('security_groups', 'A B'),
  PodSwitchInvalid: pod('port_security', 'perhaps'),
  SubnetAllowSubnetsInvalid: subnet({ private: true, allowSubnets: ['10.0.0.0'] }),
  SubnetCidrComesOrGoes: subnet({ vlan: 'v100' }, { before: { vlan: 'v100', cidrBlock: '' } }),
  SubnetExternalEgressGatewayInvalid: subnet({ externalEgressGateway: 'none' }),
  SubnetGatewayNodeInvalid: subnet({ gatewayNode: ':10.0.0.1' }),
  SubnetGatewayTypeInvalid: subnet({ gatewayType: 'none' }),
  SubnetMacOnlyWithAddresses: subnet({ cidrBlock: '', vlan: 'v100', gateway: '10.70.0.1' }),
  SubnetMtuInvalid: subnet({ mtu: 1 }),
  SubnetNameTooLong: subnet({}, { name: 'n'.repeat(64) }),
  SubnetNamedAsVpc: subnet({}, { name: 'blue' }),
  SubnetNatOutgoingPolicyRuleInvalid: subnet({ natOutgoingPolicyRules: [{ action: 'none' }] }),
  SubnetOverlayOnlyWithoutU2o: subnet({ u2oFeatures: { overlayOnlyRouting: true } }),
  SubnetProtocolInvalid: subnet({ protocol: 'IPv5' }),
  SubnetRoutingTableTaken: subnet({ externalEgressGateway: '172.18.0.9', policyRoutingTableID: 1001 }),
  SubnetSelectorInvalid: subnet({ namespaceSelectors: [{ matchExpressions: [{ key: 'a', operator: 'None' }] }] }),
  SubnetU2oIpInvalid: subnet({ vlan: 'v100', u2oInterconnection: true, u2oInterconnectionIP: '10.71.0.1' }),
  SubnetU2oWithLogicalGateway: subnet({ vlan: 'v100', u2oInterconnection: true, logicalGateway: true }),
  SubnetVipInvalid: subnet({ vips: ['10.71.0.9'] }),
  VipAddressInvalid: vip({ v4ip: '10.16' }),
  VipMacInvalid: vip({ macAddress: 'none' }),
  VipSelectorInvalid: vip({ selector: ['none'] }),
  VipSubnetMissing: vip({ subnet: '' }),
  VipTypeInvalid: vip({ type: 'none' }),
  VpcBfdPortInvalid: { resource: 'vpcs', spec: { bfdPort: { enabled: true, ip: 'none' } } },
};

/** The reasons that the webhook gives for the object, and those of its conditions and Events after it is stored. */
function reasonsOf(attempt: Attempt): ReadonlySet<string> {
  const { resource, name = 'new', spec, annotations = {} } = attempt;
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('egress', { cidrBlock: '10.72.0.0/24', externalEgressGateway: '172.18.0.1', policyRoutingTableID: 1001 });
  bench.converge();
  const denials = denialsOf(scene, attempt);
  const { namespaced } = traitsOf(resource);
  const namespace = namespaced ? 'shop' : '';
  bench.put(resource, { metadata: { name, annotations, ...(namespaced && { namespace }) }, spec });
  bench.converge();
  const stored = JSON.stringify(bench.object(resource, namespaced ? `${namespace}/${name}` : name) ?? {}, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  ).replaceAll('\\', '');
  const conditions = [...stored.matchAll(/"reason":"(\w+)"/g)].map(([, reason = '']) => reason);
  return new Set([...denials, ...conditions, ...bench.events.map(({ reason }) => reason)]);
}

/** The reasons that the webhook gives. */
function denialsOf({ bench }: PodScene, { resource, name = 'new', spec, annotations = {}, before }: Attempt): readonly string[] {
  const { group, version, plural, kind, namespaced } = traitsOf(resource);
  const namespace = namespaced ? 'shop' : '';
  const metadata = { name, uid: 'uid-new', creationTimestamp: '2026-01-01T00:00:00Z', annotations, ...(namespaced && { namespace }) };
  const object = { metadata, spec } as unknown as ReviewedObject;
  const result = validateRequest(
    {
      ...{ uid: 'u', group, version, resource: plural, kind, subresource: '', namespace, name, dryRun: false, user: 'somebody' },
      ...{ fieldManager: '', preconditionUid: '', operation: before === undefined ? 'CREATE' : 'UPDATE', object },
      oldObject: before === undefined ? undefined : { metadata, spec: before },
    },
    { world: bench.world, complete: true, checkRequest: (request) => bench.allocation.check(request) },
    () => undefined,
  );
  return result.denials.map(({ code }) => code);
}

for (const [reason, attempt] of Object.entries(ATTEMPTS))
  test(`${reason} is what a user meets`, () => {
    const found = reasonsOf(attempt);
    assert.ok(found.has(reason), [...found].join(', '));
  });

/** Reasons that need more than one object. */
const HISTORIES: Partial<Readonly<Record<Reason, () => void>>> = {
  SwitchPending: () => {
    const { bench } = withSubnet();
    bench.step();
    assert.equal(bench.condition('subnets', 'new', 'Ready')?.reason, 'SwitchPending');
    bench.converge();
    assert.equal(bench.condition('subnets', 'new', 'Ready')?.status, 'True');
  },
  RouterPortPending: () => {
    const { bench } = withSubnet();
    bench.converge();
    bench.removeNamedRow('Logical_Router_Port', 'ovn-cluster-new');
    bench.step();
    const { status, reason } = bench.condition('subnets', 'new', 'Ready') ?? {};
    assert.deepEqual([status, reason], ['False', 'RouterPortPending']);
    bench.converge();
    assert.equal(bench.condition('subnets', 'new', 'Ready')?.status, 'True');
  },
  SubnetMaskInUse: () => {
    const edit = subnet(
      { cidrBlock: '10.70.0.0/25', namespaces: ['shop'] },
      { before: { cidrBlock: '10.70.0.0/24', namespaces: ['shop'] } },
    );
    const scene = withPod();
    assert.ok(denialsOf(scene, edit).includes('SubnetMaskInUse'));
    scene.bench.edit('subnets', 'new', edit.spec);
    scene.bench.converge();
    assert.equal(scene.bench.condition('subnets', 'new', 'Accepted')?.reason, 'SubnetMaskInUse');
  },
  SubnetMtuInUse: () => {
    const edit = subnet({ mtu: 1300, namespaces: ['shop'] }, { before: { cidrBlock: '10.70.0.0/24', namespaces: ['shop'] } });
    const scene = withPod();
    assert.ok(denialsOf(scene, edit).includes('SubnetMtuInUse'));
    scene.bench.edit('subnets', 'new', edit.spec);
    scene.bench.converge();
    assert.equal(scene.bench.condition('subnets', 'new', 'Accepted')?.reason, 'SubnetMtuInUse');
  },
  RouterPending: () => {
    const { bench } = withVpc();
    bench.step();
    assert.equal(bench.condition('vpcs', 'new', 'Ready')?.reason, 'RouterPending');
  },
  RouterReady: () => {
    const { bench } = withVpc();
    bench.converge();
    const { status, reason } = bench.condition('vpcs', 'new', 'Ready') ?? {};
    assert.deepEqual([status, reason], ['True', 'RouterReady']);
  },
  LeaseRuns: () => {
    const { bench } = withLease();
    const { annotations } = bench.object('ips', 'web.shop')?.metadata ?? {};
    assert.match(annotations?.['kiln.io/conditions'] ?? '', /"reason":"LeaseRuns"/);
  },
  LeaseEnded: () => {
    const { bench } = withLease();
    bench.passTo(Date.parse('2026-01-02T01:00:00Z'));
    bench.converge();
    assert.equal(bench.object('ips', 'web.shop'), undefined);
    assert.ok(bench.events.some(({ object, reason }) => object === 'ips/web.shop' && reason === 'LeaseEnded'));
  },
};

function withVpc(): PodScene {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'new' } });
  return scene;
}

function withSubnet(): PodScene {
  const scene = new PodScene();
  scene.subnet('new', { cidrBlock: '10.70.0.0/24', namespaces: ['shop'] });
  return scene;
}

function withPod(): PodScene {
  const scene = withSubnet();
  scene.bench.converge();
  scene.pod('web');
  scene.bench.converge();
  return scene;
}

/** An address that nothing uses, reserved for a day. */
function withLease(): PodScene {
  const scene = new PodScene();
  scene.bench.put('ips', {
    metadata: { name: 'web.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' }, annotations: { 'kiln.io/lease': '24h' } },
    spec: { podName: 'web', namespace: 'shop', subnet: 'ovn-default', podType: '', ipAddress: '10.16.0.9' },
  });
  scene.bench.converge();
  return scene;
}

for (const [reason, history] of Object.entries(HISTORIES)) test(`${reason} is what a user meets in time`, history);

const root = new URL('../../', import.meta.url);
const read = (patterns: readonly string[], leaves: RegExp): string =>
  globSync([...patterns], { cwd: root.pathname })
    .filter((file) => !leaves.test(file))
    .map((file) => readFileSync(new URL(file, root), 'utf8'))
    .join('\n');
const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/\w+/g));

const PRODUCT = wordsOf(read(['src/**/*.ts'], /\.test\.ts$|\/testing\/|^src\/api\/reasons\.ts$|^src\/(kube|ovsdb)\/errors\.ts$/));
/** Tests of parts that do not make a reason themselves: what they assert was put in. */
const APART = /^src\/(?:api|diff|world|testing|runtime)\/|^test\/conformance\/(?:re(?:asons|ference)|asserted-words)\.test\.ts$/;
const TESTS = wordsOf(read(['src/**/*.test.ts', 'test/**/*.ts'], /^src\/api\/|^test\/conformance\/re(asons|ference)\.test\.ts$/));
const ASSERTED: ReadonlySet<string> = new Set(
  globSync(['src/**/*.test.ts', 'test/**/*.ts'], { cwd: root.pathname })
    .filter((file) => !APART.test(file))
    .flatMap((file) => [...assertedWords(readFileSync(new URL(file, root), 'utf8'))]),
);

test('each reason of the reference is emitted somewhere, and asserted by a test', () => {
  const reasons = Object.keys(REASONS);
  assert.deepEqual(
    reasons.filter((reason) => !PRODUCT.has(reason)),
    [],
    'nothing emits these: take them out of src/api/reasons.ts',
  );
  assert.deepEqual(
    reasons.filter((reason) => !ASSERTED.has(reason) && !(reason in ATTEMPTS) && !(reason in HISTORIES)),
    [],
    'no test produces these: add an attempt here',
  );
});

test('each error code of the reference is met by a test', () => {
  const codes = Object.keys({ ...kubeErrorCodes, ...errorCodes });
  assert.deepEqual(
    codes.filter((code) => !TESTS.has(code)),
    [],
    'no test meets these',
  );
});
