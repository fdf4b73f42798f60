/**
 * Mistakes of users, case by case: the condition and the Event name field, value and rule; other objects are not affected; the corrected
 * object works.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../testing/pod-scene.ts';
import type { ResourceName } from '../world/resources.ts';
import { objectId } from './output.ts';
import type { PatchOutput } from './output.ts';

interface Mistake {
  readonly resource: ResourceName;
  readonly name: string;
  readonly spec: object;
  readonly condition: readonly [type: string, status: string, reason: string];
  readonly says: readonly string[];
  readonly corrected: object;
  readonly after: readonly [status: string, reason: string];
  /** For a Subnet that takes effect without the wrong items: the matches of its ACLs. */
  readonly rows?: readonly string[];
  /** Likewise, lease time, DNS servers and domain in its DHCP options. */
  readonly dhcp?: readonly unknown[];
}

const invalid = ['Accepted', 'False'] as const;
const accepted = ['True', 'Accepted'] as const;
const subnet = (spec: object, reason: string, says: readonly string[], corrected: object): Mistake => ({
  resource: 'subnets',
  name: 'bad',
  spec: { vpc: 'blue', cidrBlock: '10.2.0.0/24', ...spec },
  condition: [...invalid, reason],
  says,
  corrected,
  after: accepted,
});
const acl = (match: string): object => ({ direction: 'to-lport', action: 'drop', match, priority: 1 });
const vpc = (spec: object, reason: string, says: readonly string[], corrected: object): Mistake => ({
  resource: 'vpcs',
  name: 'bad',
  spec,
  condition: [...invalid, reason],
  says,
  corrected,
  after: accepted,
});

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'CIDRs that overlap in a Vpc': subnet(
    { cidrBlock: '10.1.0.128/25' },
    'SubnetCidrOverlap',
    ['spec.cidrBlock', '"10.1.0.128/25"', '10.1.0.0/24 of Subnet net', 'networks of one Vpc (blue) and Vlan must be apart'],
    { cidrBlock: '10.2.0.128/25', gateway: '10.2.0.129', excludeIps: [] },
  ),
  'an invalid CIDR': subnet(
    { cidrBlock: '10.2.0.0/33' },
    'SubnetCidrInvalid',
    ['spec.cidrBlock', '"10.2.0.0/33"', 'spec.cidrBlock is an IPv4 or IPv6 network'],
    { cidrBlock: '10.2.0.0/24' },
  ),
  'several invalid fields, each named': subnet(
    { gateway: '10.3.0.1', excludeIps: ['10.2.0.9..10.2.0.3'], gatewayType: 'central', acls: [acl('ip4 and tcp')] },
    'SubnetGatewayInvalid',
    [
      'spec.gateway "10.3.0.1"',
      'spec.excludeIps[0] "10.2.0.9..10.2.0.3"',
      'spec.gatewayType "central"',
      'spec.acls[0].match "ip4 and tcp"',
    ],
    { gateway: '10.2.0.1', excludeIps: ['10.2.0.1'], gatewayType: 'distributed', acls: [] },
  ),
  'more findings than the message names': subnet(
    { excludeIps: Array.from({ length: 14 }, (_, i) => `10.2.0.99..10.2.0.${i}`) },
    'SubnetExcludeIpsInvalid',
    ['spec.excludeIps[0]', 'spec.excludeIps[9] "10.2.0.99..10.2.0.9"', '. And 4 more'],
    { excludeIps: ['10.2.0.1'] },
  ),
  'a gateway outside': subnet(
    { gateway: '10.3.0.1' },
    'SubnetGatewayInvalid',
    ['spec.gateway', '"10.3.0.1"', 'spec.gateway must lie in the Subnet'],
    { gateway: '10.2.0.1' },
  ),
  'a range whose end is before its begin': subnet(
    { excludeIps: ['10.2.0.9..10.2.0.3'] },
    'SubnetExcludeIpsInvalid',
    ['spec.excludeIps[0]', '"10.2.0.9..10.2.0.3"', 'written first..last'],
    { excludeIps: ['10.2.0.3..10.2.0.9'] },
  ),
  'a missing Vpc': {
    ...subnet({ vpc: 'nowhere' }, '', ['spec.vpc "nowhere" names a Vpc that does not exist', 'it must name one'], { vpc: 'blue' }),
    condition: ['Ready', 'False', 'VpcMissing'],
    after: ['True', 'ResetLogicalSwitchAclSuccess'],
  },
  'a Subnet for a Vpc': {
    ...subnet({ vpc: 'net' }, '', ['spec.vpc "net" names a Vpc that does not exist', 'it must name one'], { vpc: 'blue' }),
    condition: ['Ready', 'False', 'VpcMissing'],
    after: ['True', 'ResetLogicalSwitchAclSuccess'],
  },
  'a zero byte in a match': {
    ...subnet(
      { acls: [acl('ip4\0')] },
      'SubnetAclInvalid',
      ['spec.acls[0].match', '"ip4\\u0000"', 'has a zero byte', 'OVN accepts no such text'],
      { acls: [acl('ip4')] },
    ),
    rows: [],
  },
  'a match in another syntax': {
    ...subnet(
      { acls: [acl('ip4 and tcp.dst == 80'), acl('tcp.dst == 80')] },
      'SubnetAclInvalid',
      [
        'spec.acls[0].match',
        '"ip4 and tcp.dst == 80"',
        'at character 5 (and)',
        'expected && or || or the end of the match',
        'kubectl edit subnet bad',
      ],
      { acls: [acl('ip4 && tcp.dst == 80'), acl('tcp.dst == 80')] },
    ),
    rows: ['tcp.dst == 80'],
  },
  'half a letter in DHCP options': {
    ...subnet(
      { dhcpV4Options: 'hostname=\ud83d' },
      'SubnetOptionsInvalid',
      ['spec.dhcpV4Options', '"hostname=\\ud83d"', 'OVN accepts no such text'],
      { dhcpV4Options: '' },
    ),
    rows: [],
  },
  'a DHCP option that OVN does not know, and a number in quotation marks': {
    ...subnet(
      { enableDHCP: true, dhcpV4Options: 'lease_time=60,dns=8.8.8.8,mtu="1400",domain_name=example.com' },
      'SubnetOptionsInvalid',
      [
        'spec.dhcpV4Options',
        '"dns=8.8.8.8"',
        'no DHCPv4 option of OVN is named dns',
        'the value of mtu is not accepted by OVN: expected a number or an address',
        'kubectl edit subnet bad',
      ],
      { dhcpV4Options: 'lease_time=60,dns_server=8.8.8.8;1.1.1.1,domain_name="example.com"' },
    ),
    rows: [],
    dhcp: ['60', undefined, '"example.com"'],
  },
  'a router advertisement with an invalid mode': {
    ...subnet(
      { cidrBlock: 'fd00:2::/64', enableIPv6RA: true, ipv6RAConfigs: 'address_mode=auto,send_periodic=true' },
      'SubnetOptionsInvalid',
      ['spec.ipv6RAConfigs', '"address_mode=auto"', 'slaac, dhcpv6_stateful or dhcpv6_stateless'],
      { ipv6RAConfigs: 'address_mode=slaac' },
    ),
    rows: [],
  },
  'a policy route with a zero byte': vpc(
    { policyRoutes: [{ action: 'drop', match: 'ip4\0', priority: 1 }] },
    'VpcPolicyRouteInvalid',
    ['spec.policyRoutes[0].match', '"ip4\\u0000"', 'OVN accepts no such text'],
    { policyRoutes: [] },
  ),
  'a policy route with an exclusion that OVN does not support': vpc(
    { policyRoutes: [{ action: 'drop', match: 'ip4.src == 10.0.0.0/8 && !tcp', priority: 1 }] },
    'VpcPolicyRouteInvalid',
    ['spec.policyRoutes[0].match', 'at character 27 (tcp)', 'OVN has no !tcp'],
    { policyRoutes: [{ action: 'drop', match: 'ip4.src == 10.0.0.0/8 && udp', priority: 1 }] },
  ),
  'a static route to no address': vpc(
    { staticRoutes: [{ cidr: '10.9.0.0/16', nextHopIP: 'there' }] },
    'VpcStaticRouteInvalid',
    ['spec.staticRoutes[0].nextHopIP', '"there"', 'a route needs one address to send to'],
    { staticRoutes: [] },
  ),
  'a pool with a range whose end is before its begin': {
    resource: 'ippools',
    name: 'bad',
    spec: { subnet: 'net', ips: ['10.1.0.30..10.1.0.20'] },
    condition: ['Ready', 'False', 'UpdateIPAMFailed'],
    says: ['spec.ips[0]', '"10.1.0.30..10.1.0.20"'],
    corrected: { ips: ['10.1.0.20..10.1.0.30'] },
    after: ['True', 'UpdateIPAMSucceeded'],
  },
};

function matches({ bench }: PodScene, subnet: string): readonly unknown[] {
  const ids = bench.row('Logical_Switch', subnet)?.['acls'] as readonly string[];
  return ids.map((id) => bench.row('ACL', id.slice(id.indexOf('/') + 1))?.['match']);
}

function dhcpOptions({ bench }: PodScene, subnet: string): readonly unknown[] {
  const options = bench.map('DHCP_Options', `${subnet}|IPv4|`, 'options');
  return [options['lease_time'], options['dns_server'], options['domain_name']];
}

function scene(): PodScene {
  const made = new PodScene();
  made.bench.put('vpcs', { metadata: { name: 'blue' } });
  made.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  made.bench.converge();
  return made;
}

for (const [what, { resource, name, spec, condition, says, corrected, after, rows, dhcp }] of Object.entries(MISTAKES))
  test(`${what}: reported, other objects keep working, and it works once corrected`, () => {
    const made = scene();
    const { bench } = made;
    const [type, status, reason] = condition;
    bench.put(resource, { metadata: { name }, spec });
    bench.converge();
    const found = bench.condition(resource, name, type);
    const message = found?.message ?? '';
    assert.deepEqual([found?.status, found?.reason], [status, reason], message);
    for (const part of says) assert.ok(message.includes(part), `${part}: ${message}`);
    assert.equal(bench.events.filter((event) => event.object === `${resource}/${name}` && event.message === message).length, 1);
    assert.ok(!message.includes('\0'));
    if (dhcp !== undefined) assert.deepEqual(dhcpOptions(made, name), dhcp);
    if (rows !== undefined) assert.deepEqual(matches(made, name), rows);
    else if (resource === 'subnets') assert.equal(bench.row('Logical_Switch', name), undefined, 'no half-made network');
    const { writes } = bench;
    bench.converge();
    assert.equal(bench.writes, writes, 'it writes no more');

    made.pod('web');
    bench.converge();
    assert.match(made.addressOf('shop/web') ?? '', /^10\.1\.0\./, 'others go on');

    bench.edit(resource, name, corrected);
    bench.converge();
    const now = bench.condition(resource, name, type);
    assert.deepEqual([now?.status, now?.reason], after, now?.message);
    if (resource === 'subnets') assert.notEqual(bench.row('Logical_Switch', name), undefined);
  });

test('host bits are cleared, and reported with field, value and rule; a network without host bits has no report', () => {
  const { bench } = scene();
  bench.put('subnets', { metadata: { name: 'bits' }, spec: { vpc: 'blue', cidrBlock: '10.2.3.4/16,fd00::5/64' } });
  bench.put('subnets', { metadata: { name: 'clean' }, spec: { vpc: 'blue', cidrBlock: '10.3.0.0/16' } });
  bench.converge();
  assert.equal(bench.object('subnets', 'bits')?.spec['cidrBlock'], '10.2.0.0/16,fd00::/64');
  assert.equal(bench.condition('subnets', 'bits', 'Ready')?.status, 'True');
  assert.deepEqual(
    bench.events.filter(({ reason }) => reason === 'HostBitsCleared'),
    [
      {
        object: 'subnets/bits',
        type: 'Warning',
        reason: 'HostBitsCleared',
        message:
          'Subnet bits: spec.cidrBlock "10.2.3.4/16,fd00::5/64" has bits set beyond the prefix: 10.2.3.4,fd00::5 is an address; ' +
          'a Subnet has a network, so it is taken as 10.2.0.0/16,fd00::/64',
      },
    ],
  );
});

test('a correction is reported by a condition before it is made, and the condition is removed with the next edit', () => {
  const { bench } = scene();
  const wrong = { metadata: { name: 'bits' }, spec: { vpc: 'blue', cidrBlock: '10.2.3.4/16' } };
  bench.put('subnets', wrong);
  bench.compile();
  const first = bench.desired.objects.of(objectId('subnets', 'bits')).filter((output): output is PatchOutput => output.kind === 'patch');
  assert.ok(
    first.some(({ conditions = [] }) => conditions.some(({ type }) => type === 'Corrected')),
    'it is reported',
  );
  assert.ok(
    first.every(({ spec }) => spec?.['cidrBlock'] === undefined),
    'and not made in the same turn: both writes would have one resourceVersion, and the server would accept only one',
  );
  bench.converge();
  const held = bench.condition('subnets', 'bits', 'Corrected');
  assert.deepEqual([held?.status, held?.reason], ['True', 'HostBitsCleared']);
  assert.match(
    held?.message ?? '',
    /^Subnet bits: spec\.cidrBlock "10\.2\.3\.4\/16" has bits set beyond the prefix: .* taken as 10\.2\.0\.0\/16$/,
  );
  const now = bench.object('subnets', 'bits');
  const generation = now?.metadata.generation ?? 0;
  const at = (observedGeneration: number) => ({
    ...now?.status,
    conditions: [{ ...held, observedGeneration }],
  });
  const right = { ...wrong, spec: { ...now?.spec } };
  // This put makes a new generation.
  bench.put('subnets', { ...right, status: at(generation) });
  bench.converge();
  assert.equal(bench.condition('subnets', 'bits', 'Corrected')?.status, 'True', 'the correction itself is the next generation');
  bench.put('subnets', { ...right, spec: { ...right.spec, mtu: 1300 }, status: at(generation) });
  bench.converge();
  assert.equal(bench.condition('subnets', 'bits', 'Corrected'), undefined);
});

test('a protocol that differs from the CIDR, and a second default Subnet, are corrected and reported', () => {
  const { bench } = scene();
  bench.put('subnets', { metadata: { name: 'odd' }, spec: { vpc: 'blue', cidrBlock: '10.4.0.0/16', protocol: 'IPv6', default: true } });
  bench.put('subnets', { metadata: { name: 'plain' }, spec: { vpc: 'blue', cidrBlock: '10.5.0.0/16', protocol: 'IPv4', default: false } });
  bench.converge();
  const { protocol, default: isDefault } = bench.object('subnets', 'odd')?.spec ?? {};
  assert.deepEqual([protocol, isDefault], ['IPv4', false]);
  assert.deepEqual(
    bench.events.filter(({ reason }) => reason === 'FieldCorrected').map(({ object, message }) => [object, message]),
    [
      [
        'subnets/odd',
        'Subnet odd: spec.protocol "IPv6" is not that of its networks; the protocol follows from spec.cidrBlock, so Kiln sets it to IPv4. ' +
          'Subnet odd: spec.default "true" is of another Subnet; a cluster has one default Subnet, which the setting default-ls names, so Kiln sets it to false',
      ],
    ],
  );
});

test('a NetworkAttachmentDefinition that is no JSON: an Event on it, a condition on the attached pod, which runs after the correction', () => {
  const made = scene();
  const { bench } = made;
  made.attachment('shop/odd', { config: '{"type":' });
  made.attachment('shop/list', { config: '[1]' });
  made.pod('attached', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'odd' } });
  made.pod('other');
  bench.converge();
  const condition = bench.condition('pods', 'shop/attached', 'kiln.io/NetworkBound');
  assert.deepEqual([condition?.status, condition?.reason], ['False', 'InvalidNetwork']);
  const message = condition?.message ?? '';
  assert.match(message, /^NetworkAttachmentDefinition shop\/odd: spec\.config "\{"type":" is not JSON; it is a CNI configuration/);
  const reported = bench.events.filter(({ reason }) => reason === 'InvalidNetwork');
  assert.deepEqual(
    reported
      .filter((event) => event.message === message)
      .map(({ object }) => object)
      .toSorted(),
    ['network-attachment-definitions/shop/odd', 'pods/shop/attached'],
  );
  const kept = bench.conditions('network-attachment-definitions', 'shop/odd');
  assert.deepEqual(
    kept.map((one) => [one.type, one.message]),
    [['Accepted', message]],
    'and a condition, which outlives the Event',
  );
  const list = reported.find(({ object }) => object === 'network-attachment-definitions/shop/list');
  assert.match(list?.message ?? '', /spec\.config "\[1\]" is JSON, but no object; it is a CNI configuration/);
  assert.notEqual(made.addressOf('shop/other'), undefined);
  made.attachment('shop/odd', { config: '{"cniVersion":"0.3.0","type":"macvlan"}' });
  bench.converge();
  assert.notEqual(made.addressOf('shop/attached'), undefined);
});

test('a NetworkAttachmentDefinition with a field of a wrong type: an Event names it, and the attached pod gets its address all the same', () => {
  const made = scene();
  made.subnet('second', { vpc: 'blue', cidrBlock: '10.5.0.0/24', provider: 'odd.shop.ovn' });
  made.attachment('shop/odd', { config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":5}' });
  made.pod('attached', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'odd' } });
  made.bench.converge();
  assert.deepEqual(
    made.bench.events.filter(({ reason }) => reason === 'InvalidNetwork').map(({ object, message }) => [object, message]),
    [
      [
        'network-attachment-definitions/shop/odd',
        'NetworkAttachmentDefinition shop/odd: spec.config.provider "5" is a number; a plugin reads a text there; kubectl edit net-attach-def -n shop odd',
      ],
    ],
  );
  assert.match(
    made.bench.object('pods', 'shop/attached')?.metadata.annotations?.['odd.shop.ovn.kubernetes.io/ip_address'] ?? '',
    /^10\.5\./,
  );
});
