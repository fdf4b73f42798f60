import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../../../nb/row-id.ts';
import type { Uuid } from '../../../ovsdb/index.ts';
import { RuleBench } from '../../../testing/rule-bench.ts';
import type { PlainRow } from '../../../testing/rule-bench.ts';
import { RULES } from '../../rules.ts';
import { NETWORK_RULES } from '../../../testing/network-rules.ts';

function setUp(spec: object, vpc = 'blue'): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  if (vpc !== 'ovn-cluster') bench.put('vpcs', { metadata: { name: vpc } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc, cidrBlock: '10.0.0.0/24', ...spec } });
  bench.converge();
  return bench;
}

function keysOf(row: PlainRow | undefined): Record<string, string> {
  const externalIds = (row?.['external_ids'] ?? {}) as Record<string, string>;
  return Object.fromEntries(Object.entries(externalIds).filter(([key]) => !key.startsWith('kiln.io/')));
}

function pick(row: PlainRow | undefined, ...columns: readonly string[]): unknown[] {
  return columns.map((column) => row?.[column]);
}

test('a Subnet is a switch with a link to the router', () => {
  const bench = setUp({ cidrBlock: '10.0.0.77/24,fd00::/112', gateway: '10.0.0.254', routeTable: 't1' });
  assert.deepEqual(keysOf(bench.row('Logical_Switch', 'red')), { vendor: 'kube-ovn' });
  const port = bench.row('Logical_Switch_Port', 'red-blue');
  assert.deepEqual(pick(port, 'type', 'addresses', 'options'), ['router', ['router'], { 'router-port': 'blue-red' }]);
  assert.deepEqual(keysOf(port), { ls: 'red', vendor: 'kube-ovn' });
  const routerPort = bench.row('Logical_Router_Port', 'blue-red');
  assert.deepEqual(pick(routerPort, 'networks', 'options', 'ipv6_ra_configs'), [
    ['10.0.0.254/24', 'fd00::1/112'],
    { route_table: 't1' },
    {},
  ]);
  assert.deepEqual(keysOf(routerPort), { lr: 'blue', vendor: 'kube-ovn' });
  assert.match(String(routerPort?.['mac']), /^[0-9a-f][26ae](:[0-9a-f]{2}){5}$/);
});

const ROUTER = '11111111-1111-4111-8111-111111111111' as Uuid;
const ROUTER_PORT = '11111111-1111-4111-8111-111111111112' as Uuid;

test('a Subnet does not link to a foreign router port of its name', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.foreignRow('Logical_Router', ROUTER, { name: 'theirs' });
  const port = { name: 'blue-red', mac: '00:00:00:00:00:01', networks: ['10.0.0.1/24'] };
  bench.foreignRow('Logical_Router_Port', ROUTER_PORT, port, { table: 'Logical_Router', uuid: ROUTER, column: 'ports' });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock: '10.0.0.0/24' } });
  bench.converge();
  assert.ok(bench.row('Logical_Switch', 'red') !== undefined);
  assert.equal(bench.row('Logical_Switch_Port', 'red-blue'), undefined);
  bench.removeForeignRow('Logical_Router', ROUTER);
  bench.converge();
  assert.deepEqual(bench.row('Logical_Switch_Port', 'red-blue')?.['options'], { 'router-port': 'blue-red' });
  assert.deepEqual(bench.row('Logical_Router', 'blue')?.['ports'], ['Logical_Router_Port/blue-red']);
});

test('of two Subnets whose router ports have one name, only one links to it, and the other one after that is gone', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  for (const [vpc, subnet, cidrBlock] of [
    ['a', 'b-c', '10.0.0.0/24'],
    ['a-b', 'c', '10.1.0.0/24'],
  ] as const) {
    bench.put('vpcs', { metadata: { name: vpc } });
    bench.put('subnets', { metadata: { name: subnet }, spec: { vpc, cidrBlock } });
    bench.converge();
  }
  assert.deepEqual(bench.row('Logical_Router', 'a')?.['ports'], ['Logical_Router_Port/a-b-c']);
  assert.deepEqual(bench.row('Logical_Switch', 'c')?.['ports'], []);
  bench.delete('subnets', 'b-c');
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router', 'a-b')?.['ports'], ['Logical_Router_Port/a-b-c']);
  assert.deepEqual(bench.row('Logical_Switch', 'c')?.['ports'], ['Logical_Switch_Port/c-a-b']);
});

for (const kept of ['is refused', 'was removed by force'] as const)
  test(`a network whose Subnet ${kept} ${kept === 'is refused' ? 'gets its missing router port again' : 'drops its link if its router port is missing'} where another has the name: never two behind one port`, () => {
    const bench = new RuleBench({ rules: kept === 'was removed by force' ? RULES : NETWORK_RULES });
    for (const vpc of ['a', 'a-b']) bench.put('vpcs', { metadata: { name: vpc } });
    bench.put('subnets', { metadata: { name: 'c' }, spec: { vpc: 'a-b', cidrBlock: '10.1.0.0/24' } });
    bench.converge();
    bench.put('subnets', { metadata: { name: 'b-c' }, spec: { vpc: 'a', cidrBlock: '10.0.0.0/24' } });
    bench.converge();
    assert.deepEqual(bench.row('Logical_Router', 'a-b')?.['ports'], ['Logical_Router_Port/a-b-c']);
    if (kept === 'was removed by force') {
      bench.put('ips', { metadata: { name: 'held' }, spec: { subnet: 'c', ipAddress: '10.1.0.9', v4IpAddress: '10.1.0.9' } });
      bench.converge();
      bench.removeByForce('subnets', 'c');
    } else bench.edit('subnets', 'c', { cidrBlock: 'nonsense' });
    bench.converge();
    const { world, northbound } = bench;
    world.rows.apply(
      northbound,
      northbound.remove('Logical_Router_Port', world.rows.best(rowId('Logical_Router_Port', 'a-b-c'))?.uuid as Uuid),
    );
    const links = (): number => ['c-a-b', 'b-c-a'].filter((name) => bench.row('Logical_Switch_Port', name) !== undefined).length;
    while (bench.step())
      assert.ok(bench.row('Logical_Router_Port', 'a-b-c') === undefined || links() < 2, 'two switches behind one router port');
    bench.converge();
    const [subnet, router, others] = kept === 'is refused' ? ['c', 'a-b', 'b-c'] : ['b-c', 'a', 'c'];
    assert.deepEqual(bench.row('Logical_Switch', subnet)?.['ports'], [`Logical_Switch_Port/${subnet}-${router}`]);
    assert.deepEqual(bench.row('Logical_Router', router)?.['ports'], ['Logical_Router_Port/a-b-c']);
    assert.deepEqual(bench.row('Logical_Switch', others)?.['ports'], []);
    assert.equal(bench.writesAfterRestart(), 0);
  });

test('a link stays while its router port has lost its ownership keys', () => {
  const bench = setUp({});
  const [uuid] = [...bench.northbound.table('Logical_Router_Port')].find(([, row]) => row['name'] === 'blue-red') ?? [];
  assert.ok(uuid !== undefined);
  const edit = { kind: 'update', table: 'Logical_Router_Port', uuid, row: { external_ids: {} } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  bench.converge();
  assert.deepEqual(bench.row('Logical_Switch', 'red')?.['ports'], ['Logical_Switch_Port/red-blue']);
});

const RANDOM = '0a:58:00:00:00:01';

/** Another program's edit of the router port and the DHCP server of Subnet red. */
function writtenByHand(bench: RuleBench, keys?: Readonly<Record<string, string>>): void {
  for (const [table, one, row] of [
    ['Logical_Router_Port', { name: 'blue-red' }, { mac: RANDOM, networks: ['10.9.9.9/24'] }],
    ['DHCP_Options', { cidr: '10.0.0.0/24' }, { options: { server_mac: RANDOM, lease_time: '9' } }],
  ] as const) {
    const [name, value] = Object.entries(one)[0] ?? ['', ''];
    const [uuid, found] = [...bench.northbound.table(table)].find(([, candidate]) => candidate[name] === value) ?? [];
    assert.ok(uuid !== undefined && found !== undefined);
    const ids = Object.fromEntries(
      [...(found['external_ids'] as ReadonlyMap<string, string>)].filter(([key]) => ['ls', 'protocol', 'lr'].includes(key)),
    );
    const edit = { kind: 'update', table, uuid, row: { ...row, ...(keys && { external_ids: { ...ids, ...keys } }) } } as const;
    bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  }
  bench.converge();
}

const macs = (bench: RuleBench): readonly unknown[] => {
  const [options] = [...bench.northbound.table('DHCP_Options')].map(([, row]) => row['options'] as ReadonlyMap<string, string>);
  return [bench.row('Logical_Router_Port', 'blue-red')?.['mac'], options?.get('server_mac'), options?.get('lease_time')];
};

test('a MAC that another program writes into a row of ours does not stay', () => {
  const bench = setUp({ enableDHCP: true });
  const before = macs(bench);
  writtenByHand(bench);
  assert.deepEqual(macs(bench), before);
  assert.deepEqual(bench.row('Logical_Router_Port', 'blue-red')?.['networks'], ['10.0.0.1/24']);
});

test("an adopted row keeps Kube-OVN's MAC, which is restored after another program changed it", () => {
  const bench = setUp({ enableDHCP: true });
  writtenByHand(bench, { vendor: 'kube-ovn' });
  assert.deepEqual(macs(bench), [RANDOM, RANDOM, '3600']);
  const uuid = [...bench.northbound.table('Logical_Router_Port')].find(([, row]) => row['name'] === 'blue-red')?.[0];
  assert.ok(uuid !== undefined);
  const byHand = { kind: 'update', table: 'Logical_Router_Port', uuid, row: { mac: '0a:58:00:00:00:02' } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([byHand]));
  bench.edit('subnets', 'red', { routeTable: 't2' });
  bench.converge();
  assert.deepEqual(macs(bench), [RANDOM, RANDOM, '3600']);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('router advertisements, with defaults and as configured', () => {
  const bench = setUp({ cidrBlock: 'fd00:1::/64', enableIPv6RA: true });
  const columns = ['ipv6_prefix', 'ipv6_ra_configs'];
  const defaults = { address_mode: 'dhcpv6_stateful', max_interval: '30', min_interval: '5', send_periodic: 'true' };
  assert.deepEqual(pick(bench.row('Logical_Router_Port', 'blue-red'), ...columns), [['64'], defaults]);
  bench.edit('subnets', 'red', { ipv6RAConfigs: 'address_mode=slaac,send_periodic=true' });
  bench.converge();
  assert.deepEqual(pick(bench.row('Logical_Router_Port', 'blue-red'), ...columns), [
    ['64'],
    { address_mode: 'slaac', send_periodic: 'true' },
  ]);
});

test('DHCP options of each family, with the MTU inside the tunnel, and a stable server MAC', () => {
  const bench = setUp({ cidrBlock: '10.0.0.0/24,fd00::/112', enableDHCP: true });
  const v4 = bench.row('DHCP_Options', 'red|IPv4|');
  const options = bench.map('DHCP_Options', 'red|IPv4|', 'options');
  assert.deepEqual(
    { ...options, server_mac: '' },
    { lease_time: '3600', router: '10.0.0.1', server_id: '169.254.0.254', server_mac: '', mtu: '1400' },
  );
  assert.deepEqual([v4?.['cidr'], keysOf(v4)], ['10.0.0.0/24', { ls: 'red', protocol: 'IPv4', vendor: 'kube-ovn' }]);
  assert.deepEqual(Object.keys(bench.map('DHCP_Options', 'red|IPv6|', 'options')), ['server_id']);
  const { status } = bench.object('subnets', 'red') ?? {};
  assert.ok([...bench.northbound.table('DHCP_Options').keys()].includes(status?.['dhcpV4OptionsUUID'] as never));
  bench.edit('subnets', 'red', { dhcpV4Options: 'lease_time=60,dns_server={10.0.0.9;10.0.0.10}', mtu: 1342 });
  bench.converge();
  assert.deepEqual(bench.row('DHCP_Options', 'red|IPv4|')?.['options'], {
    ...options,
    lease_time: '60',
    dns_server: '{10.0.0.9,10.0.0.10}',
    mtu: '1342',
  });
  bench.edit('subnets', 'red', { enableDHCP: false });
  bench.converge();
  assert.deepEqual([bench.rowIds('DHCP_Options'), bench.object('subnets', 'red')?.status?.['dhcpV4OptionsUUID']], [[], '']);
});

test('a private Subnet admits its members, allowSubnets and nodes', () => {
  const bench = setUp({ private: true, allowSubnets: ['10.9.0.0/16', 'fd00::/64'] });
  assert.deepEqual(bench.rowIds('ACL'), [
    'red|to-lport|1000|ip',
    'red|to-lport|1001|(ip4.src == 10.0.0.0/24 && ip4.dst == 10.9.0.0/16) || (ip4.src == 10.9.0.0/16 && ip4.dst == 10.0.0.0/24)',
    'red|to-lport|1001|ip4.src == 10.0.0.0/24 && ip4.dst == 10.0.0.0/24',
    'red|to-lport|3000|ip4.src == 100.64.0.0/16',
  ]);
  const drop = bench.row('ACL', 'red|to-lport|1000|ip');
  assert.deepEqual(pick(drop, 'name', 'action', 'log', 'severity', 'tier'), ['red', 'drop', true, 'warning', 2]);
  assert.deepEqual(keysOf(drop), { parent: 'red', vendor: 'kube-ovn' });
  assert.equal(bench.row('ACL', 'red|to-lport|3000|ip4.src == 100.64.0.0/16')?.['action'], 'allow-related');
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.reason, 'SetPrivateLogicalSwitchSuccess');
  bench.edit('subnets', 'red', { private: false });
  bench.converge();
  assert.deepEqual(bench.rowIds('ACL'), []);
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.reason, 'ResetLogicalSwitchAclSuccess');
});

test('ACLs of the spec change one by one, and a foreign one stays', () => {
  const acl = { direction: 'to-lport', priority: 1005, match: 'ip4.src == 10.0.0.9', action: 'drop' };
  const bench = setUp({ acls: [acl], allowEWTraffic: true });
  const within = 'ip4.src == 10.0.0.0/24 && ip4.dst == 10.0.0.0/24';
  assert.deepEqual(bench.rowIds('ACL'), [
    `red|from-lport|1900|${within}`,
    'red|to-lport|1005|ip4.src == 10.0.0.9',
    `red|to-lport|1900|${within}`,
  ]);
  assert.deepEqual(keysOf(bench.row('ACL', 'red|to-lport|1005|ip4.src == 10.0.0.9')), { parent: 'red', subnet: 'red', vendor: 'kube-ovn' });
  const before = [...bench.northbound.table('ACL')].find(([, row]) => row['priority'] === 1005)?.[0];
  const uuid = [...bench.northbound.table('Logical_Switch')].find(([, row]) => row['name'] === 'red')?.[0] ?? '';
  bench.foreignRow(
    'ACL',
    '33333333-3333-4333-8333-333333333333',
    { direction: 'to-lport', priority: 7, match: 'arp', action: 'allow' },
    { table: 'Logical_Switch', uuid, column: 'acls' },
  );
  bench.edit('subnets', 'red', { acls: [acl, { ...acl, priority: 1006 }], allowEWTraffic: false });
  bench.converge();
  assert.deepEqual(bench.rowIds('ACL'), [
    'red|to-lport|1005|ip4.src == 10.0.0.9',
    'red|to-lport|1006|ip4.src == 10.0.0.9',
    'red|to-lport|7|arp',
  ]);
  assert.ok(before !== undefined && bench.northbound.table('ACL').has(before));
});

test('a Subnet has an allow policy of each family, one of a custom Vpc a source route too', () => {
  const inDefault = setUp({ cidrBlock: '10.0.0.0/24,fd00::/112' }, 'ovn-cluster');
  const policies = inDefault.rowIds('Logical_Router_Policy').filter((id) => !id.includes('100.64') && !id.includes('10.16'));
  assert.deepEqual(policies, ['ovn-cluster|31000|ip4.dst == 10.0.0.0/24', 'ovn-cluster|31000|ip6.dst == fd00::/112']);
  assert.deepEqual(keysOf(inDefault.row('Logical_Router_Policy', policies[0] ?? '')), { subnet: 'red', vendor: 'kube-ovn' });
  const custom = setUp({ routeTable: 't1' });
  assert.deepEqual(
    custom.rowIds('Logical_Router_Policy').filter((id) => id.startsWith('blue')),
    ['blue|31000|ip4.dst == 10.0.0.0/24'],
  );
  assert.deepEqual(
    custom.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue')),
    ['blue|t1|src-ip|10.0.0.0/24|10.0.0.1'],
  );
});

test('the source route of a Subnet does not hide a larger one of the same Vpc', () => {
  const bench = setUp({});
  bench.put('subnets', { metadata: { name: 'large' }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/16' } });
  bench.converge();
  assert.deepEqual(
    bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue')),
    ['blue||src-ip|10.1.0.0/16|10.1.0.1'],
  );
});

test("the source route of a Subnet does not hide routes of the Vpc's spec", () => {
  const bench = setUp({});
  bench.edit('vpcs', 'blue', { staticRoutes: [{ cidr: '10.0.0.128/25', nextHopIP: '10.0.0.9', policy: 'policyDst' }] });
  bench.converge();
  assert.ok(bench.rowIds('Logical_Router_Static_Route').includes('blue||src-ip|10.0.0.0/24|10.0.0.1'));
  bench.edit('vpcs', 'blue', { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.0.0.9', policy: 'policyDst' }] });
  bench.converge();
  assert.deepEqual(
    bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue')),
    ['blue||dst-ip|0.0.0.0/0|10.0.0.9'],
  );
});

test('the load balancers of the Vpc are attached unless enableLb is false', () => {
  const bench = setUp({});
  assert.equal(bench.list('Logical_Switch', 'red', 'load_balancer')[0], 'Load_Balancer/vpc-blue-sctp-load');
  bench.edit('subnets', 'red', { enableLb: false });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Switch', 'red')?.['load_balancer'], []);
});

test('the load balancers stay while the Subnet is frozen, also if the spec names another Vpc and the router port is deleted', () => {
  const bench = setUp({});
  bench.put('vpcs', { metadata: { name: 'green' } });
  bench.converge();
  const held = bench.list('Logical_Switch', 'red', 'load_balancer');
  bench.edit('subnets', 'red', { cidrBlock: 'nonsense', vpc: 'green' });
  const { world, northbound } = bench;
  const port = world.rows.best(rowId('Logical_Router_Port', 'blue-red'));
  world.rows.apply(northbound, northbound.remove('Logical_Router_Port', port?.uuid as Uuid));
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'Accepted')?.status, 'False');
  assert.deepEqual(bench.list('Logical_Switch', 'red', 'load_balancer'), held);
});

test('a load balancer deleted while the Subnet is frozen is created again, and put into the switch', () => {
  const bench = setUp({});
  const names = (): readonly string[] => bench.list('Logical_Switch', 'red', 'load_balancer').toSorted();
  const held = names();
  bench.edit('subnets', 'red', { cidrBlock: 'nonsense' });
  bench.converge();
  const { world, northbound } = bench;
  const balancer = world.rows.best(rowId('Load_Balancer', 'vpc-blue-tcp-load'));
  world.rows.apply(northbound, northbound.remove('Load_Balancer', balancer?.uuid as Uuid));
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'Accepted')?.status, 'False');
  assert.deepEqual([held.length, names()], [6, held]);
});

test('a Subnet of another provider is for addresses only', () => {
  const bench = setUp({ provider: 'macvlan.default', vpc: '' }, 'ovn-cluster');
  assert.equal(bench.row('Logical_Switch', 'red'), undefined);
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.reason, 'SetNonOvnSubnetSuccess');
  assert.equal(bench.object('subnets', 'red')?.status?.['v4availableIPs'], 253n);
  assert.deepEqual(bench.object('vpcs', 'ovn-cluster')?.status?.['subnets'], ['join', 'ovn-default']);
});

test("multicast snooping that Kube-OVN set in the switch stays while the Subnet requests it, beside another program's keys", () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  const snoop = { mcast_snoop: 'true', mcast_querier: 'true', mcast_ip4_src: '10.0.0.9' };
  const config = new Map(Object.entries({ ...snoop, 'vlan-passthru': 'true' }));
  bench.foreignRow('Logical_Switch', '11111111-1111-4111-8111-111111111111', {
    ...{ name: 'red', other_config: config, external_ids: { vendor: 'kube-ovn' } },
  });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24', enableMulticastSnoop: true } });
  bench.converge();
  const held = (): unknown => bench.row('Logical_Switch', 'red')?.['other_config'];
  assert.deepEqual(held(), { ...snoop, 'vlan-passthru': 'true' });
  bench.edit('subnets', 'red', { enableMulticastSnoop: false });
  bench.converge();
  assert.deepEqual(held(), { 'vlan-passthru': 'true' });
});

test('fields of a Subnet that are not implemented are reported', () => {
  const bench = setUp({ natOutgoing: true, nodeNetwork: 'default', enableMulticastSnoop: true });
  const reported = bench.events.filter(({ object, reason }) => object === 'subnets/red' && reason === 'UnsupportedField');
  assert.deepEqual(
    reported.map(({ message }) => message.split(' ')[2]),
    ['spec.enableMulticastSnoop', 'spec.nodeNetwork'],
  );
  const condition = bench.condition('subnets', 'red', 'NotCarriedOut');
  assert.deepEqual([condition?.status, condition?.reason], ['True', 'UnsupportedField']);
  for (const { message } of reported) assert.ok(condition?.message?.includes(message) === true, condition?.message);
  bench.edit('subnets', 'red', { nodeNetwork: '', enableMulticastSnoop: false });
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'NotCarriedOut'), undefined);
});

test("the rules of outgoing NAT are in the status, where Kube-OVN's node agent reads them", () => {
  const natOutgoingPolicyRules = [
    { action: 'forward', match: { srcIPs: '10.0.0.5', dstIPs: '8.8.8.8' } },
    { action: 'nat', match: { dstIPs: '10.0.0.0/8' } },
  ];
  const bench = setUp({ natOutgoing: true, natOutgoingPolicyRules });
  // printf '%s' 'red0{"match":{"srcIPs":"10.0.0.5","dstIPs":"8.8.8.8"},"action":"forward"}' | sha256sum | cut -c1-12
  assert.deepEqual(bench.object('subnets', 'red')?.status?.['natOutgoingPolicyRules'], [
    { ...natOutgoingPolicyRules[0], ruleID: '7a4be7ca160f' },
    { ...natOutgoingPolicyRules[1], ruleID: '01dde5aee056' },
  ]);
  bench.edit('subnets', 'red', { natOutgoing: false });
  bench.converge();
  assert.deepEqual(bench.object('subnets', 'red')?.status?.['natOutgoingPolicyRules'], []);
});

test('a restarted controller plans nothing', () => {
  const bench = setUp({ private: true, enableDHCP: true, cidrBlock: '10.0.0.0/24,fd00::/112', enableIPv6RA: true });
  assert.equal(bench.writesAfterRestart(), 0);
});
