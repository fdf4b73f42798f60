import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../testing/rule-bench.ts';
import type { PlainRow } from '../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../../testing/network-rules.ts';

function setUp(): RuleBench {
  return new RuleBench({ rules: NETWORK_RULES });
}

function pick(row: PlainRow | undefined, ...columns: readonly string[]): unknown[] {
  return columns.map((column) => row?.[column]);
}

test('a Vpc is a router that does not learn from ARP requests, unless it has a peer', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  const base = { mac_binding_age_threshold: '300', dynamic_neigh_routers: 'true' };
  assert.deepEqual(bench.row('Logical_Router', 'blue')?.['options'], { ...base, always_learn_from_arp_request: 'false' });
  bench.edit('vpcs', 'blue', { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/30' }] });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router', 'blue')?.['options'], base);
});

test("another program's options of the router stay", () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  const [uuid] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? [];
  assert.ok(uuid !== undefined);
  bench.world.rows.apply(
    bench.northbound,
    bench.northbound.apply([
      { kind: 'keys', table: 'Logical_Router', uuid, column: 'options', set: { 'requested-tnl-key': '7' }, remove: [] },
    ]),
  );
  bench.edit('vpcs', 'blue', { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/30' }] });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router', 'blue')?.['options'], {
    mac_binding_age_threshold: '300',
    dynamic_neigh_routers: 'true',
    'requested-tnl-key': '7',
  });
});

test('a Vpc that mirrors a foreign router leaves it alone', () => {
  const bench = setUp();
  bench.foreignRow('Logical_Router', '11111111-1111-4111-8111-111111111111', { name: 'theirs', options: { chassis: 'c' } });
  bench.put('vpcs', { metadata: { name: 'theirs', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } } });
  bench.converge();
  assert.deepEqual(pick(bench.row('Logical_Router', 'theirs'), 'options', 'external_ids'), [{ chassis: 'c' }, {}]);
  assert.equal(bench.object('vpcs', 'theirs')?.status?.['standby'], true);
});

test('a foreign router of that name is a conflict, and the Vpc is not ready', () => {
  const bench = setUp();
  bench.foreignRow('Logical_Router', '11111111-1111-4111-8111-111111111111', { name: 'blue' });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  assert.equal(bench.object('vpcs', 'blue')?.status?.['standby'], false);
  assert.deepEqual([...bench.conflicts.keys()], ['Logical_Router/blue']);
});

test('six load balancers, with and without session affinity', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  const columns = ['protocol', 'selection_fields', 'options'];
  assert.deepEqual(pick(bench.row('Load_Balancer', 'vpc-blue-udp-load'), ...columns), [
    'udp',
    [],
    { ct_flush: 'true', prefer_local_backend: 'false', reject: 'true' },
  ]);
  assert.deepEqual(pick(bench.row('Load_Balancer', 'vpc-blue-tcp-sess-load'), ...columns), [
    'tcp',
    ['ip_src', 'ipv6_src'],
    { prefer_local_backend: 'false', reject: 'true' },
  ]);
  const ofClients = bench.map('Load_Balancer', 'vpc-blue-udp-sess-load', 'options');
  assert.equal(ofClients['ct_flush'], 'true', 'a UDP client leaves a backend that is gone, with affinity too');
  assert.equal(bench.rowIds('Load_Balancer').filter((name) => name.startsWith('vpc-blue-')).length, 6);
  assert.equal(bench.object('vpcs', 'blue')?.status?.['sctpSessionLoadBalancer'], 'vpc-blue-sctp-sess-load');
});

test('several next hops of one prefix stay side by side', () => {
  const bench = setUp();
  const route = { cidr: '0.0.0.0/0', policy: 'policyDst' };
  bench.put('vpcs', {
    metadata: { name: 'blue' },
    spec: {
      staticRoutes: [
        { ...route, nextHopIP: '10.0.0.2' },
        { ...route, nextHopIP: '10.0.0.3' },
        { cidr: '10.7.0.9', policy: 'policySrc', nextHopIP: '10.0.0.4', routeTable: 't1' },
      ],
    },
  });
  bench.converge();
  const ours = (): string[] => bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue'));
  assert.deepEqual(ours(), ['blue|t1|src-ip|10.7.0.9|10.0.0.4', 'blue||dst-ip|0.0.0.0/0|10.0.0.2', 'blue||dst-ip|0.0.0.0/0|10.0.0.3']);
  const { writes } = bench;
  bench.put('vpcs', { metadata: { name: 'other' } });
  bench.converge();
  bench.delete('vpcs', 'other');
  bench.converge();
  assert.equal(ours().length, 3);
  assert.ok(bench.writes > writes);
});

test('an invalid route is left out, named in a condition, and does not delay the valid one', () => {
  const bench = setUp();
  bench.put('vpcs', {
    metadata: { name: 'blue' },
    spec: {
      staticRoutes: [
        { cidr: '10.0.0.0/8', policy: 'policyDst', nextHopIP: 'nonsense' },
        { cidr: '10.0.0.0/8', policy: 'policyDst', nextHopIP: '10.0.0.3' },
      ],
    },
  });
  bench.converge();
  assert.deepEqual(
    bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue')),
    ['blue||dst-ip|10.0.0.0/8|10.0.0.3'],
  );
  assert.match(bench.condition('vpcs', 'blue', 'Accepted')?.message ?? '', /Vpc blue: spec\.staticRoutes\[0\]\.nextHopIP "nonsense"/);
});

test('an empty policy of a route is written back as policyDst', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { staticRoutes: [{ cidr: '10.0.0.0/8', nextHopIP: '10.0.0.3' }] } });
  bench.converge();
  assert.deepEqual(bench.object('vpcs', 'blue')?.spec['staticRoutes'], [
    { cidr: '10.0.0.0/8', nextHopIP: '10.0.0.3', policy: 'policyDst' },
  ]);
});

test('the default Vpc has a default route in every route table that its routes use', () => {
  const bench = setUp();
  bench.put('vpcs', {
    metadata: { name: 'ovn-cluster' },
    spec: { staticRoutes: [{ cidr: '10.7.0.0/16', policy: 'policyDst', nextHopIP: '10.16.0.9', routeTable: 'blue' }] },
  });
  bench.converge();
  assert.deepEqual(bench.rowIds('Logical_Router_Static_Route'), [
    'ovn-cluster|blue|dst-ip|0.0.0.0/0|100.64.0.1',
    'ovn-cluster|blue|dst-ip|10.7.0.0/16|10.16.0.9',
    'ovn-cluster||dst-ip|0.0.0.0/0|100.64.0.1',
  ]);
});

test('one policy route of a user leaves those of the system alone', () => {
  const bench = setUp();
  bench.converge();
  const before = [...bench.northbound.table('Logical_Router_Policy').keys()];
  const [router] = [...bench.northbound.table('Logical_Router').keys()];
  bench.foreignRow(
    'Logical_Router_Policy',
    '22222222-2222-4222-8222-222222222222',
    { priority: 12, match: 'ip4', action: 'drop' },
    { table: 'Logical_Router', uuid: router ?? '', column: 'policies' },
  );
  bench.edit('vpcs', 'ovn-cluster', {
    policyRoutes: [{ priority: 10, match: 'ip4.src == 10.16.0.7', action: 'reroute', nextHopIP: '10.16.0.8,10.16.0.6' }],
  });
  bench.converge();
  const after = bench.northbound.table('Logical_Router_Policy');
  assert.ok(before.every((uuid) => after.has(uuid)));
  assert.ok(after.has('22222222-2222-4222-8222-222222222222' as never));
  assert.deepEqual(pick(bench.row('Logical_Router_Policy', 'ovn-cluster|10|ip4.src == 10.16.0.7'), 'action', 'nexthops'), [
    'reroute',
    ['10.16.0.6', '10.16.0.8'],
  ]);
});

test('an invalid peering is not reported as peered', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: '169.254.0.1/30' }] } });
  bench.converge();
  const { status, reason, message } = bench.condition('vpcs', 'blue', 'Peered') ?? {};
  assert.deepEqual([status, reason], ['False', 'VpcPeeringInvalid']);
  assert.match(message ?? '', /spec\.vpcPeerings\[0\]\.remoteVpc is wrong, so this peering is left out/);
  bench.edit('vpcs', 'blue', { vpcPeerings: [] });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'blue', 'Peered'), undefined);
});

test('two Vpcs that name each other are linked by a port on each router', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/30' }] } });
  bench.converge();
  const peered = (): unknown => {
    const { status, reason, message } = bench.condition('vpcs', 'blue', 'Peered') ?? {};
    return [status, reason, message];
  };
  const lonely = (what: string): string =>
    `Vpc blue: spec.vpcPeerings[0].remoteVpc "green": Vpc green ${what}; a peering works when both sides name each other`;
  assert.deepEqual(peered(), ['False', 'PeerMissing', lonely('does not exist')]);
  assert.equal(bench.events.filter(({ reason }) => reason === 'PeerMissing').length, 1);
  bench.put('vpcs', { metadata: { name: 'green' }, spec: {} });
  bench.converge();
  assert.deepEqual(peered(), ['False', 'PeerMissing', lonely('does not name Vpc blue in its spec.vpcPeerings')]);
  bench.edit('vpcs', 'green', { vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: '169.254.0.2/30' }] });
  bench.converge();
  assert.deepEqual(peered(), ['True', 'Peered', '']);
  const row = bench.row('Logical_Router_Port', 'blue-green');
  assert.deepEqual(pick(row, 'networks', 'peer'), [['169.254.0.1/30'], 'green-blue']);
  assert.deepEqual(pick(bench.row('Logical_Router_Port', 'green-blue'), 'networks', 'peer'), [['169.254.0.2/30'], 'blue-green']);
  assert.deepEqual(bench.object('vpcs', 'blue')?.status?.['vpcPeerings'], ['green']);
  bench.edit('vpcs', 'blue', { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.2/30' }] });
  bench.converge();
  const rule =
    'both ends of a peering have different addresses in one network, such as 169.254.0.1/30 and 169.254.0.2/30; Vpc green is the other end';
  const field = 'Vpc blue: spec.vpcPeerings[0].localConnectIP';
  assert.deepEqual(peered(), [
    'False',
    'PeeringMismatch',
    `${field} "169.254.0.2/30" has the address 169.254.0.2 of the other end; ${rule}`,
  ]);
  bench.edit('vpcs', 'blue', { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.5/30' }] });
  bench.converge();
  assert.deepEqual(peered(), [
    'False',
    'PeeringMismatch',
    `${field} "169.254.0.5/30" is in network 169.254.0.4/30, and the other end in 169.254.0.0/30; ${rule}`,
  ]);
  assert.deepEqual(pick(bench.row('Logical_Router_Port', 'blue-green'), 'networks', 'mac'), [['169.254.0.5/30'], row?.['mac']]);
  bench.edit('vpcs', 'blue', { vpcPeerings: [] });
  bench.converge();
  assert.equal(bench.row('Logical_Router_Port', 'blue-green'), undefined);
  assert.equal(bench.condition('vpcs', 'blue', 'Peered'), undefined);
});

test('a peering whose other end is left out is not reported as peered: invalid, without a router, or a foreign port has its name', () => {
  const bench = setUp();
  const link = (remoteVpc: string, localConnectIP: string): object => ({ vpcPeerings: [{ remoteVpc, localConnectIP }] });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: link('green', '169.254.0.1/30') });
  bench.put('vpcs', { metadata: { name: 'green' }, spec: link('blue', '169.254.0.2') });
  bench.converge();
  const peered = (): readonly (string | undefined)[] => {
    const { status, reason, message } = bench.condition('vpcs', 'blue', 'Peered') ?? {};
    return [status, reason, message];
  };
  const about = 'Vpc blue: spec.vpcPeerings[0].remoteVpc "green":';
  for (const invalid of ['169.254.0.2', '', '169.254.0.2/30,169.254.0.6/30']) {
    bench.edit('vpcs', 'green', link('blue', invalid));
    bench.converge();
    assert.equal(bench.row('Logical_Router_Port', 'green-blue'), undefined);
    const message = `${about} spec.vpcPeerings[0].localConnectIP of Vpc green is invalid, so the other end is left out; kubectl edit vpc green`;
    assert.deepEqual(peered(), ['False', 'VpcPeeringInvalid', message], invalid);
  }
  assert.ok(bench.events.some(({ object, reason }) => object === 'vpcs/blue' && reason === 'VpcPeeringInvalid'));
  const twice = { vpcPeerings: ['169.254.0.2/30', '169.254.9.9/30'].map((localConnectIP) => ({ remoteVpc: 'blue', localConnectIP })) };
  bench.edit('vpcs', 'green', twice);
  bench.converge();
  assert.deepEqual(peered(), ['True', 'Peered', ''], 'of two items with one Vpc the first is in effect');

  const router = '11111111-1111-4111-8111-111111111111';
  const port = { name: 'grey-blue', mac: '00:00:00:00:00:01', networks: ['169.254.0.2/30'] };
  bench.foreignRow('Logical_Router', router, { name: 'theirs' });
  bench.foreignRow('Logical_Router_Port', '11111111-1111-4111-8111-111111111112', port, {
    table: 'Logical_Router',
    uuid: router,
    column: 'ports',
  });
  bench.put('vpcs', { metadata: { name: 'grey' }, spec: link('blue', '169.254.0.2/30') });
  bench.edit('vpcs', 'blue', link('grey', '169.254.0.1/30'));
  bench.converge();
  assert.deepEqual(peered().slice(0, 2), ['False', 'RowConflict']);
  assert.match(peered()[2] ?? '', /router port grey-blue belongs to another program .*; ovn-nbctl list Logical_Router_Port grey-blue$/);
  bench.removeForeignRow('Logical_Router', router);
  bench.converge();
  assert.deepEqual(peered(), ['True', 'Peered', '']);

  bench.put('vpcs', {
    metadata: { name: 'far', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } },
    spec: link('blue', '169.254.0.2/30'),
  });
  bench.edit('vpcs', 'blue', link('far', '169.254.0.1/30'));
  bench.converge();
  assert.deepEqual(peered().slice(0, 2), ['False', 'PeerMissing']);
  assert.match(peered()[2] ?? '', /Vpc far has no router of Kiln \(kubectl describe vpc far\)/);
});

test('a router port without keys, as Kube-OVN before 1.12 makes it for a peering, is adopted with its MAC; another one is not', () => {
  const adopted = (router: object, port: object): readonly (string | undefined)[] => {
    const bench = setUp();
    const uuid = '11111111-1111-4111-8111-111111111111';
    bench.foreignRow('Logical_Router', uuid, { name: 'blue', ...router });
    const columns = { name: 'blue-green', mac: '0a:00:00:00:00:01', networks: new Set(['169.254.0.1/30']), peer: 'green-blue', ...port };
    bench.foreignRow('Logical_Router_Port', '11111111-1111-4111-8111-111111111112', columns, {
      table: 'Logical_Router',
      uuid,
      column: 'ports',
    });
    bench.put('vpcs', { metadata: { name: 'blue' }, spec: { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/30' }] } });
    bench.put('vpcs', { metadata: { name: 'green' }, spec: { vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: '169.254.0.2/30' }] } });
    bench.converge();
    const row = bench.row('Logical_Router_Port', 'blue-green');
    return [
      bench.externalIds('Logical_Router_Port', 'blue-green')['kiln.io/owner'],
      String(row?.['mac']),
      String(row?.['peer']),
      bench.condition('vpcs', 'blue', 'Peered')?.reason,
    ];
  };
  const legacy = { external_ids: { vendor: 'kube-ovn' } };
  assert.deepEqual(adopted(legacy, {}), ['vpc//blue', '0a:00:00:00:00:01', 'green-blue', 'Peered']);
  assert.deepEqual(adopted(legacy, { external_ids: { owner: 'me' } })[0], undefined);
  assert.deepEqual(adopted(legacy, { peer: 'elsewhere' })[0], undefined);
  assert.deepEqual(adopted({}, {})[0], undefined, 'in a router of another program');
});

test('a route whose next hop is an own address, or an address of a peering that the other end has not, is reported', () => {
  const bench = setUp();
  bench.put('vpcs', {
    metadata: { name: 'blue' },
    spec: { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/29,fd00:9::1/64' }] },
  });
  bench.put('subnets', { metadata: { name: 'net' }, spec: { vpc: 'blue', cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  const reported = (...hops: readonly string[]): readonly (string | undefined)[] => {
    const staticRoutes = hops.map((nextHopIP) => ({ cidr: nextHopIP.includes(':') ? 'fd77::/64' : '10.77.0.0/24', nextHopIP }));
    const policyRoutes = hops.map((nextHopIP, i) => ({
      action: 'reroute',
      match: `ip && tcp.dst == ${i + 1}`,
      priority: 100 + i,
      nextHopIP,
    }));
    bench.edit('vpcs', 'blue', { staticRoutes, policyRoutes: [] });
    bench.converge();
    const ofRoute = bench.condition('vpcs', 'blue', 'WithoutEffect');
    bench.edit('vpcs', 'blue', { staticRoutes: [], policyRoutes });
    bench.converge();
    const ofPolicy = bench.condition('vpcs', 'blue', 'WithoutEffect');
    assert.equal(ofPolicy?.reason, ofRoute?.reason);
    assert.equal(ofPolicy?.message, ofRoute?.message?.replaceAll('staticRoutes', 'policyRoutes'));
    return [ofRoute?.reason, ...(ofRoute?.message?.match(/nextHopIP "[^"]+" [^:]+(: [^.;]+(\.\d+)*)/g) ?? [])];
  };
  // The other end does not exist: what answers in the network of the link is not known.
  assert.deepEqual(reported('169.254.0.2'), [undefined]);
  bench.put('vpcs', {
    metadata: { name: 'green' },
    spec: { vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: '169.254.0.2/29,fd00:9::2/64' }] },
  });
  bench.put('subnets', { metadata: { name: 'green-net' }, spec: { vpc: 'green', cidrBlock: '10.77.0.0/16,fd77::/64' } });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'blue', 'Peered')?.status, 'True');
  assert.deepEqual(reported('169.254.0.2', 'fd00:9::2', '10.9.0.9'), [undefined]);
  assert.deepEqual(reported('169.254.0.1'), [
    'NextHopUnanswered',
    'nextHopIP "169.254.0.1" is an address of the Vpc\'s own router; the router drops what this route leads there: the other end is 169.254.0.2',
  ]);
  assert.deepEqual(reported('169.254.0.3'), [
    'NextHopUnanswered',
    'nextHopIP "169.254.0.3" is in the network of the peering with Vpc green, and no end of it has that address; the router drops what this route leads there: the other end is 169.254.0.2',
  ]);
  assert.equal(reported('fd00:9::1')[0], 'NextHopUnanswered');
  assert.equal(reported('fd00:9::7')[0], 'NextHopUnanswered');
  assert.deepEqual(reported('10.9.0.1'), [
    'NextHopUnanswered',
    'nextHopIP "10.9.0.1" is an address of the Vpc\'s own router; the router drops what this route leads there: name the address of a pod or of a gateway',
  ]);
});

test('a route over a peering to a network that the remote Vpc does not have is reported until a Subnet there has it', () => {
  const bench = setUp();
  const route = { policy: 'policyDst', cidr: '10.9.0.0/24', nextHopIP: '169.254.0.2' };
  bench.put('vpcs', {
    metadata: { name: 'blue' },
    spec: { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/30' }], staticRoutes: [route] },
  });
  bench.put('vpcs', { metadata: { name: 'green' }, spec: { vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: '169.254.0.2/30' }] } });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'blue', 'Peered')?.status, 'True');
  const { reason, message } = bench.condition('vpcs', 'blue', 'WithoutEffect') ?? {};
  assert.equal(reason, 'PeerLacksNetwork');
  assert.match(message ?? '', /spec\.staticRoutes\[0\]\.cidr "10\.9\.0\.0\/24" lies in no network of Vpc green/);
  bench.put('subnets', { metadata: { name: 'green-net' }, spec: { vpc: 'green', cidrBlock: '10.9.0.0/16' } });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'blue', 'WithoutEffect'), undefined);
});

test('what a Vpc sends over a peering and gets straight back, or that nothing answers, is reported: routes by source, policies, detours', () => {
  const bench = setUp();
  const peerings = [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/30' }];
  const back = [{ remoteVpc: 'blue', localConnectIP: '169.254.0.2/30' }];
  const on = { remoteVpc: 'red', localConnectIP: '169.254.1.1/30' };
  const to = (cidr: string, nextHopIP: string): object => ({ policy: 'policyDst', cidr, nextHopIP });
  const from = (cidr: string, nextHopIP: string): object => ({ policy: 'policySrc', cidr, nextHopIP });
  const reroute = (match: string, nextHopIP: string): object => ({ action: 'reroute', priority: 9, match, nextHopIP });
  bench.put('subnets', { metadata: { name: 'blue-net' }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/24' } });
  const reported = (blue: object, green: object = {}, red: object = {}): readonly string[] => {
    bench.put('vpcs', { metadata: { name: 'red' }, spec: red });
    bench.put('vpcs', { metadata: { name: 'green' }, spec: { vpcPeerings: back, ...green } });
    bench.put('vpcs', { metadata: { name: 'blue' }, spec: { vpcPeerings: peerings, ...blue } });
    bench.converge();
    const { message = '' } = bench.condition('vpcs', 'blue', 'WithoutEffect') ?? {};
    return [...message.matchAll(/Vpc blue: (spec\S+) "[^"]*" (?:lies in no network of|leads to) Vpc (\w+)/g)].map(
      ([, field = '', vpc = '']) => `${field} ${vpc}`,
    );
  };
  const [far, lacks] = ['169.254.0.2', ['spec.staticRoutes[0].cidr green']];
  const route = { staticRoutes: [to('10.9.0.0/24', far)] };
  const policy = { policyRoutes: [reroute('ip4.dst == {10.9.0.0/24, 10.8.0.1}', far)] };
  const any = { policyRoutes: [reroute('ip4.src == 10.1.0.0/24', far)] };
  const lacksPolicy = ['spec.policyRoutes[0].match green'];

  assert.deepEqual(reported(route, { staticRoutes: [to('10.9.0.0/16', '169.254.0.1')] }), lacks, 'straight back');
  assert.deepEqual(reported(route, { policyRoutes: [reroute('ip4.dst == 10.9.0.0/16', '169.254.0.1')] }), lacks, 'back by a policy');
  assert.deepEqual(reported(route, { policyRoutes: [reroute('ip4.dst == 10.7.0.0/16', '10.9.0.1')] }), lacks, 'a policy for others');
  assert.deepEqual(reported(route, { staticRoutes: [from('10.7.0.0/16', '10.9.0.1')] }), lacks, 'a route for others');
  assert.deepEqual(reported(route, { staticRoutes: [from('10.1.0.0/16', '10.9.0.1')] }), [], 'a route for the senders');
  const throughGreen = { vpcPeerings: [...back, on], staticRoutes: [to('10.9.0.0/16', '169.254.1.2')] };
  const redBack = [{ remoteVpc: 'green', localConnectIP: '169.254.1.2/30' }];
  assert.deepEqual(reported(route, throughGreen, { vpcPeerings: redBack }), lacks, 'on to a Vpc that lacks it');
  assert.deepEqual(
    reported(route, throughGreen, { vpcPeerings: redBack, staticRoutes: [to('0.0.0.0/0', '169.254.1.1')] }),
    lacks,
    'and back',
  );
  assert.deepEqual(reported(route, throughGreen, { vpcPeerings: redBack, staticRoutes: [to('0.0.0.0/0', '10.3.0.1')] }), []);

  assert.deepEqual(reported(policy), lacksPolicy);
  assert.deepEqual(reported(any), lacksPolicy);
  assert.deepEqual(reported({ staticRoutes: [from('10.1.0.0/24', far)] }), lacks);
  assert.deepEqual(reported({ staticRoutes: [to('0.0.0.0/0', far)] }), lacks);
  assert.deepEqual(reported({ staticRoutes: [to('169.254.0.2', far)] }), [], 'the other end itself');
  bench.put('subnets', { metadata: { name: 'green-net' }, spec: { vpc: 'green', cidrBlock: '10.8.0.0/24' } });
  for (const served of [policy, any, { staticRoutes: [from('10.1.0.0/24', far)] }, { staticRoutes: [to('0.0.0.0/0', far)] }])
    assert.deepEqual(reported(served), []);
  assert.deepEqual(reported(route), lacks);
});

test('what is not implemented is reported', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue', annotations: { 'ovn.kubernetes.io/vpc_lb': 'on' } }, spec: {} });
  bench.converge();
  const reported = bench.events.filter(({ object, reason }) => object === 'vpcs/blue' && reason === 'UnsupportedField');
  assert.deepEqual(
    reported.map(({ message }) => message.split(' ')[2]),
    ['metadata.annotations[ovn.kubernetes.io/vpc_lb]'],
  );
});

test('a Vpc reports whether its default Subnet exists and is its own', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop'], defaultSubnet: 'net' } });
  bench.converge();
  const reported = (): unknown => {
    const { status, reason, message } = bench.condition('vpcs', 'blue', 'DefaultSubnet') ?? {};
    return [status, reason, message];
  };
  const missing = 'Subnet net does not exist; pods of its namespaces that name no Subnet wait for it; kubectl get subnets';
  assert.deepEqual(reported(), ['False', 'WaitingForSubnet', `Vpc blue: spec.defaultSubnet "net": ${missing}`]);
  assert.equal(bench.events.filter(({ reason }) => reason === 'WaitingForSubnet').length, 1);
  bench.put('subnets', { metadata: { name: 'net' }, spec: { vpc: 'blue', cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  assert.deepEqual(reported(), ['True', 'Accepted', '']);
  bench.edit('vpcs', 'blue', { defaultSubnet: 'ovn-default' });
  bench.converge();
  assert.match(
    bench.condition('vpcs', 'blue', 'DefaultSubnet')?.message ?? '',
    /"ovn-default" is in Vpc ovn-cluster; the default Subnet of a Vpc/,
  );
  bench.edit('vpcs', 'blue', { defaultSubnet: '' });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'blue', 'DefaultSubnet'), undefined);
});

test('a peering does not link to a foreign router port that has the name of its other end', () => {
  const bench = setUp();
  const router = '11111111-1111-4111-8111-111111111111';
  bench.foreignRow('Logical_Router', router, { name: 'theirs' });
  const port = { name: 'green-blue', mac: '00:00:00:00:00:01', networks: ['169.254.0.2/30'] };
  bench.foreignRow('Logical_Router_Port', '11111111-1111-4111-8111-111111111112', port, {
    table: 'Logical_Router',
    uuid: router,
    column: 'ports',
  });
  bench.put('vpcs', { metadata: { name: 'green' }, spec: { vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: '169.254.0.2/30' }] } });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: '169.254.0.1/30' }] } });
  bench.converge();
  assert.deepEqual(pick(bench.row('Logical_Router_Port', 'blue-green'), 'networks', 'peer'), [['169.254.0.1/30'], null]);
  bench.removeForeignRow('Logical_Router', router);
  bench.converge();
  assert.deepEqual(pick(bench.row('Logical_Router_Port', 'blue-green'), 'networks', 'peer'), [['169.254.0.1/30'], 'green-blue']);
});
