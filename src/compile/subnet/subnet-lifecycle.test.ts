import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../rules.ts';

function setUp(spec: object = {}): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('nodes', { metadata: { name: 'n1' }, spec: {} });
  bench.put('subnets', { metadata: { name: 'red', finalizers: ['kube-ovn-controller'] }, spec: { cidrBlock: '10.0.0.0/24', ...spec } });
  bench.settle();
  return bench;
}

test('a Subnet gets the finalizer, and loses the one of old', () => {
  const bench = setUp();
  assert.deepEqual(bench.object('subnets', 'red')?.metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
});

test('a deleted Subnet leaves no row', () => {
  const bench = setUp({ private: true, enableDHCP: true, acls: [{ direction: 'to-lport', priority: 5, match: 'ip4', action: 'allow' }] });
  assert.ok(bench.rowIds('Logical_Router_Policy').includes('ovn-cluster|31000|ip4.dst == 10.0.0.0/24'));
  bench.delete('subnets', 'red');
  bench.settle();
  assert.equal(bench.object('subnets', 'red'), undefined);
  assert.equal(bench.world.rows.ownedBy('subnet//red').size, 0);
  for (const table of [
    'Logical_Switch',
    'Logical_Switch_Port',
    'Logical_Router_Port',
    'Logical_Router_Policy',
    'Port_Group',
    'ACL',
    'DHCP_Options',
  ]) {
    assert.ok(
      !bench.rowIds(table).some((id) => id.includes('red') || id.includes('10.0.0.0')),
      `${table}: ${bench.rowIds(table).join(', ')}`,
    );
  }
  assert.equal(bench.world.usage.peek('red'), undefined);
});

test('a Subnet that is being deleted keeps its network for those who still have an address', () => {
  const bench = setUp();
  bench.put('ips', { metadata: { name: 'web.shop' }, spec: { subnet: 'red', v4IpAddress: '10.0.0.5' } });
  bench.settle();
  const rows = bench.world.rows.ownedBy('subnet//red').size;
  bench.delete('subnets', 'red');
  bench.settle();
  assert.equal(bench.world.rows.ownedBy('subnet//red').size, rows);
  assert.match(bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /one object still uses it: IP web\.shop/);
  assert.deepEqual(bench.object('vpcs', 'ovn-cluster')?.status?.['subnets'], ['join', 'ovn-default']);
  bench.vanish('ips', 'web.shop');
  bench.settle();
  assert.equal(bench.object('subnets', 'red'), undefined);
});

test('the built-in Subnets come back after they were deleted', () => {
  const bench = setUp();
  const { uid } = bench.object('subnets', 'ovn-default')?.metadata ?? {};
  bench.delete('subnets', 'ovn-default');
  bench.settle();
  assert.notEqual(bench.object('subnets', 'ovn-default')?.metadata.uid, uid);
  assert.equal(bench.condition('subnets', 'ovn-default', 'Ready')?.status, 'True');
});

test('even the default Vpc goes and comes back', () => {
  const bench = setUp();
  bench.delete('subnets', 'red');
  const { uid } = bench.object('vpcs', 'ovn-cluster')?.metadata ?? {};
  for (const name of ['ovn-default', 'join']) {
    bench.delete('vpcs', 'ovn-cluster');
    bench.delete('subnets', name);
    bench.settle();
  }
  assert.notEqual(bench.object('vpcs', 'ovn-cluster')?.metadata.uid, uid);
  assert.deepEqual(bench.object('vpcs', 'ovn-cluster')?.status?.['subnets'], ['join', 'ovn-default']);
});

test('a Subnet made again under its name takes its rows over in place', () => {
  const bench = setUp();
  const switches = (): string[] => [...bench.northbound.table('Logical_Switch').keys()].toSorted();
  const before = switches();
  bench.vanish('subnets', 'red');
  const again = bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24' } });
  bench.settle();
  assert.deepEqual(switches(), before);
  assert.equal(bench.externalIds('Logical_Switch', 'red')['kiln.io/uid'], again.metadata.uid);
});

test('counts and ranges follow who holds an address', () => {
  const bench = setUp({ excludeIps: ['10.0.0.10..10.0.0.19'] });
  for (const last of [2, 3, 9])
    bench.put('ips', { metadata: { name: `p${last}.shop` }, spec: { subnet: 'red', v4IpAddress: `10.0.0.${last}` } });
  bench.settle();
  const { status } = bench.object('subnets', 'red') ?? {};
  assert.deepEqual(
    [
      status?.['v4usingIPs'],
      status?.['v4usingIPrange'],
      status?.['v4availableIPs'],
      status?.['v4availableIPrange'],
      status?.['v6usingIPs'],
    ],
    [3n, '10.0.0.2-10.0.0.3,10.0.0.9', 240n, '10.0.0.4-10.0.0.8,10.0.0.20-10.0.0.254', 0n],
  );
});

test("addresses of IPPools are the allocator's to know", () => {
  const bench = setUp();
  bench.put('ippools', { metadata: { name: 'gold' }, spec: { subnet: 'red', ips: ['10.0.0.20..10.0.0.30', 'nonsense'] } });
  bench.settle();
  assert.deepEqual(bench.compiler.desired.pool('red')?.named, { gold: ['10.0.0.20..10.0.0.30'] });
});
