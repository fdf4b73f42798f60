import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../../api/well-known.ts';
import { PodScene } from '../../testing/pod-scene.ts';

function scene(cidrBlock = '172.20.0.0/29'): PodScene {
  const made = new PodScene();
  made.subnet('ext', { cidrBlock, vpc: 'outside', provider: 'ovn' });
  made.bench.put('vpcs', { metadata: { name: 'outside' }, spec: {} });
  made.bench.converge();
  return made;
}

function eip(made: PodScene, name: string, spec: object = {}): void {
  made.bench.put('ovn-eips', { metadata: { name }, spec: { externalSubnet: 'ext', ...spec } });
  made.bench.converge();
}

function using(made: PodScene, family: 'v4' | 'v6' = 'v4'): readonly [string, string] {
  const status = made.bench.object('subnets', 'ext')?.status;
  return [String(status?.[`${family}usingIPs`]), String(status?.[`${family}usingIPrange`])];
}

test('an OvnEip is completed: addresses in spec, status and labels, a finalizer, and its Subnet counts it', () => {
  const made = scene();
  eip(made, 'e1');
  const { metadata, spec, status } = made.bench.object('ovn-eips', 'e1') ?? assert.fail();
  assert.deepEqual(metadata.finalizers, [FINALIZER]);
  assert.deepEqual(metadata.labels, {
    'ovn.kubernetes.io/subnet': 'ext',
    'ovn.kubernetes.io/ovn_eip_type': 'nat',
    'ovn.kubernetes.io/eip_v4_ip': '172.20.0.2',
    'ovn.kubernetes.io/eip_v6_ip': '',
  });
  assert.match(String(spec['macAddress']), /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
  assert.deepEqual(spec, { externalSubnet: 'ext', v4Ip: '172.20.0.2', v6Ip: '', macAddress: spec['macAddress'], type: 'nat' });
  assert.deepEqual(
    [status?.['v4Ip'], status?.['v6Ip'], status?.['macAddress'], status?.['type'], status?.['nat'], status?.['ready']],
    ['172.20.0.2', '', spec['macAddress'], 'nat', '', true],
  );
  assert.deepEqual(using(made), ['1', '172.20.0.2']);
});

test('a dual OvnEip has both families, and the label of IPv6 has dashes', () => {
  const made = scene('172.20.0.0/29,fd20::/120');
  eip(made, 'e1', { v6Ip: 'fd20::9' });
  assert.equal(made.bench.object('ovn-eips', 'e1')?.metadata.labels?.['ovn.kubernetes.io/eip_v6_ip'], 'fd20--9');
  assert.deepEqual(
    [using(made), using(made, 'v6')],
    [
      ['1', '172.20.0.2'],
      ['1', 'fd20::9'],
    ],
  );
});

test('an OvnEip that names no Subnet is from the external one of the settings, and waits for it by name', () => {
  const made = new PodScene({ externalSubnet: 'uplink' });
  made.bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: {} });
  made.bench.converge();
  assert.match(made.bench.condition('ovn-eips', 'e1', 'Accepted')?.message ?? '', /^OvnEip e1: Subnet "uplink" does not exist/);
  assert.equal(made.bench.object('ovn-eips', 'e1')?.metadata.finalizers, undefined);
  made.subnet('uplink', { cidrBlock: '172.21.0.0/24' });
  made.bench.converge();
  assert.equal(made.bench.object('ovn-eips', 'e1')?.status?.['v4Ip'], '172.21.0.2');
  assert.equal(made.bench.condition('ovn-eips', 'e1', 'Accepted'), undefined);
});

for (const [field, value, rule] of [
  ['v4Ip', '172.20.0.999', /spec\.v4Ip "172\.20\.0\.999" .*; it is one IPv4 address/],
  ['v4Ip', 'fd00::1', /spec\.v4Ip "fd00::1" is an IPv6 address/],
  ['v6Ip', 'FD00::1', /spec\.v6Ip "FD00::1" has upper-case letters/],
  ['macAddress', 'red', /spec\.macAddress "red" is not a MAC address/],
  ['type', 'lan', /spec\.type "lan" is not known; it is nat, lrp, lsp/],
  ['v4Ip', '10.0.0.1', /the address 10\.0\.0\.1 cannot be allocated in Subnet "ext"/],
  ['v4Ip', '172.20.0.1', /the gateway of Subnet "ext"/],
] as const) {
  test(`an OvnEip with ${field} ${value} reports why, holds nothing, and is completed as soon as it is fixed`, () => {
    const made = scene();
    eip(made, 'e1', { [field]: value });
    const accepted = made.bench.condition('ovn-eips', 'e1', 'Accepted');
    assert.equal(accepted?.status, 'False');
    assert.match(accepted?.message ?? '', /^OvnEip e1: /);
    assert.match(accepted?.message ?? '', rule);
    assert.equal(made.bench.object('ovn-eips', 'e1')?.metadata.finalizers, undefined);
    assert.deepEqual(using(made), ['0', '']);
    made.bench.edit('ovn-eips', 'e1', { [field]: '' });
    made.bench.converge();
    assert.deepEqual(using(made), ['1', '172.20.0.2']);
    assert.equal(made.bench.condition('ovn-eips', 'e1', 'Accepted'), undefined);
  });
}

test('a later change of the spec is reported and never takes effect; undoing it clears the report', () => {
  const made = scene();
  eip(made, 'e1', { v4Ip: '172.20.0.4' });
  made.bench.edit('ovn-eips', 'e1', { v4Ip: '172.20.0.5' });
  made.bench.converge();
  assert.match(made.bench.condition('ovn-eips', 'e1', 'Accepted')?.message ?? '', /"172\.20\.0\.5" \(it has 172\.20\.0\.4\)/);
  assert.deepEqual(using(made), ['1', '172.20.0.4']);
  made.bench.edit('ovn-eips', 'e1', { v4Ip: '172.20.0.4' });
  made.bench.converge();
  assert.equal(made.bench.condition('ovn-eips', 'e1', 'Accepted'), undefined);
});

for (const [resource, spec, address, shown] of [
  ['vips', { subnet: 'ext', v4ip: '172.20.0.4' }, 'v4ip', ['v4ip', 'mac', 'type']],
  ['ovn-eips', { externalSubnet: 'ext', v4Ip: '172.20.0.4' }, 'v4Ip', ['v4Ip', 'macAddress', 'type']],
  ['iptables-eips', { externalSubnet: 'ext', v4ip: '172.20.0.4', natGwDp: 'gw' }, 'v4ip', ['ip']],
] as const) {
  test(`what one of ${resource} was given stays, whatever is written into its status, its spec and its label; a restart finds the same`, () => {
    const made = scene();
    made.bench.put(resource, { metadata: { name: 'e1' }, spec });
    made.bench.converge();
    const given = made.bench.object(resource, 'e1') ?? assert.fail();
    const status = (): readonly unknown[] => shown.map((field) => made.bench.object(resource, 'e1')?.status?.[field]);
    const before = status();
    assert.equal(before[0], '172.20.0.4');
    const elsewhere = { ...given.status, [shown[0]]: '172.20.0.5', mac: '02:00:00:00:00:99', macAddress: '02:00:00:00:00:99', type: 'lsp' };
    const labels = { ...given.metadata.labels, 'ovn.kubernetes.io/subnet': 'ovn-default' };
    for (const edited of [
      { ...given, status: elsewhere },
      { ...given, status: {} },
      { ...given, status: elsewhere, metadata: { ...given.metadata, labels } },
      { ...given, metadata: { ...given.metadata, annotations: {} } },
      { ...given, metadata: { ...given.metadata, annotations: { 'kiln.io/given': '{"v4":"172.20.0.5"}' } } },
      { ...given, metadata: { ...given.metadata, finalizers: [], labels: {} } },
    ]) {
      made.bench.put(resource, edited);
      made.bench.converge();
      assert.deepEqual(status(), before);
      assert.deepEqual(using(made), ['1', '172.20.0.4']);
      assert.deepEqual(made.bench.object(resource, 'e1')?.metadata, { ...made.bench.object(resource, 'e1')?.metadata, ...labelled(given) });
    }
    // Spec and status together, as `kubectl edit` of a Vip permits.
    made.bench.put(resource, { ...given, spec: { ...given.spec, [address]: '172.20.0.5' }, status: elsewhere });
    made.bench.converge();
    assert.match(made.bench.condition(resource, 'e1', 'Accepted')?.message ?? '', /spec requests "172\.20\.0\.5" \(it has 172\.20\.0\.4\)/);
    assert.deepEqual([status(), using(made)], [before, ['1', '172.20.0.4']]);
    const fresh = made.bench.restarted();
    fresh.converge();
    assert.deepEqual([fresh.writes, fresh.object(resource, 'e1')?.status?.[shown[0]]], [0, '172.20.0.4']);
  });

  test(`a copy of one of ${resource} under another name, with all values of the first, has an address of its own`, () => {
    const made = scene();
    made.bench.put(resource, { metadata: { name: 'e1' }, spec });
    made.bench.converge();
    const { metadata, spec: completed, status } = made.bench.object(resource, 'e1') ?? assert.fail();
    const { annotations = {}, labels = {} } = metadata;
    const asked = { ...completed, [address]: '172.20.0.5', macAddress: '' };
    made.bench.put(resource, { metadata: { name: 'e2', annotations, labels }, spec: asked, ...(status && { status }) });
    made.bench.converge();
    assert.equal(made.bench.object(resource, 'e2')?.status?.[shown[0]], '172.20.0.5');
    assert.equal(made.bench.condition(resource, 'e2', 'AddressConflict'), undefined);
    assert.deepEqual(using(made), ['2', '172.20.0.4-172.20.0.5']);
  });
}

function labelled({ metadata }: { readonly metadata: { readonly labels?: object; readonly finalizers?: readonly string[] } }): object {
  return { labels: metadata.labels, finalizers: metadata.finalizers };
}

test('an EIP edited to another Subnet reports it, stays in its Subnet, and the other Subnet counts nothing', () => {
  const made = scene();
  made.subnet('elsewhere', { cidrBlock: '172.21.0.0/24' });
  eip(made, 'e1', { v4Ip: '172.20.0.4' });
  made.bench.edit('ovn-eips', 'e1', { externalSubnet: 'elsewhere' });
  made.bench.converge();
  const accepted = made.bench.condition('ovn-eips', 'e1', 'Accepted');
  assert.deepEqual([accepted?.status, accepted?.reason], ['False', 'Immutable']);
  assert.match(accepted?.message ?? '', /requests "elsewhere" \(it has \S+\); Subnet, addresses, MAC and type are immutable/);
  assert.deepEqual(using(made), ['1', '172.20.0.4']);
  assert.equal(made.bench.object('subnets', 'elsewhere')?.status?.['v4usingIPs'], 0n);
  made.bench.edit('ovn-eips', 'e1', { externalSubnet: '' });
  made.bench.converge();
  assert.equal(made.bench.condition('ovn-eips', 'e1', 'Accepted'), undefined);
});

test('C18 an OvnEip that was removed by force frees its address and its port at once', () => {
  const made = scene();
  eip(made, 'node-out', { type: 'lsp' });
  assert.ok(made.bench.row('Logical_Switch_Port', 'node-out'));
  assert.deepEqual(using(made), ['1', '172.20.0.2']);
  made.bench.removeByForce('ovn-eips', 'node-out');
  made.bench.converge();
  assert.deepEqual(using(made), ['0', '']);
  assert.equal(made.bench.row('Logical_Switch_Port', 'node-out'), undefined);
});

test('C19 an IptablesEIP for a gateway that does not exist reports it, and its deletion leaves no row', () => {
  const made = scene();
  made.bench.put('iptables-eips', { metadata: { name: 'i1' }, spec: { externalSubnet: 'ext', natGwDp: 'nowhere' } });
  made.bench.converge();
  const { metadata, status } = made.bench.object('iptables-eips', 'i1') ?? assert.fail();
  assert.deepEqual([status?.['ip'], status?.['ready']], ['172.20.0.2', false]);
  assert.equal(metadata.labels?.['ovn.kubernetes.io/vpc-nat-gw-name'], 'nowhere');
  assert.ok(made.bench.events.some(({ object, message }) => object === 'iptables-eips/i1' && /natGwDp "nowhere"/.test(message)));
  made.bench.delete('iptables-eips', 'i1');
  made.bench.converge();
  assert.equal(made.bench.object('iptables-eips', 'i1'), undefined);
  assert.deepEqual(using(made), ['0', '']);
});

test('an IptablesEIP without a gateway reports that, and not that one is set', () => {
  const made = scene();
  made.bench.put('iptables-eips', { metadata: { name: 'i1' }, spec: { externalSubnet: 'ext', natGwDp: '' } });
  made.bench.converge();
  const message = made.bench.condition('iptables-eips', 'i1', 'Ready')?.message ?? '';
  assert.match(message, /^IptablesEIP i1: spec\.natGwDp "" names no VpcNatGateway, and NAT gateways are not implemented/);
});

test('a Subnet waits for its EIPs and names them, and is deleted with the last of them', () => {
  const made = scene();
  eip(made, 'e1');
  made.bench.delete('subnets', 'ext');
  made.bench.converge();
  assert.match(made.bench.condition('subnets', 'ext', 'DeletionBlocked')?.message ?? '', /OvnEip e1/);
  made.bench.delete('ovn-eips', 'e1');
  made.bench.converge();
  assert.equal(made.bench.object('ovn-eips', 'e1'), undefined);
  assert.equal(made.bench.object('subnets', 'ext'), undefined);
});

test('C64: an OvnEip is ready once it has its address, whatever rules wait or go; it names those that wait', () => {
  const made = scene();
  eip(made, 'e1');
  const shown = (): readonly unknown[] => {
    const { ready, nat } = made.bench.object('ovn-eips', 'e1')?.status ?? {};
    return [ready, nat];
  };
  assert.deepEqual(shown(), [true, '']);
  for (const [resource, name] of [
    ['ovn-snat-rules', 's1'],
    ['ovn-dnat-rules', 'd1'],
    ['ovn-fips', 'f1'],
  ] as const)
    made.bench.put(resource, { metadata: { name }, spec: { ovnEip: 'e1' } });
  made.bench.converge();
  assert.deepEqual(shown(), [true, ''], 'nothing is translated to its address');
  const { reason, message } = made.bench.condition('ovn-eips', 'e1', 'InUse') ?? assert.fail();
  const all = 'OvnDnatRule d1, OvnFip f1, OvnSnatRule s1';
  assert.deepEqual(
    [reason, message],
    ['UsedByRules', `OvnEip e1: 3 NAT rules use it: ${all}; of these not in effect: ${all}; kubectl describe ovn-dnat-rules.kubeovn.io d1`],
  );
  made.bench.delete('ovn-dnat-rules', 'd1');
  made.bench.delete('ovn-fips', 'f1');
  made.bench.converge();
  assert.deepEqual(shown(), [true, '']);
  made.bench.delete('ovn-snat-rules', 's1');
  made.bench.converge();
  assert.equal(made.bench.condition('ovn-eips', 'e1', 'InUse'), undefined);
  eip(made, 'waits', { v4Ip: '10.0.0.1' });
  made.bench.put('ovn-fips', { metadata: { name: 'f2' }, spec: { ovnEip: 'waits' } });
  made.bench.converge();
  made.bench.delete('ovn-fips', 'f2');
  made.bench.converge();
  assert.notEqual(made.bench.object('ovn-eips', 'waits')?.status?.['ready'], true);
});

test('an OvnEip waits for the rules that name it, of each kind, and reports them', () => {
  const made = scene();
  eip(made, 'e1');
  made.bench.put('ovn-fips', { metadata: { name: 'f1' }, spec: { ovnEip: 'e1' } });
  made.bench.put('ovn-dnat-rules', { metadata: { name: 'd1' }, spec: { ovnEip: 'e1' } });
  made.bench.converge();
  made.bench.delete('ovn-eips', 'e1');
  made.bench.converge();
  const message = made.bench.condition('ovn-eips', 'e1', 'DeletionBlocked')?.message ?? '';
  assert.match(message, /OvnFip f1/);
  assert.match(message, /OvnDnatRule d1/);
  made.bench.delete('ovn-fips', 'f1');
  made.bench.delete('ovn-dnat-rules', 'd1');
  made.bench.converge();
  assert.equal(made.bench.object('ovn-eips', 'e1'), undefined);
  assert.deepEqual(using(made), ['0', '']);
});

test('an EIP that is being deleted accepts no new rule: the rule reports it, gets no annotation, and does not block the EIP', () => {
  for (const [eips, spec, rules, field] of [
    ['ovn-eips', { externalSubnet: 'ext' }, 'ovn-fips', 'ovnEip'],
    ['iptables-eips', { externalSubnet: 'ext', natGwDp: 'gw' }, 'iptables-snat-rules', 'eip'],
  ] as const) {
    const made = scene();
    const { bench } = made;
    bench.put(eips, { metadata: { name: 'e1' }, spec });
    bench.put(rules, { metadata: { name: 'before' }, spec: { [field]: 'e1' } });
    bench.converge();
    bench.delete(eips, 'e1');
    bench.converge();
    bench.passTo(Date.parse('2026-01-01T01:00:00Z'));
    bench.put(rules, { metadata: { name: 'late', creationTimestamp: '2026-01-01T01:00:00Z' }, spec: { [field]: 'e1' } });
    bench.converge();
    const { reason, message = '' } = bench.condition(rules, 'late', 'Accepted') ?? assert.fail();
    assert.equal(reason, 'EipTerminating');
    assert.match(message, new RegExp(`: spec\\.${field} "e1" names an .*EIP that is being deleted; such`, 'i'));
    assert.equal(bench.object(rules, 'late')?.metadata.labels?.['ovn.kubernetes.io/eip_v4_ip'], undefined);
    assert.doesNotMatch(bench.condition(eips, 'e1', 'DeletionBlocked')?.message ?? '', /late/);
    assert.notEqual(bench.condition(rules, 'before', 'Accepted')?.reason, 'EipTerminating');
    bench.delete(rules, 'before');
    bench.converge();
    assert.equal(bench.object(eips, 'e1'), undefined, 'it goes with the last rule that was there before');
    assert.deepEqual(using(made), ['0', '']);
    bench.put(eips, { metadata: { name: 'e1', creationTimestamp: '2026-01-01T02:00:00Z' }, spec });
    bench.converge();
    assert.notEqual(bench.condition(rules, 'late', 'Accepted')?.reason, 'EipTerminating', 'an EIP of that name is waited for');
    assert.equal(bench.object(rules, 'late')?.metadata.labels?.['ovn.kubernetes.io/eip_v4_ip'], using(made)[1]);
  }
});

for (const [eips, spec, rules, field] of [
  ['ovn-eips', { externalSubnet: 'ext' }, 'ovn-fips', 'ovnEip'],
  ['ovn-eips', { externalSubnet: 'ext' }, 'ovn-snat-rules', 'ovnEip'],
  ['iptables-eips', { externalSubnet: 'ext', natGwDp: 'gw' }, 'iptables-dnat-rules', 'eip'],
] as const) {
  const going = (...others: readonly string[]): PodScene => {
    const made = scene();
    for (const name of ['e1', 'e2']) made.bench.put(eips, { metadata: { name }, spec });
    made.bench.converge();
    for (const name of ['before', ...others]) made.bench.put(rules, { metadata: { name }, spec: { [field]: 'e2' } });
    made.bench.put(rules, { metadata: { name: 'late' }, spec: { [field]: 'e1' } });
    made.bench.put(rules, { metadata: { name: 'waits' }, spec: { [field]: 'e9' } });
    made.bench.converge();
    made.bench.delete(eips, 'e2');
    made.bench.converge();
    return made;
  };

  test(`one of ${rules} edited to name an EIP that is being deleted reports it and does not block it, after a restart too`, () => {
    const { bench } = going();
    for (const late of ['late', 'waits']) {
      bench.edit(rules, late, { [field]: 'e2' });
      // The edit happens while no controller is leading.
      const next = bench.restarted();
      for (const one of [bench, next]) {
        one.converge();
        const { reason, message = '' } = one.condition(rules, late, 'Accepted') ?? assert.fail(`${late} reports nothing`);
        assert.equal(reason, 'EipTerminating');
        assert.match(message, new RegExp(`: spec\\.${field} "e2" names an .*EIP that is being deleted; such`, 'i'));
        assert.match(one.condition(eips, 'e2', 'DeletionBlocked')?.message ?? '', /: one object still uses it: \w+ before\./);
        assert.equal(one.object(rules, late)?.metadata.labels?.['ovn.kubernetes.io/eip_v4_ip'], undefined);
      }
    }
    bench.delete(rules, 'before');
    bench.converge();
    assert.equal(bench.object(eips, 'e2'), undefined, 'it goes with the last rule that was there before');
    bench.edit(rules, 'late', { [field]: 'e1' });
    bench.converge();
    assert.notEqual(bench.condition(rules, 'late', 'Accepted')?.reason, 'EipTerminating');
    assert.match(bench.object(rules, 'late')?.metadata.labels?.['ovn.kubernetes.io/eip_v4_ip'] ?? '', /^172/);
  });

  test(`one of ${rules} that released an EIP that is being deleted does not use it again, whatever it named meanwhile`, () => {
    for (const meanwhile of ['e1', 'e9', 'e3', '']) {
      const { bench } = going('second');
      bench.put(eips, { metadata: { name: 'e3' }, spec });
      bench.put(rules, { metadata: { name: 'third' }, spec: { [field]: 'e3' } });
      bench.converge();
      bench.delete(eips, 'e3');
      bench.converge();
      bench.edit(rules, 'before', { [field]: meanwhile });
      bench.converge();
      bench.edit(rules, 'before', { [field]: 'e2' });
      bench.converge();
      assert.match(bench.condition(eips, 'e2', 'DeletionBlocked')?.message ?? '', /: one object still uses it: \w+ second\./);
      assert.equal(bench.condition(rules, 'before', 'Accepted')?.reason, 'EipTerminating', `after "${meanwhile}"`);
    }
  });

  test(`one of ${rules} that named the EIP before the deletion blocks it, also without its label`, () => {
    const { bench } = going();
    const { annotations, ...metadata } = bench.object(rules, 'before')?.metadata ?? assert.fail();
    assert.equal(annotations?.['ovn.kubernetes.io/vpc_eip'], 'e2');
    bench.put(rules, { metadata, spec: { [field]: 'e2' } });
    bench.converge();
    bench.put(rules, { metadata: { ...metadata, labels: {} }, spec: { [field]: 'e2' } });
    bench.converge();
    assert.notEqual(bench.condition(rules, 'before', 'Accepted')?.reason, 'EipTerminating');
    assert.match(bench.condition(eips, 'e2', 'DeletionBlocked')?.message ?? '', /before/);
  });
}

test('C66 the address of an EIP that was removed by force stays held until the last rule that names it is gone, across a restart', () => {
  const made = scene('172.20.0.0/29,fd20::/120');
  eip(made, 'e1');
  made.bench.put('ovn-fips', { metadata: { name: 'f1' }, spec: { ovnEip: 'e1' } });
  made.bench.converge();
  made.bench.removeByForce('ovn-eips', 'e1');
  made.bench.converge();
  assert.deepEqual(
    [using(made), using(made, 'v6')],
    [
      ['1', '172.20.0.2'],
      ['1', 'fd20::2'],
    ],
  );
  const again = made.bench.restarted();
  again.converge();
  again.put('ovn-eips', { metadata: { name: 'e2' }, spec: { externalSubnet: 'ext' } });
  again.converge();
  assert.equal(again.object('ovn-eips', 'e2')?.status?.['v4Ip'], '172.20.0.3');
  again.delete('ovn-fips', 'f1');
  again.converge();
  assert.equal(again.object('subnets', 'ext')?.status?.['v4usingIPrange'], '172.20.0.3');
  assert.equal(again.object('subnets', 'ext')?.status?.['v6usingIPrange'], 'fd20::3');
});

for (const [resource, kind, field, eips] of [
  ['ovn-fips', 'OvnFip', 'ovnEip', 'ovn-eips'],
  ['iptables-dnat-rules', 'IptablesDnatRule', 'eip', 'iptables-eips'],
] as const) {
  test(`C66 a Subnet waits for an ${kind} whose EIP was removed by force; its network stays even when the Subnet is removed by force too`, () => {
    for (const removed of [false, true]) {
      const made = scene();
      made.bench.put(eips, {
        metadata: { name: 'e1' },
        spec: { externalSubnet: 'ext', ...(eips === 'iptables-eips' && { natGwDp: 'gw' }) },
      });
      made.bench.put(resource, { metadata: { name: 'r1' }, spec: { [field]: 'e1' } });
      made.bench.converge();
      made.bench.delete('subnets', 'ext');
      made.bench.converge();
      const message = (): string => made.bench.condition('subnets', 'ext', 'DeletionBlocked')?.message ?? '';
      assert.match(message(), /one object still uses it: \w+ e1\./);
      made.bench.removeByForce(eips, 'e1');
      made.bench.converge();
      assert.match(message(), new RegExp(`one object still uses it: ${kind} r1\\.`));
      if (removed) {
        made.bench.removeByForce('subnets', 'ext');
        made.bench.converge();
        assert.ok(made.bench.row('Logical_Switch', 'ext'));
      }
      made.bench.delete(resource, 'r1');
      made.bench.converge();
      assert.deepEqual([made.bench.object('subnets', 'ext'), made.bench.row('Logical_Switch', 'ext')], [undefined, undefined]);
    }
  });
}

test('C66 a rule whose EIP was removed by force reports a conflict of its address, until one of both is gone', () => {
  const made = scene();
  eip(made, 'e1', { v4Ip: '172.20.0.4' });
  made.bench.put('ovn-fips', { metadata: { name: 'f1' }, spec: { ovnEip: 'e1' } });
  made.bench.converge();
  made.bench.removeByForce('ovn-eips', 'e1');
  made.bench.put('ovn-eips', { metadata: { name: 'e2', finalizers: [FINALIZER] }, spec: { externalSubnet: 'ext', v4Ip: '172.20.0.4' } });
  made.bench.converge();
  const message = (): string => made.bench.condition('ovn-fips', 'f1', 'AddressConflict')?.message ?? '';
  assert.match(message(), /^OvnFip f1: address 172\.20\.0\.4 of Subnet ext, .* is also held by OvnEip e2/);
  made.bench.delete('ovn-eips', 'e2');
  made.bench.converge();
  assert.equal(message(), '');
});

test('a recreated EIP gets the address that its rules hold', () => {
  const made = scene();
  eip(made, 'e1', { v4Ip: '172.20.0.5' });
  made.bench.put('ovn-snat-rules', { metadata: { name: 's1' }, spec: { ovnEip: 'e1' } });
  made.bench.converge();
  made.bench.removeByForce('ovn-eips', 'e1');
  eip(made, 'e1');
  assert.equal(made.bench.object('ovn-eips', 'e1')?.status?.['v4Ip'], '172.20.0.5');
});

test('C33 pods and EIPs of one Subnet never collide: they take from one ledger until it is full, and the last waits', () => {
  const made = scene();
  made.bench.put('network-attachment-definitions', { metadata: { name: 'x', namespace: 'shop' }, spec: { config: '{}' } });
  const names: string[] = [];
  for (let i = 0; i < 3; i++) {
    eip(made, `e${i}`);
    made.pod(`p${i}`, { annotations: { 'ovn.kubernetes.io/logical_switch': 'ext' } });
    made.bench.converge();
    names.push(String(made.bench.object('ovn-eips', `e${i}`)?.status?.['v4Ip']), String(made.addressOf(`shop/p${i}`)));
  }
  const given = names.filter((text) => text !== 'undefined');
  assert.equal(new Set(given).size, 5);
  assert.deepEqual(using(made), ['5', '172.20.0.2-172.20.0.6']);
  assert.equal(made.addressOf('shop/p2'), undefined);
  made.bench.delete('ovn-eips', 'e1');
  made.bench.converge();
  assert.equal(made.addressOf('shop/p2'), '172.20.0.4');
});

test('C37 C48 after a restart every Vip and EIP has what it had, nothing is written, and counts agree with ranges', () => {
  const made = scene();
  eip(made, 'e1', { v4Ip: '172.20.0.6' });
  eip(made, 'e2', { type: 'lrp' });
  made.bench.put('vips', { metadata: { name: 'v1' }, spec: { subnet: 'ext' } });
  made.bench.put('iptables-eips', { metadata: { name: 'i1' }, spec: { externalSubnet: 'ext' } });
  made.bench.converge();
  assert.deepEqual(using(made), ['4', '172.20.0.2-172.20.0.4,172.20.0.6']);
  const again = made.bench.restarted();
  again.converge();
  assert.equal(again.writes, 0);
  assert.equal(again.object('subnets', 'ext')?.status?.['v4usingIPrange'], '172.20.0.2-172.20.0.4,172.20.0.6');
  assert.equal(again.object('subnets', 'ext')?.status?.['v4availableIPrange'], '172.20.0.5');
});

test('an OvnEip of type lrp without a Vpc that has its name reports that; its address is held', () => {
  const made = scene();
  eip(made, 'e1', { type: 'lrp' });
  assert.equal(made.bench.object('ovn-eips', 'e1')?.status?.['ready'], false);
  assert.match(made.bench.condition('ovn-eips', 'e1', 'WithoutEffect')?.message ?? '', /spec\.type "lrp" .*no Vpc requests a port/);
  eip(made, 'e2', { type: 'nat' });
  made.bench.removeByForce('ovn-eips', 'e2');
  made.bench.converge();
  assert.deepEqual(using(made), ['1', '172.20.0.2']);
});

test('an EIP that nothing used when its lease ends is deleted with an Event; one that a rule names stays', () => {
  const made = scene();
  const lease = { annotations: { 'kiln.io/lease': '1h' } };
  made.bench.put('ovn-eips', { metadata: { name: 'idle', ...lease }, spec: { externalSubnet: 'ext' } });
  made.bench.put('ovn-eips', { metadata: { name: 'named', ...lease }, spec: { externalSubnet: 'ext' } });
  made.bench.put('ovn-snat-rules', { metadata: { name: 's1' }, spec: { ovnEip: 'named' } });
  made.bench.converge();
  assert.equal(made.bench.condition('ovn-eips', 'idle', 'Idle')?.status, 'True');
  assert.equal(made.bench.condition('ovn-eips', 'named', 'Idle'), undefined);
  made.bench.passTo(Date.UTC(2026, 0, 2));
  assert.equal(made.bench.object('ovn-eips', 'idle'), undefined);
  assert.ok(made.bench.object('ovn-eips', 'named'));
  assert.ok(made.bench.events.some(({ object, reason }) => object === 'ovn-eips/idle' && reason === 'LeaseEnded'));
  assert.deepEqual(using(made), ['1', '172.20.0.3']);
});

test('an IptablesEIP with an invalid gateway or policy name has its address, without an invalid label', () => {
  const made = scene();
  made.bench.put('iptables-eips', { metadata: { name: 'i1' }, spec: { externalSubnet: 'ext', natGwDp: 'fe80::1', qosPolicy: ' ' } });
  made.bench.converge();
  const { metadata, status } = made.bench.object('iptables-eips', 'i1') ?? assert.fail();
  assert.equal(status?.['ip'], '172.20.0.2');
  assert.deepEqual(metadata.labels, { 'ovn.kubernetes.io/subnet': 'ext', 'ovn.kubernetes.io/eip_v4_ip': '172.20.0.2' });
  assert.match(made.bench.condition('iptables-eips', 'i1', 'Ready')?.message ?? '', /spec\.natGwDp "fe80::1" is not implemented/);
});

test('what is no address is held by nobody, whoever wrote the finalizer: it is reported, once, and the object can be deleted', () => {
  const made = new PodScene();
  made.subnet('ovn-vpc-external-network', { cidrBlock: '10.50.0.0/24,fd50::/64' });
  made.bench.converge();
  const finalizers = [FINALIZER];
  const copied = JSON.stringify({ uid: 'uid-of-nobody', subnet: 'net', type: '', v4: '{}', v6: '', mac: '' });
  made.bench.put('iptables-eips', { metadata: { name: 'spec', finalizers }, spec: { natGwDp: 'gw', v4ip: '{}' } });
  made.bench.put('iptables-eips', { metadata: { name: 'status', finalizers }, spec: { v4ip: '{}' }, status: { ip: '{}' } });
  made.bench.put('vips', {
    metadata: { name: 'vip', finalizers, annotations: { 'kiln.io/given': copied } },
    spec: { subnet: 'ovn-vpc-external-network', v6ip: '10.50.0.9' },
  });
  made.bench.converge();
  for (const [kind, name] of [
    ['iptables-eips', 'spec'],
    ['iptables-eips', 'status'],
    ['vips', 'vip'],
  ] as const) {
    assert.match(made.bench.conditionText(kind, name), /Accepted.*AddressInvalid.*is (not an IP|an IPv4) address/, name);
    assert.equal(made.bench.object(kind, name)?.metadata.labels?.['ovn.kubernetes.io/eip_v4_ip'], undefined);
    made.bench.delete(kind, name);
  }
  made.bench.converge();
  for (const [kind, name] of [
    ['iptables-eips', 'spec'],
    ['iptables-eips', 'status'],
    ['vips', 'vip'],
  ] as const)
    assert.equal(made.bench.object(kind, name), undefined, name);
});
