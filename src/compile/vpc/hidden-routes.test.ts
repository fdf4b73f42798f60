import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NETWORK_RULES } from '../../testing/network-rules.ts';
import { RuleBench } from '../../testing/rule-bench.ts';

function scene(): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('nodes', { metadata: { name: 'n1' }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }] } });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('vpcs', { metadata: { name: 'green' } });
  bench.put('subnets', { metadata: { name: 'inside' }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/24,fd01::/64' } });
  bench.put('subnets', { metadata: { name: 'far' }, spec: { vpc: 'green', cidrBlock: '10.2.0.0/16,fd02::/64' } });
  bench.put('subnets', { metadata: { name: 'apps' }, spec: { vpc: 'ovn-cluster', cidrBlock: '10.8.0.0/16' } });
  bench.converge();
  return bench;
}

const told = (bench: RuleBench, vpc = 'blue'): string => bench.condition('vpcs', vpc, 'WithoutEffect')?.message ?? '';
const peered = (bench: RuleBench, vpc = 'blue'): readonly unknown[] => {
  const { status, reason } = bench.condition('vpcs', vpc, 'Peered') ?? {};
  return [status, reason];
};
const edit = (bench: RuleBench, vpc: string, spec: object): void => {
  bench.edit('vpcs', vpc, spec);
  bench.converge();
};

/** The line that a message says to add to `spec.policyRoutes`. */
function lineIn(message: string): object {
  const [, priority, match, nextHopIP] =
    /\{priority: (\d+), match: "([^"]+)", action: reroute, nextHopIP: "([^"]+)"\}/.exec(message) ?? assert.fail(message);
  return { priority: Number(priority), match, action: 'reroute', nextHopIP };
}

const LINK = { blue: '169.254.0.1/30', green: '169.254.0.2/30' };

test('policySrc of a Subnet kills a peering in both directions: both are told, with a policy that mends them', () => {
  const bench = scene();
  const overLink = { policy: 'policyDst', cidr: '10.2.0.0/16', nextHopIP: '169.254.0.2' };
  const bySource = { policy: 'policySrc', cidr: '10.1.0.0/24', nextHopIP: '10.1.0.254' };
  edit(bench, 'green', {
    vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: LINK.green }],
    staticRoutes: [{ cidr: '10.1.0.0/24', nextHopIP: '169.254.0.1' }],
  });
  edit(bench, 'blue', { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: LINK.blue }], staticRoutes: [overLink] });
  assert.deepEqual([peered(bench), told(bench)], [['True', 'Peered'], '']);
  edit(bench, 'blue', { staticRoutes: [overLink, bySource] });
  assert.deepEqual(peered(bench), ['False', 'RouteHidden']);
  assert.match(
    told(bench),
    /spec\.staticRoutes\[0\] "10\.2\.0\.0\/16" is taken by no packet of a pod: spec\.staticRoutes\[1\] \(policySrc 10\.1\.0\.0\/24\)/,
  );
  assert.deepEqual(peered(bench, 'green'), ['True', 'Peered']);
  const message = bench.condition('vpcs', 'blue', 'Peered')?.message ?? '';
  assert.match(message, /spec\.vpcPeerings\[0\]\.remoteVpc "green": no packet of a pod passes over it/);
  edit(bench, 'blue', { policyRoutes: [lineIn(message)] });
  assert.deepEqual(peered(bench), ['True', 'Peered'], 'over the policy');
  // The route itself is still hidden; what mends the one mends the other.
  assert.deepEqual(lineIn(told(bench)), lineIn(message));
  edit(bench, 'blue', { policyRoutes: [], staticRoutes: [overLink, { ...bySource, cidr: '10.1.0.0/25' }] });
  assert.deepEqual([peered(bench), told(bench)], [['True', 'Peered'], ''], 'half of the Subnet takes it');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('a route by source hides shorter ones by destination alone: not one of the same length, nor one of another table or family', () => {
  const bench = scene();
  const hop = { nextHopIP: '10.1.0.253' };
  const by = (cidr: string, more: object = {}): object => ({ policy: 'policyDst', cidr, ...hop, ...more });
  edit(bench, 'blue', {
    staticRoutes: [
      { policy: 'policySrc', cidr: '10.1.0.0/24', nextHopIP: '10.1.0.254' },
      by('0.0.0.0/0'),
      by('192.168.0.0/23'),
      by('192.168.7.0/24'),
      by('192.168.8.9'),
      { policy: 'policyDst', cidr: '::/0', nextHopIP: 'fd01::fe' },
    ],
  });
  assert.match(told(bench), /staticRoutes\[1\] "0\.0\.0\.0\/0" is taken by no packet/);
  assert.match(told(bench), /staticRoutes\[2\] "192\.168\.0\.0\/23" is taken by no packet/);
  assert.doesNotMatch(told(bench), /staticRoutes\[[0345]\] "/);
});

test('the network of a Subnet hides a route to the same network, and not one to a part of it', () => {
  const bench = scene();
  edit(bench, 'blue', {
    staticRoutes: [
      { cidr: '10.1.0.0/24', nextHopIP: '10.1.0.254' },
      { cidr: '10.1.0.128/25', nextHopIP: '10.1.0.7' },
    ],
  });
  assert.match(
    told(bench),
    /staticRoutes\[0\] "10\.1\.0\.0\/24" is taken by no packet of a pod: the network of Subnet inside, 10\.1\.0\.0\/24/,
  );
  assert.doesNotMatch(told(bench), /staticRoutes\[1\] "/);
});

test('in the default Vpc the gateways of Subnets hide static routes, peerings and lower policies; the policy of the message mends each', () => {
  const bench = scene();
  edit(bench, 'green', {
    vpcPeerings: [{ remoteVpc: 'ovn-cluster', localConnectIP: LINK.green }],
    staticRoutes: [{ cidr: '10.8.0.0/16', nextHopIP: '169.254.0.1' }],
  });
  const staticRoutes = [
    { cidr: '10.2.0.0/16', nextHopIP: '169.254.0.2' },
    { policy: 'policySrc', cidr: '10.8.4.0/24', nextHopIP: '10.8.0.9' },
    { cidr: '10.8.5.0/24', nextHopIP: '10.8.0.9' },
  ];
  const low = { priority: 100, match: 'ip4.dst == 192.0.2.0/24', action: 'reroute', nextHopIP: '10.8.0.9' };
  edit(bench, 'ovn-cluster', { vpcPeerings: [{ remoteVpc: 'green', localConnectIP: LINK.blue }], staticRoutes, policyRoutes: [low] });
  const first = told(bench, 'ovn-cluster');
  assert.match(first, /staticRoutes\[0\] "10\.2\.0\.0\/16" is taken by no packet of a pod: the gateway of Subnet \S+ \(policy 29000/);
  assert.match(first, /policyRoutes\[0\]\.priority "100" is taken by no packet/);
  assert.doesNotMatch(first, /staticRoutes\[2\]/, 'within the network of a Subnet the routes decide');
  assert.deepEqual(peered(bench, 'ovn-cluster'), ['False', 'RouteHidden']);
  const mending = lineIn(bench.condition('vpcs', 'ovn-cluster', 'Peered')?.message ?? '');
  assert.deepEqual(mending, { priority: 29_500, match: 'ip4.dst == 10.2.0.0/16', action: 'reroute', nextHopIP: '169.254.0.2' });
  edit(bench, 'ovn-cluster', { staticRoutes: [], policyRoutes: [mending, { ...low, priority: 29_501 }] });
  assert.deepEqual([peered(bench, 'ovn-cluster'), told(bench, 'ovn-cluster')], [['True', 'Peered'], '']);
});

test('a policy hides lower ones that it covers, and a match that is not understood hides nothing', () => {
  const bench = scene();
  const policy = (priority: number, match: string, action = 'drop'): object => ({ priority, match, action });
  edit(bench, 'blue', {
    policyRoutes: [
      policy(20, 'ip4.src == 10.1.0.0/24'),
      policy(10, 'ip4.src == 10.1.0.7 && ip4.dst == 192.0.2.0/24'),
      policy(11, 'ip4.dst == 192.0.2.0/24', 'allow'),
      policy(12, 'ip6.dst == fd09::/64'),
      policy(30, 'ip4.src == 10.1.0.0/24 && tcp.dst == 80'),
      policy(13, 'ip'),
    ],
    staticRoutes: [{ cidr: '192.0.2.0/24', nextHopIP: '10.1.0.9' }],
  });
  assert.deepEqual(
    [...told(bench).matchAll(/(\w+Routes\[\d\])\S* "\S+" is taken by no packet/g)].map(([, field]) => field),
    ['staticRoutes[0]', 'policyRoutes[1]', 'policyRoutes[2]', 'policyRoutes[3]'],
  );
});

test('a policy without a priority, or with 0, is told: OVN takes it for no packet', () => {
  const bench = scene();
  edit(bench, 'blue', {
    policyRoutes: [
      { match: 'ip4.src == 10.1.0.7', action: 'drop' },
      { priority: 0, match: 'ip6', action: 'drop' },
      { priority: 1, match: 'ip4.src == 10.1.0.8', action: 'drop' },
    ],
  });
  assert.deepEqual(
    [...told(bench).matchAll(/policyRoutes\[(\d)\]\.priority "0" has no effect/g)].map(([, at]) => at),
    ['0', '1'],
  );
});
