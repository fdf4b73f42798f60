import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../../api/well-known.ts';
import { NatScene } from '../../testing/nat-scene.ts';
import type { NatSceneOptions } from '../../testing/nat-scene.ts';

const DUAL = { inside: '10.5.0.0/24,fd05::/64', external: '172.20.0.0/24,fd20::/64' };

/** With pod shop/web and OvnEip `e1`. */
function scene(options: NatSceneOptions = {}): NatScene {
  const made = new NatScene(options);
  made.pods.pod('web');
  made.bench.converge();
  made.eip('e1');
  return made;
}

function nat(made: NatScene): readonly unknown[] {
  return made.bench.rows('NAT').map((row) => [row['type'], row['external_ip'], row['logical_ip']]);
}

test('an OvnFip of a pod: its row with ownership, its status, labels and annotation; nothing remains after its deletion', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop', type: 'distributed' });
  const mac = bench.object('ips', 'web.shop')?.spec['macAddress'];
  const [row] = bench.rows('NAT');
  assert.deepEqual([row?.['type'], row?.['external_ip'], row?.['logical_ip']], ['dnat_and_snat', '172.20.0.3', '10.5.0.2']);
  assert.deepEqual([row?.['logical_port'], row?.['external_mac'], row?.['options']], ['web.shop', mac, { stateless: 'true' }]);
  assert.deepEqual(bench.list('Logical_Router', 'blue', 'nat').length, 1);
  const keys = row?.['external_ids'] as Readonly<Record<string, string>>;
  assert.deepEqual([keys['vendor'], keys['kiln.io/owner']], ['kube-ovn', 'ovnfip//f1']);
  const { metadata, status } = bench.object('ovn-fips', 'f1') ?? assert.fail();
  assert.deepEqual(metadata.finalizers, [FINALIZER]);
  assert.equal(metadata.labels?.['ovn.kubernetes.io/eip_v4_ip'], '172.20.0.3');
  assert.equal(metadata.annotations?.['ovn.kubernetes.io/vpc_eip'], 'e1');
  const { conditions, ...fields } = status ?? {};
  assert.ok(conditions);
  assert.deepEqual(fields, { ready: true, vpc: 'blue', v4Eip: '172.20.0.3', v6Eip: '', v4Ip: '10.5.0.2', v6Ip: '', macAddress: mac });
  assert.equal(bench.condition('ovn-fips', 'f1', 'Ready')?.reason, 'Translated');
  assert.equal(bench.object('ovn-eips', 'e1')?.status?.['nat'], 'fip');
  assert.equal(bench.writesAfterRestart(), 0);
  // The EIP waits for the rule.
  bench.delete('ovn-eips', 'e1');
  bench.converge();
  assert.match(bench.condition('ovn-eips', 'e1', 'DeletionBlocked')?.message ?? '', /OvnFip f1/);
  bench.delete('ovn-fips', 'f1');
  bench.converge();
  assert.deepEqual([nat(made), bench.object('ovn-fips', 'f1'), bench.object('ovn-eips', 'e1')], [[], undefined, undefined]);
  assert.equal(String(bench.object('subnets', 'external')?.status?.['v4usingIPs']), '1');
});

test('a centralized OvnFip has no MAC in its row, else OVN would distribute it (Kube-OVN writes one)', () => {
  const made = scene();
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop', type: 'centralized' });
  const [row] = made.bench.rows('NAT');
  assert.deepEqual([row?.['logical_port'], row?.['external_mac'], row?.['options']], ['web.shop', null, { stateless: 'false' }]);
});

test('an OvnSnatRule of a Subnet, of a network and of a pod', () => {
  const made = scene();
  made.eip('e2');
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpcSubnet: 'inside' });
  made.put('ovn-snat-rules', 's2', { ovnEip: 'e1', vpc: 'blue', v4IpCidr: '10.9.0.0/16' });
  made.put('ovn-snat-rules', 's3', { ovnEip: 'e2', ipName: 'web.shop' });
  assert.deepEqual(nat(made), [
    ['snat', '172.20.0.3', '10.5.0.0/24'],
    ['snat', '172.20.0.3', '10.9.0.0/16'],
    ['snat', '172.20.0.4', '10.5.0.2'],
  ]);
  const { conditions, ...status } = made.bench.object('ovn-snat-rules', 's1')?.status ?? {};
  assert.ok(conditions);
  assert.deepEqual(status, { ready: true, vpc: 'blue', v4Eip: '172.20.0.3', v6Eip: '', v4IpCidr: '10.5.0.0/24', v6IpCidr: '' });
  assert.equal(made.bench.writesAfterRestart(), 0);
});

test('an OvnDnatRule has the load balancer of its name in the router, and takes it away', () => {
  const made = scene(DUAL);
  const { bench } = made;
  made.put('ovn-dnat-rules', 'd1', { ovnEip: 'e1', ipName: 'web.shop', protocol: 'UDP', externalPort: '5353', internalPort: '53' });
  const row = bench.row('Load_Balancer', 'd1');
  assert.deepEqual([row?.['protocol'], row?.['options']], ['udp', { ct_flush: 'true' }]);
  assert.deepEqual(row?.['vips'], { '172.20.0.3:5353': '10.5.0.2:53', '[fd20::3]:5353': '[fd05::2]:53' });
  assert.ok(bench.list('Logical_Router', 'blue', 'load_balancer').includes('Load_Balancer/d1'));
  const { conditions, ...status } = bench.object('ovn-dnat-rules', 'd1')?.status ?? {};
  assert.ok(conditions);
  assert.deepEqual(status, {
    ...{ ready: true, vpc: 'blue', v4Eip: '172.20.0.3', v6Eip: 'fd20::3', v4Ip: '10.5.0.2', v6Ip: 'fd05::2' },
    ...{ protocol: 'udp', externalPort: '5353', internalPort: '53', ipName: 'web.shop' },
  });
  bench.delete('ovn-dnat-rules', 'd1');
  bench.converge();
  assert.equal(bench.row('Load_Balancer', 'd1'), undefined);
  assert.ok(!bench.list('Logical_Router', 'blue', 'load_balancer').includes('Load_Balancer/d1'));
  assert.equal(bench.object('ovn-dnat-rules', 'd1'), undefined);
});

test('dual stack: both families, and both go (Kube-OVN leaves the row of IPv6)', () => {
  const made = scene(DUAL);
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpcSubnet: 'inside' });
  assert.deepEqual(nat(made), [
    ['dnat_and_snat', '172.20.0.3', '10.5.0.2'],
    ['dnat_and_snat', 'fd20::3', 'fd05::2'],
    ['snat', '172.20.0.3', '10.5.0.0/24'],
    ['snat', 'fd20::3', 'fd05::/64'],
  ]);
  assert.deepEqual(
    [made.bench.object('ovn-fips', 'f1')?.status?.['v6Eip'], made.bench.object('ovn-fips', 'f1')?.status?.['v6Ip']],
    ['fd20::3', 'fd05::2'],
  );
  assert.equal(made.bench.object('ovn-fips', 'f1')?.metadata.labels?.['ovn.kubernetes.io/eip_v6_ip'], 'fd20--3');
  for (const [resource, name] of [
    ['ovn-fips', 'f1'],
    ['ovn-snat-rules', 's1'],
  ] as const)
    made.bench.delete(resource, name);
  made.bench.converge();
  assert.deepEqual(nat(made), []);
});

test('IPv6 alone: two OvnFips with EIPs without IPv4 do not exclude each other (with Kube-OVN the second one is refused)', () => {
  const made = scene({ inside: 'fd05::/64', external: 'fd20::/64' });
  made.pods.pod('api');
  made.eip('e2');
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
  made.put('ovn-fips', 'f2', { ovnEip: 'e2', ipName: 'api.shop' });
  assert.deepEqual(
    nat(made).map((row) => (row as readonly string[])[1]),
    ['fd20::3', 'fd20::4'],
  );
});

test('a Vip and an address in the spec are targets too', () => {
  const made = scene();
  made.eip('e2');
  made.put('vips', 'v1', { subnet: 'inside' });
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipType: 'vip', ipName: 'v1' });
  made.put('ovn-fips', 'f2', { ovnEip: 'e2', vpc: 'blue', v4Ip: '10.5.0.99' });
  assert.deepEqual(nat(made), [
    ['dnat_and_snat', '172.20.0.3', made.bench.object('vips', 'v1')?.status?.['v4ip']],
    ['dnat_and_snat', '172.20.0.4', '10.5.0.99'],
  ]);
});

test('edits of a rule in effect are carried out in place', () => {
  const made = scene();
  const { bench } = made;
  made.pods.pod('api');
  made.eip('e2');
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
  const edits = [
    [{ ovnEip: 'e2' }, '172.20.0.4', '10.5.0.2', 'false'],
    [{ ipName: 'api.shop' }, '172.20.0.4', '10.5.0.3', 'false'],
    [{ type: 'distributed' }, '172.20.0.4', '10.5.0.3', 'true'],
    [{ ipName: '', vpc: 'blue', v4Ip: '10.5.0.200' }, '172.20.0.4', '10.5.0.200', 'true'],
  ] as const;
  for (const [spec, external, inner, stateless] of edits) {
    bench.edit('ovn-fips', 'f1', spec);
    bench.converge();
    const [row, ...others] = bench.rows('NAT');
    assert.deepEqual([row?.['external_ip'], row?.['logical_ip'], row?.['options'], others], [external, inner, { stateless }, []]);
    assert.deepEqual(
      [bench.object('ovn-fips', 'f1')?.status?.['v4Eip'], bench.object('ovn-fips', 'f1')?.status?.['ready']],
      [external, true],
    );
  }
  made.put('ovn-dnat-rules', 'd1', { ovnEip: 'e1', ipName: 'web.shop', protocol: 'tcp', externalPort: '80', internalPort: '8080' });
  bench.edit('ovn-dnat-rules', 'd1', { protocol: 'udp', externalPort: '81', internalPort: '82', ipName: 'api.shop' });
  bench.converge();
  assert.deepEqual(
    [bench.row('Load_Balancer', 'd1')?.['protocol'], bench.row('Load_Balancer', 'd1')?.['vips']],
    ['udp', { '172.20.0.3:81': '10.5.0.3:82' }],
  );
  assert.equal(bench.object('ovn-dnat-rules', 'd1')?.status?.['externalPort'], '81');
});

test('two rules that translate the same: the older one is in effect, both say so, and the other follows when it is gone', () => {
  const made = scene();
  const { bench } = made;
  made.pods.pod('api');
  bench.converge();
  const port = { ovnEip: 'e1', protocol: 'tcp', externalPort: '80', internalPort: '80' };
  made.put('ovn-dnat-rules', 'd1', { ...port, ipName: 'web.shop' });
  bench.passTo(Date.now() + 5_000);
  made.put('ovn-dnat-rules', 'd2', { ...port, ipName: 'api.shop' });
  made.put('ovn-dnat-rules', 'd3', { ...port, protocol: 'udp', ipName: 'api.shop' });
  assert.match(
    bench.condition('ovn-dnat-rules', 'd2', 'Accepted')?.message ?? '',
    /OvnDnatRule d1 translates the same; of two such rules the one in effect stays/,
  );
  assert.match(
    bench.condition('ovn-dnat-rules', 'd1', 'NatConflict')?.message ?? '',
    /OvnDnatRule d2 waits for it, since OVN cannot translate both/,
  );
  assert.deepEqual([bench.object('ovn-dnat-rules', 'd2')?.status?.['ready'], bench.row('Load_Balancer', 'd2')], [false, undefined]);
  assert.equal(bench.object('ovn-dnat-rules', 'd3')?.status?.['ready'], true);
  bench.edit('ovn-dnat-rules', 'd1', { externalPort: '81' });
  bench.converge();
  assert.deepEqual(
    [bench.condition('ovn-dnat-rules', 'd1', 'NatConflict'), bench.condition('ovn-dnat-rules', 'd2', 'Accepted')],
    [undefined, undefined],
  );
  assert.equal(bench.object('ovn-dnat-rules', 'd2')?.status?.['ready'], true);
});

for (const [what, resource, spec, rule, fix] of [
  ['names no EIP', 'ovn-fips', { ovnEip: '' }, /spec\.ovnEip "" is empty/, { ovnEip: 'e1' }],
  [
    'names an unknown EIP',
    'ovn-fips',
    { ovnEip: 'e9' },
    /spec\.ovnEip "e9" names no OvnEip that exists; kubectl get ovn-eip e9/,
    { ovnEip: 'e1' },
  ],
  ['names an EIP of a node', 'ovn-fips', { ovnEip: 'lsp1' }, /"lsp1" has type lsp/, { ovnEip: 'e1' }],
  ['names an unknown IP', 'ovn-fips', { ipName: 'gone.shop' }, /spec\.ipName "gone\.shop" names no IP that exists/, { ipName: 'web.shop' }],
  ['names a Vip as an IP', 'ovn-fips', { ipName: 'v1' }, /names no IP that exists/, { ipType: 'vip' }],
  ['has no target', 'ovn-fips', { ipName: '' }, /spec\.ipName "" is empty/, { ipName: 'web.shop' }],
  ['has no Vpc', 'ovn-fips', { ipName: '', v4Ip: '10.5.0.9' }, /spec\.vpc "" is empty/, { vpc: 'blue' }],
  [
    'has the wrong Vpc',
    'ovn-fips',
    { vpc: 'outside' },
    /spec\.vpc "outside" is not the Vpc of spec\.ipName "web\.shop", which is blue/,
    { vpc: '' },
  ],
  ['has an unknown Vpc', 'ovn-fips', { ipName: '', v4Ip: '10.5.0.9', vpc: 'nowhere' }, /names no Vpc that exists/, { vpc: 'blue' }],
  ['has no address', 'ovn-fips', { v4Ip: '10.5.0.999' }, /spec\.v4Ip "10\.5\.0\.999" is no IPv4 address/, { v4Ip: '' }],
  ['has an unknown type', 'ovn-fips', { type: 'remote' }, /spec\.type "remote" is not known/, { type: '' }],
  [
    'is of another family',
    'ovn-fips',
    { ipName: '', vpc: 'blue', v6Ip: 'fd05::9' },
    /has 172\.20\.0\.3, and the rule translates fd05::9/,
    { ipName: 'web.shop', v6Ip: '' },
  ],
  [
    'is in a Vpc without external network',
    'ovn-fips',
    { ipName: '', vpc: 'outside', v4Ip: '10.6.0.9' },
    /is from Subnet external, which is inside of Vpc outside; .* name an OvnEip of such a Subnet/,
    { vpc: 'blue', v4Ip: '10.5.0.9' },
  ],
  [
    'has an unknown protocol',
    'ovn-dnat-rules',
    { protocol: 'icmp', externalPort: '1', internalPort: '1' },
    /spec\.protocol "icmp" is not known/,
    { protocol: 'tcp' },
  ],
  [
    'has no port',
    'ovn-dnat-rules',
    { protocol: 'tcp', externalPort: '70000', internalPort: '1' },
    /spec\.externalPort "70000" is no port/,
    { externalPort: '70' },
  ],
  [
    'translates an unknown Subnet',
    'ovn-snat-rules',
    { ipName: '', vpcSubnet: 'far' },
    /spec\.vpcSubnet "far" names no Subnet that exists/,
    { vpcSubnet: 'inside' },
  ],
] as const)
  test(`a rule that ${what} says so, has no rows, and takes effect as soon as that is mended`, () => {
    const made = scene();
    const { bench } = made;
    made.eip('lsp1', { type: 'lsp' });
    made.put('vips', 'v1', { subnet: 'inside' });
    made.put(resource, 'r1', { ovnEip: 'e1', ipName: 'web.shop', ...spec });
    assert.match(bench.condition(resource, 'r1', 'Accepted')?.message ?? '', rule);
    assert.ok(bench.events.some(({ object, message, type }) => object === `${resource}/r1` && type === 'Warning' && rule.test(message)));
    assert.deepEqual(
      [bench.rowIds('NAT'), bench.row('Load_Balancer', 'r1'), bench.object(resource, 'r1')?.status?.['ready']],
      [[], undefined, false],
    );
    bench.edit(resource, 'r1', fix);
    bench.converge();
    assert.deepEqual([bench.condition(resource, 'r1', 'Accepted'), bench.object(resource, 'r1')?.status?.['ready']], [undefined, true]);
    assert.equal(bench.writesAfterRestart(), 0);
  });

test('the reason of each rule that is not in effect', () => {
  const made = scene();
  made.eip('lsp1', { type: 'lsp' });
  made.eip('none', { v4Ip: '10.0.0.1' });
  const wrong = {
    f1: { ovnEip: '' },
    f2: { ovnEip: 'e9' },
    f3: { ovnEip: 'none' },
    f4: { ovnEip: 'lsp1' },
    f5: { ipName: 'gone.shop' },
    f6: { vpc: 'outside' },
    f7: { ipName: '', vpc: 'outside', v4Ip: '10.6.0.9' },
    f8: { ipName: '', vpc: 'blue', v6Ip: 'fd05::9' },
  };
  for (const [name, spec] of Object.entries(wrong)) made.put('ovn-fips', name, { ovnEip: 'e1', ipName: 'web.shop', ...spec });
  assert.deepEqual(
    Object.keys(wrong).map((name) => made.bench.condition('ovn-fips', name, 'Accepted')?.reason),
    [
      ...['NatRuleInvalid', 'EipMissing', 'EipPending', 'EipTypeInvalid'],
      ...['NatTargetMissing', 'NatVpcInvalid', 'VpcNotConnected', 'NatFamilyMismatch'],
    ],
  );
});

test('C05: a Vpc waits for the rules in effect, and the rules go also when the Vpc was removed by force', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpc: 'blue', v4IpCidr: '10.5.0.0/24' });
  made.put('ovn-dnat-rules', 'd1', {
    ovnEip: 'e1',
    vpc: 'blue',
    v4Ip: '10.5.0.9',
    protocol: 'tcp',
    externalPort: '80',
    internalPort: '80',
  });
  bench.delete('pods', 'shop/web');
  bench.delete('subnets', 'inside');
  bench.delete('vpcs', 'blue');
  bench.converge();
  assert.match(
    bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '',
    /OvnSnatRule s1.*OvnDnatRule d1|OvnDnatRule d1.*OvnSnatRule s1/,
  );
  assert.equal(nat(made).length, 1);
  bench.removeByForce('vpcs', 'blue');
  bench.converge();
  for (const [resource, name] of [
    ['ovn-snat-rules', 's1'],
    ['ovn-dnat-rules', 'd1'],
    ['ovn-eips', 'e1'],
  ] as const)
    bench.delete(resource, name);
  bench.converge();
  assert.deepEqual(
    [nat(made), bench.row('Load_Balancer', 'd1'), bench.keys('ovn-eips'), bench.keys('ovn-snat-rules')],
    [[], undefined, [], []],
  );
});

test('C66: an EIP that was removed by force stays booked, and translated, until its last rule is gone', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
  bench.removeByForce('ovn-eips', 'e1');
  bench.converge();
  made.eip('e2');
  assert.equal(bench.object('ovn-eips', 'e2')?.status?.['v4Ip'], '172.20.0.4');
  assert.deepEqual(nat(made), [['dnat_and_snat', '172.20.0.3', '10.5.0.2']]);
  assert.match(
    bench.condition('ovn-fips', 'f1', 'Accepted')?.message ?? '',
    /holds its address 172\.20\.0\.3, and translates it until it is deleted/,
  );
  bench.delete('ovn-fips', 'f1');
  bench.converge();
  assert.deepEqual(nat(made), []);
  made.eip('e3', { v4Ip: '172.20.0.3' });
  assert.equal(bench.object('ovn-eips', 'e3')?.status?.['v4Ip'], '172.20.0.3');
});

test('C63: a rule that is deleted before its rows exist leaves none, and its EIP is free at once', () => {
  const made = scene();
  const { bench } = made;
  bench.put('ovn-fips', { metadata: { name: 'f1' }, spec: { ovnEip: 'e1', ipName: 'web.shop' } });
  bench.step();
  bench.delete('ovn-fips', 'f1');
  bench.delete('ovn-eips', 'e1');
  bench.converge();
  assert.deepEqual([nat(made), bench.object('ovn-fips', 'f1'), bench.object('ovn-eips', 'e1')], [[], undefined, undefined]);
});

test('a pod that goes takes the row of its OvnFip with it, and the next pod of its name has another MAC', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop', type: 'distributed' });
  const first = bench.rows('NAT')[0]?.['external_mac'];
  bench.delete('pods', 'shop/web');
  bench.converge();
  assert.deepEqual([nat(made), bench.condition('ovn-fips', 'f1', 'Accepted')?.reason], [[], 'NatTargetMissing']);
  made.pods.pod('web', { annotations: { 'ovn.kubernetes.io/mac_address': '02:00:00:00:00:77' } });
  bench.converge();
  assert.notEqual(first, '02:00:00:00:00:77');
  assert.equal(bench.rows('NAT')[0]?.['external_mac'], '02:00:00:00:00:77');
});

test('without a gateway node the rows stay, and the rule says that its router has no port', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
  for (const name of ['gw1', 'gw2']) bench.delete('nodes', name);
  bench.converge();
  assert.equal(nat(made).length, 1);
  assert.deepEqual(
    [bench.object('ovn-fips', 'f1')?.status?.['ready'], bench.condition('ovn-fips', 'f1', 'Ready')?.reason],
    [false, 'ExternalPending'],
  );
  made.gatewayNode('gw1');
  bench.converge();
  assert.equal(bench.object('ovn-fips', 'f1')?.status?.['ready'], true);
});

test('a rule costs the same beside others: none of them runs again', () => {
  const scene = new NatScene();
  const { bench } = scene;
  const spec = (at: number): object => ({ vpc: 'blue', v4Ip: `10.5.0.${at}`, protocol: 'tcp', externalPort: '80', internalPort: '80' });
  const made = (at: number): number => {
    const runs = bench.world.reactor.runs;
    scene.eip(`cost-${at}`);
    scene.put('ovn-dnat-rules', `cost-${at}`, { ...spec(at), ovnEip: `cost-${at}` });
    return bench.world.reactor.runs - runs;
  };
  const [, second, third] = [made(21), made(22), made(23)];
  for (let at = 31; at < 51; at++) {
    bench.put('ovn-eips', { metadata: { name: `many-${at}` }, spec: { externalSubnet: 'external' } });
    bench.put('ovn-dnat-rules', { metadata: { name: `many-${at}` }, spec: { ...spec(at), ovnEip: `many-${at}` } });
  }
  bench.converge();
  assert.equal(bench.object('ovn-dnat-rules', 'many-50')?.status?.['ready'], true);
  assert.deepEqual([third, made(24)], [second, second]);
});

test('status.nat of an OvnEip has the kinds of rules that are in effect; a rule that is not is named, with the command that says why', () => {
  const made = new NatScene();
  made.eip('e1');
  const shown = (): readonly unknown[] => {
    const { status } = made.bench.object('ovn-eips', 'e1') ?? {};
    return [status?.['nat'], made.bench.condition('ovn-eips', 'e1', 'InUse')?.message];
  };
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'nowhere', v4Ip: '10.5.0.9' });
  const unserved = 'OvnEip e1: one NAT rule uses it: OvnFip f1; of these not in effect: OvnFip f1; kubectl describe ovn-fips.kubeovn.io f1';
  assert.deepEqual(shown(), ['', unserved]);
  made.bench.edit('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  made.bench.converge();
  assert.deepEqual(shown(), ['fip', 'OvnEip e1: one NAT rule uses it: OvnFip f1']);
  // One that loses against the first.
  made.put('ovn-dnat-rules', 'd1', {
    ovnEip: 'e1',
    vpc: 'blue',
    v4Ip: '10.5.0.9',
    internalPort: '80',
    externalPort: '80',
    protocol: 'nonsense',
  });
  made.put('ovn-fips', 'f2', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.10' });
  assert.deepEqual(shown(), [
    'fip',
    'OvnEip e1: 3 NAT rules use it: OvnDnatRule d1, OvnFip f1, OvnFip f2; of these not in effect: OvnDnatRule d1, OvnFip f2; kubectl describe ovn-dnat-rules.kubeovn.io d1',
  ]);
  assert.equal(made.bench.writesAfterRestart(), 0);
});
