import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../../testing/rule-bench.ts';
import type { PlainRow } from '../../../testing/rule-bench.ts';
import { nodeJoin } from '../../node/node-join.ts';
import { NETWORK_RULES } from '../../../testing/network-rules.ts';

function node(name: string, ready = true): Parameters<RuleBench['put']>[1] {
  return {
    metadata: { name, labels: { edge: 'yes' } },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

function setUp(spec: object = {}): RuleBench {
  const bench = new RuleBench({
    rules: [...NETWORK_RULES, nodeJoin],
    settings: { defaultCidr: '10.16.0.0/16,fd00:16::/112', joinCidr: '100.64.0.0/16,fd00:64::/112' },
  });
  bench.put('nodes', node('n-1'));
  bench.put('nodes', node('n2'));
  bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24', ...spec } });
  bench.converge();
  return bench;
}

function keysOf(row: PlainRow | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries((row?.['external_ids'] ?? {}) as Record<string, string>).filter(([key]) => !key.startsWith('kiln.io/')),
  );
}

function policies(bench: RuleBench, text: string): string[] {
  return bench.rowIds('Logical_Router_Policy').filter((id) => id.includes('|29000|') && id.includes(text));
}

test('traffic of a distributed Subnet leaves through each node: a port group and a policy for each pair', () => {
  const bench = setUp();
  assert.deepEqual(bench.rowIds('Port_Group'), ['ovn.default.n.1', 'ovn.default.n2', 'red.n.1', 'red.n2']);
  assert.deepEqual(keysOf(bench.row('Port_Group', 'red.n.1')), { subnet: 'red', node: 'n-1', np: 'red/n-1', vendor: 'kube-ovn' });
  assert.deepEqual(policies(bench, 'red'), ['ovn-cluster|29000|ip4.src == $red.n.1_ip4', 'ovn-cluster|29000|ip4.src == $red.n2_ip4']);
  const policy = bench.row('Logical_Router_Policy', 'ovn-cluster|29000|ip4.src == $red.n.1_ip4');
  assert.deepEqual([policy?.['action'], policy?.['nexthops']], ['reroute', ['100.64.0.2']]);
  assert.deepEqual(keysOf(policy), { subnet: 'red', node: 'n-1', vendor: 'kube-ovn' });
  assert.equal(policies(bench, 'ip6.src == $ovn.default').length, 2);
});

test('rows of a pair are deleted with the node', () => {
  const bench = setUp();
  bench.removeByForce('nodes', 'n2');
  bench.converge();
  assert.deepEqual(policies(bench, 'red'), ['ovn-cluster|29000|ip4.src == $red.n.1_ip4']);
  assert.deepEqual(bench.rowIds('Port_Group'), ['ovn.default.n.1', 'red.n.1']);
});

test('the pairs of a Subnet that was deleted before it moved do not stay when it is created again', () => {
  const bench = setUp();
  bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24', vpc: 'blue' } });
  bench.converge();
  bench.removeByForce('subnets', 'red');
  bench.converge();
  bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24' } });
  bench.converge();
  bench.removeByForce('nodes', 'n2');
  bench.converge();
  assert.deepEqual(bench.rowIds('Port_Group'), ['ovn.default.n.1', 'red.n.1']);
});

test('a custom Vpc has neither', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'there' }, spec: { vpc: 'blue', cidrBlock: '10.0.0.0/24' } });
  bench.converge();
  assert.ok(!bench.rowIds('Port_Group').some((name) => name.startsWith('there')));
});

test('a centralized gateway is one node, which stays while it is ready and is replaced otherwise', () => {
  const bench = setUp({ gatewayType: 'centralized', gatewayNode: 'n2:10.1.1.1,n-1' });
  const id = 'ovn-cluster|29000|ip4.src == 10.0.0.0/24';
  assert.deepEqual(policies(bench, '10.0.0.0/24'), [id]);
  assert.deepEqual(
    [bench.row('Logical_Router_Policy', id)?.['nexthops'], bench.object('subnets', 'red')?.status?.['activateGateway']],
    [['100.64.0.3'], 'n2'],
  );
  assert.deepEqual(keysOf(bench.row('Logical_Router_Policy', id)), { subnet: 'red', n2: '100.64.0.3', vendor: 'kube-ovn' });
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.reason, 'ReconcileCentralizedGatewaySuccess');
  bench.put('nodes', node('n2', false));
  bench.converge();
  assert.deepEqual(
    [bench.row('Logical_Router_Policy', id)?.['nexthops'], bench.object('subnets', 'red')?.status?.['activateGateway']],
    [['100.64.0.2'], 'n-1'],
  );
  bench.put('nodes', node('n2'));
  bench.converge();
  assert.equal(bench.object('subnets', 'red')?.status?.['activateGateway'], 'n-1');
  assert.ok(!bench.rowIds('Port_Group').includes('red.n2'));
});

test('a node with the name of a key of the policy does not override that key', () => {
  const bench = setUp({ gatewayType: 'centralized', gatewayNode: 'subnet,vendor,n2', enableEcmp: true });
  for (const name of ['subnet', 'vendor']) bench.put('nodes', node(name));
  bench.converge();
  const row = bench.row('Logical_Router_Policy', 'ovn-cluster|29000|ip4.src == 10.0.0.0/24');
  assert.deepEqual(keysOf(row), { subnet: 'red', n2: '100.64.0.3', vendor: 'kube-ovn' });
  assert.equal((row?.['nexthops'] as readonly string[] | undefined)?.length, 3, 'and is a gateway like any other');
});

test('traffic stays with its gateways while the join Subnet gets a second family', () => {
  const bench = new RuleBench({
    rules: [...NETWORK_RULES, nodeJoin],
    settings: { defaultCidr: '10.16.0.0/16', joinCidr: '100.64.0.0/16' },
  });
  bench.put('nodes', node('n2'));
  bench.put('subnets', {
    metadata: { name: 'red' },
    spec: { cidrBlock: '10.0.0.0/24', gatewayType: 'centralized', gatewayNode: 'n-1,n2' },
  });
  bench.put('subnets', { metadata: { name: 'blue' }, spec: { cidrBlock: '10.1.0.0/24' } });
  bench.converge();
  bench.put('nodes', node('n-1'));
  bench.converge();
  const ways = (): unknown => [
    bench.object('subnets', 'red')?.status?.['activateGateway'],
    ...['10.0.0.0/24', '$blue.n.1_ip4', '$blue.n2_ip4'].map(
      (source) => bench.row('Logical_Router_Policy', `ovn-cluster|29000|ip4.src == ${source}`)?.['nexthops'],
    ),
  ];
  const before = ways();
  assert.deepEqual(before, ['n2', ['100.64.0.2'], ['100.64.0.3'], ['100.64.0.2']]);
  bench.edit('subnets', 'join', { cidrBlock: '100.64.0.0/16,fd00:64::/112', gateway: '100.64.0.1,fd00:64::1' });
  do assert.deepEqual(ways(), before);
  while (bench.step());
  assert.match(bench.list('Logical_Switch_Port', 'node-n2', 'addresses')[0] ?? '', / 100\.64\.0\.2 fd00:64::2$/);
});

test('with ECMP all ready nodes carry the traffic', () => {
  const bench = setUp({ gatewayType: 'centralized', gatewayNodeSelectors: [{ matchLabels: { edge: 'yes' } }], enableEcmp: true });
  assert.deepEqual(bench.row('Logical_Router_Policy', 'ovn-cluster|29000|ip4.src == 10.0.0.0/24')?.['nexthops'], [
    '100.64.0.2',
    '100.64.0.3',
  ]);
  assert.deepEqual(keysOf(bench.row('Logical_Router_Policy', 'ovn-cluster|29000|ip4.src == 10.0.0.0/24')), {
    subnet: 'red',
    'n-1': '100.64.0.2',
    n2: '100.64.0.3',
    vendor: 'kube-ovn',
  });
});

test('without a usable gateway node the Subnet reports the reason for each', () => {
  const bench = setUp({ gatewayType: 'centralized', gatewayNode: 'n9' });
  const reported = (): string => bench.condition('subnets', 'red', 'Ready')?.message ?? '';
  const rule = 'a centralized gateway is a node that is ready and has an IPv4 address in Subnet join';
  assert.deepEqual(policies(bench, '10.0.0.0/24'), []);
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.reason, 'NoActiveGatewayFound');
  assert.equal(reported(), `Subnet red: spec.gatewayNode "n9" gives no gateway: n9 does not exist; ${rule}; kubectl edit subnet red`);
  bench.edit('subnets', 'red', { gatewayNode: 'n9,n8:10.1.1.1,n2' });
  bench.put('nodes', node('n2', false));
  bench.converge();
  assert.equal(
    reported(),
    'Subnet red: spec.gatewayNode "n9,n8:10.1.1.1,n2" gives no gateway: n9, n8 do not exist, n2 is not ready; ' +
      `${rule}; kubectl get nodes`,
  );
  bench.edit('subnets', 'red', { gatewayNode: '', gatewayNodeSelectors: [{ matchLabels: { edge: 'no' } }] });
  bench.converge();
  assert.equal(
    reported(),
    'Subnet red: spec.gatewayNodeSelectors "[{"matchLabels":{"edge":"no"}}]" gives no gateway: no node has these labels; ' +
      `${rule}; kubectl edit subnet red`,
  );
  bench.edit('subnets', 'red', { gatewayNode: 'n9,n-1' });
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.reason, 'ReconcileCentralizedGatewaySuccess');
});

test('a change from distributed to centralized leaves nothing behind', () => {
  const bench = setUp();
  bench.edit('subnets', 'red', { gatewayType: 'centralized', gatewayNode: 'n2' });
  bench.converge();
  assert.deepEqual(policies(bench, 'red'), []);
  assert.ok(!bench.rowIds('Port_Group').some((name) => name.startsWith('red')));
});

/** The join Subnet is IPv4 only. */
function setUpWithIpv4Nodes(): RuleBench {
  const bench = new RuleBench({ rules: [...NETWORK_RULES, nodeJoin], settings: { joinCidr: '100.64.0.0/16' } });
  bench.put('nodes', node('n-1'));
  bench.put('subnets', { metadata: { name: 'six' }, spec: { cidrBlock: 'fd02::/64', gatewayType: 'centralized', gatewayNode: 'n-1' } });
  bench.put('subnets', { metadata: { name: 'both' }, spec: { cidrBlock: '10.0.0.0/24,fd03::/64' } });
  bench.put('subnets', { metadata: { name: 'four' }, spec: { cidrBlock: '10.1.0.0/24' } });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'there' }, spec: { vpc: 'blue', cidrBlock: 'fd04::/64' } });
  bench.converge();
  return bench;
}

test('a network of a family that the join Subnet lacks has no gateway, distributed or centralized, and its Subnet reports that', () => {
  const bench = setUpWithIpv4Nodes();
  const reported = (name: string): string => bench.condition('subnets', name, 'WithoutEffect')?.message ?? '';
  assert.equal(bench.condition('subnets', 'both', 'WithoutEffect')?.reason, 'JoinLacksFamily');
  assert.match(
    reported('both'),
    /^Subnet both: spec\.cidrBlock "fd03::\/64" has no gateway: Subnet join has no IPv6 network; .*kubectl edit subnet both$/,
  );
  assert.match(reported('six'), /^Subnet six: spec\.cidrBlock "fd02::\/64" has no gateway/);
  assert.deepEqual([reported('four'), reported('there'), reported('join')], ['', '', ''], 'nor where nodes are no gateway');
  assert.deepEqual(policies(bench, 'both'), ['ovn-cluster|29000|ip4.src == $both.n.1_ip4']);
});

test('a node is the centralized gateway only for families in which it has an address', () => {
  const bench = setUpWithIpv4Nodes();
  const { status, reason, message = '' } = bench.condition('subnets', 'six', 'Ready') ?? {};
  assert.deepEqual([status, reason], ['False', 'NoActiveGatewayFound']);
  assert.equal(
    message,
    'Subnet six: spec.gatewayNode "n-1" gives no gateway: n-1 has no IPv6 address in Subnet join; ' +
      'a centralized gateway is a node that is ready and has an IPv6 address in Subnet join; kubectl get nodes',
  );
  assert.deepEqual([bench.object('subnets', 'six')?.status?.['activateGateway'], policies(bench, 'fd02')], ['', []]);
});

test('blanks around the name of a gateway node, and an address after it, are not part of the name', () => {
  const bench = setUp({ gatewayType: 'centralized', gatewayNode: ' n2 :10.1.1.1 , n-1' });
  assert.equal(bench.object('subnets', 'red')?.status?.['activateGateway'], 'n2');
});

test('gateway nodes that do not exist are told beside one that does, with or without ECMP, and no longer once they join', () => {
  for (const enableEcmp of [false, true]) {
    const bench = setUp({ gatewayType: 'centralized', gatewayNode: 'n-1,typo,late', enableEcmp });
    assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
    const told = (): string => bench.condition('subnets', 'red', 'WithoutEffect')?.message ?? '';
    assert.equal(bench.condition('subnets', 'red', 'WithoutEffect')?.reason, 'GatewayNodeMissing');
    assert.match(
      told(),
      /^Subnet red: spec\.gatewayNode "typo" is no Node; .*Subnet red: spec\.gatewayNode "late" is no Node; .*kubectl edit subnet red$/,
    );
    bench.put('nodes', node('late'));
    bench.converge();
    assert.match(told(), /"typo" is no Node/);
    assert.doesNotMatch(told(), /"late"/);
    bench.edit('subnets', 'red', { gatewayNode: 'nobody' });
    bench.converge();
    assert.deepEqual([bench.condition('subnets', 'red', 'Ready')?.reason, told()], ['NoActiveGatewayFound', '']);
    bench.edit('subnets', 'red', { gatewayNode: 'n-1:10.9.9.9, n2' });
    bench.converge();
    assert.doesNotMatch(told(), /is no Node/);
  }
});
