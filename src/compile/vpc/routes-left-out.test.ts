import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NETWORK_RULES } from '../../testing/network-rules.ts';
import { RuleBench } from '../../testing/rule-bench.ts';

const ROUTER = '11111111-1111-4111-8111-111111111111';
const ROUTE = '22222222-2222-4222-8222-222222222222';

/** A router of Kube-OVN before 1.13 with one next hop for a destination. */
function takenOver(prefix: string, nexthop: string, policy = 'dst-ip'): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  const external_ids = { vendor: 'kube-ovn' };
  bench.foreignRow('Logical_Router', ROUTER, { name: 'blue', external_ids });
  bench.foreignRow(
    'Logical_Router_Static_Route',
    ROUTE,
    { ip_prefix: prefix, nexthop, policy, route_table: '', external_ids },
    { table: 'Logical_Router', uuid: ROUTER, column: 'static_routes' },
  );
  return bench;
}

const hops = (bench: RuleBench): readonly unknown[] =>
  bench
    .rows('Logical_Router_Static_Route')
    // That of the default Vpc, and that of the Subnet itself.
    .filter(({ nexthop }) => !['100.64.0.1', '10.1.0.1', 'fd01::1'].includes(String(nexthop)))
    .map(({ policy, ip_prefix: prefix, nexthop }) => `${String(policy)} ${String(prefix)} ${String(nexthop)}`)
    .toSorted();
const told = (bench: RuleBench): string => bench.condition('vpcs', 'blue', 'WithoutEffect')?.message ?? '';

for (const [policy, cidr, kept] of [
  ['policyDst', '0.0.0.0/0', '10.1.0.254'],
  ['policyDst', '0.0.0.0/0', '10.1.0.253'],
  ['policyDst', '192.168.0.0/16', '10.1.0.254'],
  ['policySrc', '10.1.0.0/24', '10.1.0.253'],
] as const) {
  test(`of two next hops of ${policy} ${cidr} the one that OVN had stays alone (${kept}), and the Vpc says so`, () => {
    const by = policy === 'policyDst' ? 'dst-ip' : 'src-ip';
    const other = kept === '10.1.0.254' ? '10.1.0.253' : '10.1.0.254';
    const bench = takenOver(cidr, kept, by);
    const both = ['10.1.0.254', '10.1.0.253'].map((nextHopIP) => ({ policy, cidr, nextHopIP }));
    bench.put('vpcs', { metadata: { name: 'blue' }, spec: { staticRoutes: both } });
    bench.put('subnets', { metadata: { name: 'inside' }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/24' } });
    bench.converge();
    assert.deepEqual(hops(bench), [`${by} ${cidr} ${kept}`]);
    assert.match(
      told(bench),
      new RegExp(`by way of ${other} is not in effect, and the one by way of ${kept} is: that one alone was in OVN`),
    );
    assert.equal(bench.writesAfterRestart(), 0);
    // As the message says: without the second one, and with it again, both share the traffic.
    bench.edit('vpcs', 'blue', { staticRoutes: both.filter(({ nextHopIP }) => nextHopIP === kept) });
    bench.converge();
    assert.equal(told(bench), '');
    bench.edit('vpcs', 'blue', { staticRoutes: both });
    bench.converge();
    assert.deepEqual(hops(bench).length, 2);
    assert.equal(bench.writesAfterRestart(), 0);
  });
}

test('two next hops that OVN had stay two, and so do two of a new Vpc', () => {
  const bench = takenOver('0.0.0.0/0', '10.1.0.254');
  bench.foreignRow(
    'Logical_Router_Static_Route',
    '33333333-3333-4333-8333-333333333333',
    { ip_prefix: '0.0.0.0/0', nexthop: '10.1.0.253', policy: 'dst-ip', route_table: '', external_ids: { vendor: 'kube-ovn' } },
    { table: 'Logical_Router', uuid: ROUTER, column: 'static_routes' },
  );
  const staticRoutes = ['10.1.0.254', '10.1.0.253'].map((nextHopIP) => ({ cidr: '0.0.0.0/0', nextHopIP }));
  for (const name of ['blue', 'green']) bench.put('vpcs', { metadata: { name }, spec: { staticRoutes } });
  bench.converge();
  assert.equal(hops(bench).length, 4);
});

test('a route by source for every source is one for every destination, unless there is one', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  const every = (nextHopIP: string, cidr = '0.0.0.0/0'): object => ({ policy: 'policySrc', cidr, nextHopIP });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { staticRoutes: [every('10.1.0.254'), every('fd01::fe', '::/0')] } });
  bench.put('subnets', { metadata: { name: 'inside' }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/24,fd01::/64' } });
  bench.converge();
  const made = ['dst-ip 0.0.0.0/0 10.1.0.254', 'dst-ip ::/0 fd01::fe'];
  assert.deepEqual(hops(bench), made);
  assert.equal(told(bench), '');
  bench.edit('vpcs', 'blue', {
    staticRoutes: [every('10.1.0.253'), { cidr: '0.0.0.0/0', nextHopIP: '10.1.0.254' }, every('fd01::fe', '::/0')],
  });
  bench.converge();
  assert.deepEqual(hops(bench), made);
  assert.match(
    told(bench),
    /by way of 10\.1\.0\.253 is not in effect, and the one by way of 10\.1\.0\.254 is: that default route comes before/,
  );
});
