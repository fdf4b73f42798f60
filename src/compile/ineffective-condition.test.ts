/** Ineffective fields: a condition reports each while it lasts, and the rows are written for the time when it takes effect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import type { ResourceName } from '../world/resources.ts';
import { RULES } from './rules.ts';

const UUID = '11111111-1111-4111-8111-11111111111';

function setUp(): RuleBench {
  const bench = new RuleBench({ rules: RULES });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'net' }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/24,fd01::/64' } });
  bench.converge();
  return bench;
}

function definition(
  namespace: string,
  name: string,
  config: object,
): { readonly metadata: { readonly namespace: string; readonly name: string } } {
  return { metadata: { namespace, name }, spec: { config: JSON.stringify({ cniVersion: '0.3.1', name, ...config }) } } as never;
}

function ineffectiveOf(
  bench: RuleBench,
  resource: ResourceName,
  name: string,
): readonly [status?: string, reason?: string, message?: string] {
  const { status, reason, message } = bench.condition(resource, name, 'WithoutEffect') ?? {};
  return status === undefined ? [] : [status, reason ?? '', message ?? ''];
}

test('an ACL that names a missing set or group: the condition and an Event name it until it exists', () => {
  const bench = setUp();
  const match = 'ip4.src == $office && outport == @web && ip6.dst == $web_ip6';
  bench.edit('subnets', 'net', { acls: [{ direction: 'to-lport', action: 'drop', match, priority: 5 }] });
  bench.converge();
  const acl = (name: string, code: string): string =>
    `Subnet net: spec.acls[0].match "${match}" names ${name}, which does not exist; the match is valid, and no packet meets it until ${code} exists`;
  const message = [
    acl('address set $office', 'Address_Set office'),
    acl('port group @web', 'Port_Group web'),
    acl('address set $web_ip6', 'Address_Set web_ip6'),
  ].join('. ');
  const whole = `${message}. All else is in effect; kubectl edit subnet net`;
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net'), ['True', 'AddressSetMissing', whole]);
  assert.equal(bench.events.filter((event) => event.message === whole).length, 1);
  assert.ok(bench.row('ACL', `net|to-lport|5|${match}`), 'it is written: the set may come');
  assert.equal(bench.condition('subnets', 'net', 'Ready')?.status, 'True');

  bench.foreignRow('Address_Set', `${UUID}1`, { name: 'office' });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net').slice(0, 2), ['True', 'PortGroupMissing']);
  bench.foreignRow('Port_Group', `${UUID}2`, { name: 'web' });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net'), [], 'a port group has address sets');
});

test('a namespace that goes before the Vpc and the Subnet that list it is no finding on them: a tenant is deleted as a whole', () => {
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop'] } });
  scene.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  bench.converge();
  scene.pod('web');
  bench.converge();
  for (const resource of ['vpcs', 'subnets'] as const) bench.delete(resource, resource === 'vpcs' ? 'blue' : 'net');
  bench.delete('namespaces', 'shop');
  bench.converge();
  assert.equal(bench.condition('subnets', 'net', 'DeletionBlocked')?.status, 'True');
  assert.deepEqual([...ineffectiveOf(bench, 'subnets', 'net'), ...ineffectiveOf(bench, 'vpcs', 'blue')], []);
  assert.deepEqual(
    bench.events.filter(({ reason }) => reason === 'NamespaceMissing'),
    [],
  );
});

test('an excluded address or range outside of the Subnet is reported until it is removed; one that is partly inside takes effect', () => {
  const bench = setUp();
  const excludeIps = ['10.1.0.1', 'fd01::1', '10.1.0.200..10.2.0.5'];
  bench.edit('subnets', 'net', { excludeIps: [...excludeIps, '10.2.0.7', 'fd02::1..fd02::9'] });
  bench.converge();
  const item = (index: number, value: string): string =>
    `Subnet net: spec.excludeIps[${index}] "${value}" is outside of 10.1.0.0/24 and fd01::/64; only addresses of the Subnet can be excluded`;
  const whole = `${item(3, '10.2.0.7')}. ${item(4, 'fd02::1..fd02::9')}. All else is in effect; kubectl edit subnet net`;
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net'), ['True', 'ExcludeOutside', whole]);
  bench.edit('subnets', 'net', { excludeIps });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net'), []);
});

test('a Subnet of the default Vpc that overlaps the network of Services reports that and works; in another Vpc it may overlap', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'ovn-cluster' } });
  bench.put('subnets', { metadata: { name: 'low' }, spec: { cidrBlock: '10.97.0.1/16' } });
  bench.put('subnets', { metadata: { name: 'all' }, spec: { vpc: 'blue', cidrBlock: '10.96.0.0/12' } });
  bench.put('subnets', { metadata: { name: 'beside' }, spec: { cidrBlock: '10.112.0.0/16' } });
  bench.converge();
  const rule = 'of an address in both only one is reached, the pod or the Service: move the pods to a Subnet that is apart from it';
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'low'), [
    'True',
    'OverlapsServices',
    `Subnet low: spec.cidrBlock "10.97.0.0/16" overlaps 10.96.0.0/12, the network of Services (--service-cluster-ip-range); ${rule}. All else is in effect; kubectl edit subnet low`,
  ]);
  assert.equal(bench.events.filter(({ reason }) => reason === 'OverlapsServices').length, 1);
  assert.deepEqual(bench.condition('subnets', 'low', 'Accepted')?.status, 'True');
  assert.deepEqual([ineffectiveOf(bench, 'subnets', 'all'), ineffectiveOf(bench, 'subnets', 'beside')], [[], []]);
});

test('a provider that names a missing network, or one with another provider, is reported until the network exists', () => {
  const bench = setUp();
  const provider = (text: string): string => {
    bench.delete('subnets', 'wide');
    bench.converge();
    bench.put('subnets', { metadata: { name: 'wide' }, spec: { vpc: 'blue', cidrBlock: '10.8.0.0/24', provider: text } });
    bench.converge();
    return ineffectiveOf(bench, 'subnets', 'wide')[2] ?? '';
  };
  const names = (text: string): string => `Subnet wide: spec.provider "${text}" names NetworkAttachmentDefinition shop/`;
  const ending = 'All else is in effect; kubectl edit subnet wide';
  for (const text of ['lan.shop.ovn', 'lan.shop'])
    assert.equal(provider(text), `${names(text)}lan, which does not exist; no pod is attached to the Subnet until it exists. ${ending}`);
  assert.equal(ineffectiveOf(bench, 'subnets', 'wide')[1], 'NetworkMissing');
  bench.put('network-attachment-definitions', definition('shop', 'lan', { type: 'macvlan', ipam: { type: 'kube-ovn' } }));
  bench.put('network-attachment-definitions', definition('shop', 'own', { type: 'kube-ovn' }));
  bench.put('network-attachment-definitions', definition('shop', 'far', { type: 'macvlan', ipam: { type: 'host-local' } }));
  bench.put('network-attachment-definitions', definition('shop', 'a.b', { type: 'macvlan', ipam: { type: 'kube-ovn' } }));
  assert.deepEqual(['lan.shop', 'own.shop.ovn', 'a.b.shop', 'ovn', ''].map(provider), ['', '', '', '', '']);
  assert.ok(provider('lan.shop.ovn').startsWith(`${names('lan.shop.ovn')}lan, which asks for provider lan.shop; `));
  assert.ok(provider('own.shop').startsWith(`${names('own.shop')}own, which asks for provider own.shop.ovn; `));
  assert.ok(provider('far.shop').startsWith(`${names('far.shop')}far, whose addresses come from elsewhere; `));
  for (const text of ['macvlan', '.', 'a..b', 'Lan.shop'])
    assert.match(provider(text), /^Subnet wide: spec\.provider "[^"]*" is a text that no network attachment is named by/, text);
});

test('a network written as one of its addresses: the report names the entry and the network in use', () => {
  const bench = setUp();
  const bits = (field: string, value: string, network: string): string =>
    `${field} "${value}" has bits set beyond the prefix: ${value.replace(/\/.*/, '')} is an address; a network has none, so it is taken as ${network}`;
  bench.edit('subnets', 'net', { private: true, allowSubnets: ['10.4.0.0/16', '10.5.0.9/16', 'fd05::1/64'] });
  bench.edit('vpcs', 'blue', {
    staticRoutes: [
      { cidr: '10.6.0.1/8', nextHopIP: '10.1.0.9' },
      { cidr: '10.7.0.1', nextHopIP: '10.1.0.9' },
    ],
  });
  bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'net', ips: ['10.1.0.70/30', '10.1.0.9'] } });
  bench.put('vpcs', {
    metadata: { name: 'pink' },
    spec: { policyRoutes: [{ action: 'drop', match: 'ip4.src == {10.8.0.1/16, 10.9.0.0/16}', priority: 7 }] },
  });
  bench.converge();
  const [two, three] = [
    bits('spec.allowSubnets[1]', '10.5.0.9/16', '10.5.0.0/16'),
    bits('spec.allowSubnets[2]', 'fd05::1/64', 'fd05::/64'),
  ];
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net'), [
    'True',
    'HostBitsCleared',
    `Subnet net: ${two}. Subnet net: ${three}. All else is in effect; kubectl edit subnet net`,
  ]);
  assert.ok(bench.rowIds('ACL').some((id) => id.includes('10.5.0.0/16')));
  const ending = (kind: string, name: string): string => `. All else is in effect; kubectl edit ${kind} ${name}`;
  assert.equal(
    ineffectiveOf(bench, 'vpcs', 'blue')[2],
    `Vpc blue: ${bits('spec.staticRoutes[0].cidr', '10.6.0.1/8', '10.0.0.0/8')}${ending('vpc', 'blue')}`,
  );
  assert.equal(
    ineffectiveOf(bench, 'vpcs', 'pink')[2],
    `Vpc pink: ${bits('spec.policyRoutes[0].match', '10.8.0.1/16', '10.8.0.0/16')}${ending('vpc', 'pink')}`,
  );
  assert.equal(
    ineffectiveOf(bench, 'ippools', 'few')[2],
    `IPPool few: ${bits('spec.ips[0]', '10.1.0.70/30', '10.1.0.68/30')}${ending('ippool', 'few')}`,
  );
});

test('a policy route likewise; sets that ovn-northd makes by itself do not count as missing', () => {
  const bench = setUp();
  const route = (match: string): object => ({ policyRoutes: [{ action: 'drop', match, priority: 7 }] });
  bench.edit('vpcs', 'blue', route('ip4.src == $nobody'));
  bench.converge();
  const [status, reason, message = ''] = ineffectiveOf(bench, 'vpcs', 'blue');
  assert.deepEqual([status, reason], ['True', 'AddressSetMissing']);
  assert.match(
    message,
    /^Vpc blue: spec\.policyRoutes\[0\]\.match "ip4\.src == \$nobody" names address set \$nobody, .*kubectl edit vpc blue$/,
  );
  bench.edit('vpcs', 'blue', route('eth.src == $svc_monitor_mac'));
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), []);
});

test('a match with an address set of the other family names the set that was meant, and the report ends with the cause', () => {
  const bench = setUp();
  const pool = (name: string, ips: readonly string[], enableAddressSet = true): void => {
    bench.put('ippools', { metadata: { name }, spec: { subnet: 'net', ips, enableAddressSet } });
  };
  pool('my-pool', ['10.1.0.40', 'fd01::40']);
  pool('six', ['fd01::60']);
  pool('four', ['10.1.0.50']);
  pool('bare', ['10.1.0.51'], false);
  bench.foreignRow('Address_Set', `${UUID}1`, { name: 'mixed', addresses: new Set(['10.9.0.0/16', 'fd09::/64']) });
  bench.foreignRow('Address_Set', `${UUID}2`, { name: 'np.allow.IPv4', addresses: new Set(['10.9.0.1']) });
  bench.foreignRow('Address_Set', `${UUID}3`, { name: 'np.allow.IPv6', addresses: new Set(['fd09::1']) });
  bench.foreignRow('Address_Set', `${UUID}4`, { name: 'macs', addresses: new Set(['0a:00:00:00:00:01']) });
  bench.foreignRow('Address_Set', `${UUID}5`, { name: 'none', addresses: new Set([]) });
  bench.foreignRow('Port_Group', `${UUID}6`, { name: 'web' });
  bench.converge();
  const reported = (match: string): readonly [reason?: string, sentence?: string] => {
    bench.edit('vpcs', 'blue', { policyRoutes: [{ action: 'drop', match, priority: 7 }] });
    bench.edit('subnets', 'net', { acls: [{ direction: 'to-lport', action: 'drop', match, priority: 5 }] });
    bench.converge();
    const [, reason, message = ''] = ineffectiveOf(bench, 'vpcs', 'blue');
    const [, ofSubnet, otherMessage = ''] = ineffectiveOf(bench, 'subnets', 'net');
    assert.equal(ofSubnet, reason);
    const sentence = (text: string): string => text.slice(text.indexOf('match "') + 7).replace(/ All else.*/, '');
    assert.equal(sentence(otherMessage), sentence(message));
    return reason === undefined ? [] : [reason, sentence(message).slice(match.length + 2)];
  };
  const wrong = (match: string, sentence: string): void =>
    assert.deepEqual(reported(match), ['AddressSetOtherFamily', `${sentence}.`], match);
  const missing = (match: string, sentence: string): void =>
    assert.deepEqual(reported(match), ['AddressSetMissing', `${sentence}.`], match);

  const six = 'which has IPv6 addresses; OVN ignores the whole match';
  wrong('ip4.src == $my.pool_v6', `compares ip4.src with address set $my.pool_v6, ${six}: name address set $my.pool`);
  wrong('$my.pool_v6 == ip4.dst', `compares ip4.dst with address set $my.pool_v6, ${six}: name address set $my.pool`);
  wrong(
    'ip6.src == $my.pool && tcp',
    'compares ip6.src with address set $my.pool, which has IPv4 addresses; no packet matches that: name address set $my.pool_v6',
  );
  wrong(
    'ip4.src == {10.0.0.1, $six}',
    `compares ip4.src with address set $six, ${six}: name an address set with IPv4 addresses only, or compare ip6.src with it`,
  );
  wrong('ip4.dst == $web_ip6', `compares ip4.dst with address set $web_ip6, ${six}: name address set $web_ip4`);
  wrong('ip4.dst == $np.allow.IPv6', `compares ip4.dst with address set $np.allow.IPv6, ${six}: name address set $np.allow.IPv4`);
  wrong(
    'ip4.dst == $mixed',
    'compares ip4.dst with address set $mixed, which has IPv4 addresses and IPv6 addresses; OVN ignores the whole match: name an address set with IPv4 addresses only',
  );
  wrong(
    'ip4.dst == $macs',
    'compares ip4.dst with address set $macs, which has MAC addresses; OVN ignores the whole match: name an address set with IPv4 addresses only',
  );
  for (const fits of [
    'ip4.src == $my.pool && ip4.dst == $four',
    'ip6.src == $six',
    'ip6.dst == $mixed',
    'eth.src == $macs',
    'ip4.src == $none',
  ])
    assert.deepEqual(reported(`${fits} && ip`), []);

  const until = (set: string): string => `which does not exist; the match is valid, and no packet meets it until Address_Set ${set} exists`;
  missing(
    'ip4.src == $bare',
    `names address set $bare, ${until('bare')}: IPPool bare has an address set only with spec.enableAddressSet (kubectl edit ippool bare)`,
  );
  missing('ip6.src == $six_ip6', `names address set $six_ip6, ${until('six_ip6')}: there is address set $six (IPv6 addresses)`);
  missing(
    'ip4.src == $web',
    `names address set $web, ${until('web')}: there are address sets $web_ip4 (IPv4 addresses) and $web_ip6 (IPv6 addresses)`,
  );

  assert.deepEqual(reported('ip6.src == $six'), []);
  pool('six', ['fd01::60', '10.1.0.60']);
  bench.converge();
  assert.match(
    ineffectiveOf(bench, 'vpcs', 'blue')[2] ?? '',
    /\$six, which has IPv4 addresses; no packet matches that: name address set \$six_v6\. /,
  );
  assert.deepEqual(reported('ip6.src == $six_v6'), []);
});

test('a next hop in the network of an invalid Subnet is reported with the Subnet, until that is corrected', () => {
  const bench = setUp();
  bench.put('subnets', { metadata: { name: 'late' }, spec: { vpc: 'blue', cidrBlock: '10.9.0.0/24', gateway: '10.8.0.1' } });
  bench.edit('vpcs', 'blue', { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.9.0.9' }] });
  bench.converge();
  assert.deepEqual(
    [bench.condition('subnets', 'late', 'Accepted')?.status, bench.row('Logical_Router_Port', 'blue-late')],
    ['False', undefined],
  );
  const [, reason, message = ''] = ineffectiveOf(bench, 'vpcs', 'blue');
  assert.equal(reason, 'NextHopUnreachable');
  assert.match(
    message,
    /nextHopIP "10\.9\.0\.9" lies in no network of the Vpc but that of Subnet late, which is not accepted \(kubectl describe subnet late\); /,
  );
  bench.edit('subnets', 'late', { gateway: '10.9.0.1' });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), []);
  bench.edit('subnets', 'late', { gateway: '10.8.0.1' });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), [], 'what runs is there, whatever its spec is edited to');
});

test('of several invalid Subnets with the next hop the report names the first by name, whichever was created first', () => {
  for (const order of [
    ['one', 'two'],
    ['two', 'one'],
  ]) {
    const bench = setUp();
    for (const name of order) {
      bench.put('subnets', { metadata: { name }, spec: { vpc: 'blue', cidrBlock: '10.9.0.0/24', gateway: '10.8.0.1' } });
      bench.converge();
    }
    bench.edit('vpcs', 'blue', { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.9.0.9' }] });
    bench.converge();
    assert.match(ineffectiveOf(bench, 'vpcs', 'blue')[2] ?? '', /but that of Subnet one, which is not accepted/);
  }
});

test('a next hop in no network of the Vpc is reported until a Subnet, a peering or a foreign port has it', () => {
  const bench = setUp();
  const hops = (...list: readonly string[]): object => ({
    staticRoutes: list.map((nextHopIP) => ({ cidr: nextHopIP.includes(':') ? '::/0' : '0.0.0.0/0', nextHopIP })),
  });
  bench.edit('vpcs', 'blue', hops('10.1.0.9', 'fd01::9', 'fe80::1'));
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), []);

  bench.edit('vpcs', 'blue', hops('10.9.0.7', '10.1.0.9', '10.8.0.1'));
  bench.converge();
  const [, reason, message = ''] = ineffectiveOf(bench, 'vpcs', 'blue');
  assert.equal(reason, 'NextHopUnreachable');
  assert.match(
    message,
    /^Vpc blue: spec\.staticRoutes\[0\]\.nextHopIP "10\.9\.0\.7" lies in no network of the Vpc; .*staticRoutes\[2\]\.nextHopIP "10\.8\.0\.1"/,
  );
  assert.equal(bench.condition('vpcs', 'blue', 'Accepted')?.status, 'True', 'Kube-OVN takes it, and so does Kiln');

  bench.put('subnets', { metadata: { name: 'more' }, spec: { vpc: 'blue', cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  assert.doesNotMatch(ineffectiveOf(bench, 'vpcs', 'blue')[2] ?? '', /10\.9\.0\.7/);
  bench.edit('vpcs', 'blue', { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '10.8.0.2/30' }] });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), []);

  bench.delete('subnets', 'more');
  bench.converge();
  assert.match(ineffectiveOf(bench, 'vpcs', 'blue')[2] ?? '', /10\.9\.0\.7/, 'and again once the Subnet is gone');
});

test('a policy route to a next hop in no network is reported by its item', () => {
  const bench = setUp();
  bench.edit('vpcs', 'blue', { policyRoutes: [{ action: 'reroute', match: 'ip4', priority: 7, nextHopIP: '10.1.0.9, 10.9.0.1' }] });
  bench.converge();
  assert.match(
    ineffectiveOf(bench, 'vpcs', 'blue')[2] ?? '',
    /^Vpc blue: spec\.policyRoutes\[0\]\.nextHopIP "10\.9\.0\.1" lies in no network/,
  );
});

test('impossible names of namespaces are reported, and the others are bound', () => {
  const bench = setUp();
  bench.put('namespaces', { metadata: { name: 'shop' } });
  bench.edit('vpcs', 'blue', { namespaces: ['', 'Ä', 'shop'] });
  bench.edit('subnets', 'net', { namespaces: ['shop', 'a_b'] });
  bench.converge();
  const [, reason, message = ''] = ineffectiveOf(bench, 'vpcs', 'blue');
  assert.equal(reason, 'NamespaceImpossible');
  assert.match(message, /spec\.namespaces\[0\] "" is empty; .*spec\.namespaces\[1\] "Ä" is a name that no namespace can have/);
  assert.match(ineffectiveOf(bench, 'subnets', 'net')[2] ?? '', /spec\.namespaces\[1\] "a_b" is a name/);
  assert.equal(bench.object('namespaces', 'shop')?.metadata.annotations?.['ovn.kubernetes.io/logical_switch'], 'net');
});

test('selectors that no labels can match, and a provider that no network has, are reported by their item', () => {
  const bench = setUp();
  bench.edit('subnets', 'net', {
    namespaceSelectors: [{ matchLabels: { ok: 'yes' } }, { matchLabels: { 'bad key': 'x' } }],
    gatewayNodeSelectors: [
      { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a b'] }] },
      { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a b', 'c'] }] },
      { matchExpressions: [{ key: 'no key', operator: 'DoesNotExist' }] },
      { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a b', 'c'] }] },
    ],
    provider: 'Nad.shop.ovn',
  });
  bench.converge();
  const [, reason, message = ''] = ineffectiveOf(bench, 'subnets', 'net');
  assert.equal(reason, 'SelectorImpossible');
  assert.match(message, /spec\.namespaceSelectors\[1\] "\{.*\}" asks for label "bad key", a key that no label has/);
  assert.match(message, /spec\.gatewayNodeSelectors\[0\] .* asks for label "zone" with "a b", which no label can have for a value/);
  assert.match(message, /spec\.gatewayNodeSelectors\[1\] .* excludes label "zone" with "a b", which no label can have/);
  assert.match(message, /spec\.gatewayNodeSelectors\[2\] .* excludes label "no key", a key that no label has/);
  assert.doesNotMatch(message, /gatewayNodeSelectors\[3\] "[^;]* label/);
  assert.match(message, /spec\.provider "Nad\.shop\.ovn" is a text that no network attachment is named by/);
  assert.doesNotMatch(message, /namespaceSelectors\[0\]/);
  bench.edit('subnets', 'net', { namespaceSelectors: [], gatewayNodeSelectors: [], provider: 'ovn' });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net'), []);
});

test('an invalid Subnet has no condition WithoutEffect', () => {
  const bench = setUp();
  bench.edit('subnets', 'net', { namespaces: ['a_b'] });
  bench.converge();
  assert.equal(ineffectiveOf(bench, 'subnets', 'net').length, 3);
  bench.edit('subnets', 'net', { gateway: '10.9.9.9,fd01::1' });
  bench.converge();
  assert.equal(bench.condition('subnets', 'net', 'Accepted')?.status, 'False');
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'net'), []);
});

test('namespaces that do not exist are reported until they do, on Vpc, Subnet, IPPool and Vip', () => {
  const bench = setUp();
  bench.edit('vpcs', 'blue', { namespaces: ['shop'] });
  bench.edit('subnets', 'net', { namespaces: ['shop'] });
  bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'net', ips: ['10.1.0.20'], namespaces: ['shop'] } });
  bench.put('vips', { metadata: { name: 'moving' }, spec: { subnet: 'net', namespace: 'shop' } });
  bench.converge();
  const objects = [
    ['vpcs', 'blue', 'Vpc blue: spec.namespaces[0]', 'vpc blue'],
    ['subnets', 'net', 'Subnet net: spec.namespaces[0]', 'subnet net'],
    ['ippools', 'few', 'IPPool few: spec.namespaces[0]', 'ippool few'],
    ['vips', 'moving', 'Vip moving: spec.namespace', 'vips.kubeovn.io moving'],
  ] as const;
  for (const [resource, name, field, edit] of objects)
    assert.deepEqual(ineffectiveOf(bench, resource, name), [
      'True',
      'NamespaceMissing',
      `${field} "shop" does not exist; it takes effect as soon as a namespace of that name exists. All else is in effect; kubectl edit ${edit}`,
    ]);
  bench.put('namespaces', { metadata: { name: 'shop' } });
  bench.converge();
  for (const [resource, name] of objects) assert.deepEqual(ineffectiveOf(bench, resource, name), []);
});

test('N51: a Subnet says that its switch is nearly full of ports before OVN has no key left for one, and no longer once there is room', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('wide', { cidrBlock: '10.0.0.0/15' });
  bench.converge();
  const use = (using: bigint): void => {
    const usage = bench.world.usage.peek('wide') ?? assert.fail();
    bench.world.usage.set('wide', { ...usage, v4: { ...usage.v4, using } });
    bench.converge();
  };
  use(29_490n);
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'wide'), []);
  use(29_491n);
  const [status, reason, message = ''] = ineffectiveOf(bench, 'subnets', 'wide');
  assert.deepEqual([status, reason], ['True', 'SwitchNearlyFull']);
  assert.match(message, /^Subnet wide: spec\.cidrBlock "10\.0\.0\.0\/15" has more addresses than its logical switch can have ports/);
  use(20_000n);
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'wide'), []);
});

test('a Subnet that excludes all addresses of a family reports that; a pod that requests one by name gets it; the report is removed with one exclusion less', () => {
  const scene = new PodScene({ joinCidr: '100.64.0.0/16,fd00:100:64::/112' });
  const { bench } = scene;
  scene.subnet('closed', { cidrBlock: '10.7.0.0/24,fd07::/64', excludeIps: ['10.7.0.0..10.7.0.255'], namespaces: ['shop'] });
  bench.converge();
  const [status, reason, message = ''] = ineffectiveOf(bench, 'subnets', 'closed');
  assert.deepEqual([status, reason], ['True', 'SubnetNeverGiven']);
  assert.match(
    message,
    /^Subnet closed: spec\.excludeIps "10\.7\.0\.0\.\.10\.7\.0\.255.*" leaves no address of 10\.7\.0\.0\/24 to allocate; .*kubectl edit subnet closed$/,
  );
  assert.doesNotMatch(message, /address of fd07/);
  scene.pod('fixed', { annotations: { 'ovn.kubernetes.io/ip_address': '10.7.0.9,fd07::9' } });
  bench.converge();
  assert.equal(scene.addressOf('shop/fixed'), '10.7.0.9,fd07::9');
  bench.edit('subnets', 'closed', { excludeIps: ['10.7.0.0..10.7.0.200'] });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'subnets', 'closed'), []);
});

test('fields of a Subnet without effect are reported with the field that they need', () => {
  const bench = setUp();
  const ineffectiveMessage = (spec: object): readonly string[] => {
    bench.put('subnets', { metadata: { name: 'idle' }, spec });
    bench.converge();
    const [, , message = ''] = ineffectiveOf(bench, 'subnets', 'idle');
    bench.delete('subnets', 'idle');
    bench.converge();
    return [...message.matchAll(/spec\.(\w+) "[^"]*(?:"[^"]*)*?" has no effect alone; it takes effect together with ([^.;]*)/g)].map(
      ([, field = '', needs = '']) => `${field}: ${needs}`,
    );
  };
  const v4 = { vpc: 'blue', cidrBlock: '10.8.0.0/24' };
  assert.deepEqual(
    ineffectiveMessage({ ...v4, dhcpV4Options: 'lease_time=60', ipv6RAConfigs: 'address_mode=slaac', allowSubnets: ['10.9.0.0/16'] }),
    ['dhcpV4Options: spec', 'ipv6RAConfigs: spec', 'allowSubnets: spec'],
  );
  assert.deepEqual(ineffectiveMessage({ ...v4, enableDHCP: true, dhcpV6Options: 'server_id=00:00:00:00:00:01', enableIPv6RA: true }), [
    'dhcpV6Options: an IPv6 network in spec',
    'enableIPv6RA: an IPv6 network in spec',
  ]);
  assert.deepEqual(ineffectiveMessage({ ...v4, gatewayType: 'centralized', gatewayNode: 'n1' }), [
    'gatewayType: the default Vpc, ovn-cluster',
    'gatewayNode: the default Vpc, ovn-cluster',
  ]);
  const rules = [{ match: { dstIPs: '10.9.0.0/16' }, action: 'forward' }];
  const inDefault = { cidrBlock: '10.8.0.0/24' };
  assert.deepEqual(ineffectiveMessage({ ...v4, natOutgoing: true, natOutgoingPolicyRules: rules }), [
    'natOutgoing: the default Vpc, ovn-cluster',
    'natOutgoingPolicyRules: the default Vpc, ovn-cluster',
  ]);
  assert.deepEqual(ineffectiveMessage({ ...inDefault, natOutgoingPolicyRules: rules }), ['natOutgoingPolicyRules: spec']);
  assert.deepEqual(ineffectiveMessage({ ...inDefault, vlan: 'v100', natOutgoing: true }), ['natOutgoing: spec']);
  assert.deepEqual(ineffectiveMessage({ ...inDefault, natOutgoing: true, natOutgoingPolicyRules: rules }), []);
  const egress = { ...inDefault, externalEgressGateway: '172.18.0.9', policyRoutingPriority: 1_000 };
  assert.deepEqual(ineffectiveMessage({ ...egress, policyRoutingTableID: 1_001 }), []);
  assert.deepEqual(ineffectiveMessage({ ...egress, policyRoutingTableID: 254 }), ['externalEgressGateway: a spec']);
  assert.deepEqual(ineffectiveMessage({ ...inDefault, policyRoutingTableID: 1_001 }), ['policyRoutingTableID: spec']);
  assert.deepEqual(ineffectiveMessage({ cidrBlock: '10.8.0.0/24', gatewayNode: 'n1', enableEcmp: true, logicalGateway: true }), [
    'gatewayNode: spec',
    'enableEcmp: spec',
    'logicalGateway: spec',
  ]);
  bench.put('network-attachment-definitions', definition('shop', 'wide', { ipam: { type: 'kube-ovn' }, type: 'macvlan' }));
  assert.deepEqual(ineffectiveMessage({ cidrBlock: '10.8.0.0/24', provider: 'wide.shop', private: true, enableDHCP: true }), [
    'enableDHCP: a network that OVN carries, and spec',
    'private: a network that OVN carries, and spec',
  ]);
  assert.deepEqual(
    ineffectiveMessage({ ...v4, enableDHCP: true, dhcpV4Options: 'lease_time=60', private: true, allowSubnets: ['10.9.0.0/16'] }),
    [],
  );
  assert.deepEqual(ineffectiveMessage({ cidrBlock: '10.8.0.0/24', gatewayType: 'centralized', gatewayNode: 'n1', enableEcmp: true }), []);
});

test('an IPPool in the join Subnet reports that it gives no pod an address, and advises no claim of it', () => {
  const scene = new PodScene();
  scene.bench.put('ippools', { metadata: { name: 'nodes' }, spec: { subnet: 'join', ips: ['100.64.0.50'], namespaces: ['shop'] } });
  scene.bench.converge();
  const [status, reason, message = ''] = ineffectiveOf(scene.bench, 'ippools', 'nodes');
  assert.deepEqual([status, reason], ['True', 'JoinHasNoPods']);
  assert.equal(
    message,
    'IPPool nodes: spec.subnet "join" is for nodes and has no pods; no pod gets an address of the pool, also by its name, and nodes use none: ' +
      'create the pool in a Subnet of pods. All else is in effect; kubectl edit ippool nodes',
  );
});

test('a Vip whose selector matches no pod, or that has no namespace, and a MAC that it cannot have', () => {
  const bench = setUp();
  bench.put('namespaces', { metadata: { name: 'shop' } });
  const vip = (spec: object): readonly string[] => {
    bench.put('vips', { metadata: { name: 'moving' }, spec: { subnet: 'net', ...spec } });
    bench.converge();
    const condition = ineffectiveOf(bench, 'vips', 'moving');
    bench.delete('vips', 'moving');
    bench.converge();
    return [condition[1] ?? '', condition[2] ?? ''];
  };
  const [reason, message = ''] = vip({ namespace: 'shop', selector: ['app:web', 'bad key:x'] });
  assert.equal(reason, 'SelectorImpossible');
  assert.match(message, /^Vip moving: spec\.selector\[1\] "bad key:x" asks for label "bad key", a key that no label has; /);
  assert.match(vip({ selector: ['app:web'] })[1] ?? '', /spec\.selector "app:web" has no effect alone; .*spec\.namespace/);
  assert.match(
    vip({ type: 'switch_lb_vip', macAddress: '00:00:00:00:00:09' })[1] ?? '',
    /spec\.macAddress "00:00:00:00:00:09" has no effect alone; .*the router answers/,
  );
  assert.deepEqual(vip({ namespace: 'shop', selector: ['app:web'], macAddress: '00:00:00:00:00:09' }), ['', '']);
});

test('a foreign route with the prefix and router of one in the spec is reported while it exists, and not changed', () => {
  const bench = setUp();
  bench.edit('vpcs', 'blue', { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.1.0.9', policy: 'policyDst' }] });
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), []);
  const router = bench.world.rows.state(rowId('Logical_Router', 'blue'))?.uuid ?? '';
  const parent = { table: 'Logical_Router', uuid: router, column: 'static_routes' } as const;
  const route = { ip_prefix: '0.0.0.0/0', route_table: '', policy: 'dst-ip' };
  bench.foreignRow('Logical_Router_Static_Route', `${UUID}3`, { ...route, nexthop: '10.1.0.10' }, parent);
  // Another route table and another policy: not the same group.
  bench.foreignRow('Logical_Router_Static_Route', `${UUID}4`, { ...route, route_table: 'rtb', nexthop: '10.1.0.11' }, parent);
  bench.foreignRow('Logical_Router_Static_Route', `${UUID}5`, { ...route, policy: 'src-ip', nexthop: '10.1.0.12' }, parent);
  bench.converge();
  const whole =
    'Vpc blue: spec.staticRoutes[0] "0.0.0.0/0" goes by way of 10.1.0.9, and by way of 10.1.0.10 as well: another program has such a route in router blue; ' +
    'OVN takes both as one route and sends a part of the traffic by each; ovn-nbctl lr-route-list blue shows them. All else is in effect; kubectl edit vpc blue';
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), ['True', 'RouteShared', whole]);
  assert.equal(bench.events.filter(({ message }) => message === whole).length, 1);
  assert.ok(bench.row('Logical_Router_Static_Route', 'blue||dst-ip|0.0.0.0/0|10.1.0.10'), 'it is not ours to remove');
  bench.removeForeignRow('Logical_Router_Static_Route', `${UUID}3`);
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), []);
});

test('a foreign route beside the source route of a Subnet is reported on the Subnet, beside the default route on the default Vpc', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24' });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  const beside = (router: string, digit: number, columns: object): void =>
    bench.foreignRow(
      'Logical_Router_Static_Route',
      `${UUID}${digit}`,
      { route_table: '', ...columns },
      {
        table: 'Logical_Router',
        uuid: bench.world.rows.state(rowId('Logical_Router', router))?.uuid ?? '',
        column: 'static_routes',
      },
    );
  beside('blue', 3, { ip_prefix: '10.1.0.0/24', policy: 'src-ip', nexthop: '10.1.0.10' });
  beside('ovn-cluster', 4, { ip_prefix: '0.0.0.0/0', policy: 'dst-ip', nexthop: '100.64.0.99' });
  bench.converge();
  const [status, reason, message] = ineffectiveOf(bench, 'subnets', 'net');
  assert.deepEqual([status, reason], ['True', 'RouteShared']);
  assert.match(
    message ?? '',
    /^Subnet net: spec\.cidrBlock "10\.1\.0\.0\/24" goes by way of 10\.1\.0\.1, and by way of 10\.1\.0\.10 as well/,
  );
  assert.match(
    ineffectiveOf(bench, 'vpcs', 'ovn-cluster')[2] ?? '',
    /"0\.0\.0\.0\/0" goes by way of 100\.64\.0\.1, and by way of 100\.64\.0\.99 as well/,
  );
});

test('a join Subnet that claims namespaces reports that it serves no pods, and no running pod moves there', () => {
  const scene = new PodScene();
  scene.namespace('shop', { annotations: { 'kiln.io/misbound': 'evict' } });
  scene.pod('web', { replicaSet: 'web' });
  scene.bench.converge();
  assert.match(scene.addressOf('shop/web') ?? '', /^10\.16\./);
  scene.bench.edit('subnets', 'join', { namespaces: ['shop'] });
  scene.bench.converge();
  const [status, reason, message] = ineffectiveOf(scene.bench, 'subnets', 'join');
  assert.deepEqual([status, reason], ['True', 'JoinHasNoPods']);
  assert.match(message ?? '', /^Subnet join: spec\.namespaces "shop" claims namespaces, and this Subnet is for nodes and has no pods; /);
  assert.equal(scene.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.reason ?? 'Bound', 'Bound', 'it is where it may be');
  assert.ok(scene.bench.object('pods', 'shop/web') !== undefined, 'not evicted');
  scene.bench.edit('subnets', 'join', { namespaces: [], namespaceSelectors: [{ matchLabels: { team: 'shop' } }] });
  scene.bench.converge();
  assert.match(
    ineffectiveOf(scene.bench, 'subnets', 'join')[2] ?? '',
    /spec\.namespaceSelectors "\[\{"matchLabels":\{"team":"shop"\}\}\]"/,
  );
  scene.bench.edit('subnets', 'join', { namespaceSelectors: [] });
  scene.bench.converge();
  assert.deepEqual(ineffectiveOf(scene.bench, 'subnets', 'join'), []);
});

test('a network that the spec dropped, and that stays for its pods, is not reported as excluded', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('net', { cidrBlock: '10.7.0.0/24,fd07::/64', excludeIps: ['10.7.0.1', 'fd07::1'], namespaces: ['shop'] });
  scene.pod('web');
  bench.converge();
  bench.edit('subnets', 'net', { cidrBlock: '10.7.0.0/24', gateway: '10.7.0.1', excludeIps: ['10.7.0.1'], namespaces: ['shop'] });
  bench.converge();
  assert.match(
    bench.condition('subnets', 'net', 'Accepted')?.message ?? '',
    /fd07::\/64 stays in effect until these are gone: IP web\.shop/,
  );
  assert.doesNotMatch(bench.condition('subnets', 'net', 'WithoutEffect')?.message ?? '', /leaves no address/);
});

test('the network of a peering overlaps a Subnet or another peering: the Vpc reports which one, until the peering has its own', () => {
  const bench = new RuleBench();
  const link = (remoteVpc: string, localConnectIP: string): object => ({ remoteVpc, localConnectIP });
  const peerings = (first: string): object => ({
    vpcPeerings: [link('red', first), link('green', '169.254.0.1/30'), link('grey', '169.254.0.2/30')],
  });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: peerings('10.1.0.1/25') });
  bench.put('subnets', { metadata: { name: 'net' }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/24' } });
  bench.converge();
  const rule =
    'the router sends traffic for it through one of the two ports: give the link a network that nothing else in the Vpc has, such as 169.254.0.0/30';
  const third = `Vpc blue: spec.vpcPeerings[2].localConnectIP "169.254.0.2/30" overlaps 169.254.0.0/30 of spec.vpcPeerings[1], the link to Vpc green; ${rule}`;
  const first = `Vpc blue: spec.vpcPeerings[0].localConnectIP "10.1.0.1/25" overlaps 10.1.0.0/24 of Subnet net; ${rule}`;
  const rest = 'All else is in effect; kubectl edit vpc blue';
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), ['True', 'PeeringOverlaps', `${first}. ${third}. ${rest}`]);
  bench.edit('vpcs', 'blue', peerings('169.254.9.1/30'));
  bench.converge();
  assert.deepEqual(ineffectiveOf(bench, 'vpcs', 'blue'), ['True', 'PeeringOverlaps', `${third}. ${rest}`]);
  bench.edit('vpcs', 'blue', { vpcPeerings: [link('red', '169.254.9.1/30')] });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'blue', 'WithoutEffect'), undefined);
});

test('of two default routes, one by way of the external Subnet, the last one of the spec is in OVN; as Kube-OVN 1.12 leaves them', () => {
  const bench = new RuleBench();
  const route = (cidr: string, nextHopIP: string): object => ({ cidr, nextHopIP, policy: 'policyDst', routeTable: '', ecmpMode: '' });
  const [own, external] = [route('0.0.0.0/0', '10.50.0.254'), route('0.0.0.0/0', '172.19.0.1')];
  const shared = [route('10.9.0.0/16', '10.50.0.2'), route('10.9.0.0/16', '10.50.0.3')];
  const hops = (): readonly string[] =>
    bench
      .rowIds('Logical_Router_Static_Route')
      .filter((id) => id.startsWith('blue||dst-ip|'))
      .map((id) => id.slice('blue||dst-ip|'.length))
      .toSorted();
  bench.put('subnets', { metadata: { name: 'external' }, spec: { cidrBlock: '172.19.0.0/16', gateway: '172.19.0.1', vlan: 'v' } });
  bench.put('subnets', { metadata: { name: 'net' }, spec: { vpc: 'blue', cidrBlock: '10.50.0.0/24' } });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { enableExternal: true, staticRoutes: [own, external, ...shared] } });
  bench.converge();
  const both = ['10.9.0.0/16|10.50.0.2', '10.9.0.0/16|10.50.0.3'];
  assert.deepEqual(hops(), ['0.0.0.0/0|172.19.0.1', ...both]);
  const messages = (): readonly string[] => bench.events.filter(({ reason }) => reason === 'RouteReplaced').map(({ message }) => message);
  assert.match(
    messages()[0] ?? '',
    /spec\.staticRoutes\[0\] "0\.0\.0\.0\/0" by way of 10\.50\.0\.254 is not in effect, and the one by way of 172\.19\.0\.1 is: a later route of the spec/,
  );
  // With two routes of the user, the last one of the spec takes effect.
  bench.edit('vpcs', 'blue', { enableExternal: true, staticRoutes: [external, own, ...shared] });
  bench.converge();
  assert.deepEqual(hops(), ['0.0.0.0/0|10.50.0.254', ...both]);
  // Two routes of the user share the traffic, as in every Vpc.
  bench.edit('vpcs', 'blue', { enableExternal: true, staticRoutes: [own, route('0.0.0.0/0', '10.50.0.253'), ...shared] });
  bench.converge();
  assert.deepEqual(hops(), ['0.0.0.0/0|10.50.0.253', '0.0.0.0/0|10.50.0.254', ...both]);
});

test('DHCPv6 options of a Subnet without an IPv6 network', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('four', { cidrBlock: '10.4.0.0/24', enableDHCP: true, dhcpV6Options: 'dns_server=fd00::1' });
  bench.converge();
  assert.match(
    bench.condition('subnets', 'four', 'WithoutEffect')?.message ?? '',
    /spec\.dhcpV6Options "dns_server=fd00::1" has no effect alone; it takes effect together with an IPv6 network in spec\.cidrBlock/,
  );
});
