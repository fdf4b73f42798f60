import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

/** The default Vpc with an OvnSnatRule for a Subnet of two families. */
function scene(spec: object = {}): NatScene {
  const made = new NatScene({ external: '172.20.0.0/24,fd20::/64' });
  const { bench } = made;
  bench.edit('vpcs', 'ovn-cluster', { enableExternal: true, ...spec });
  made.put('subnets', 'apps', { cidrBlock: '10.8.0.0/16,fd08::/64', vpc: 'ovn-cluster' });
  made.eip('e1', { v4Ip: '172.20.0.40', v6Ip: 'fd20::40' });
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpcSubnet: 'apps' });
  return made;
}

const policies = ({ bench }: NatScene): readonly string[] =>
  bench
    .rows('Logical_Router_Policy')
    .filter(({ priority }) => priority === 29_250)
    .map(({ match, nexthops }) => `${String(match)} -> ${String(nexthops)}`)
    .toSorted();
const told = ({ bench }: NatScene): string => bench.condition('ovn-snat-rules', 's1', 'Ready')?.message ?? '';
const EVERYTHING = ['ip4.src == 10.8.0.0/16 -> 172.20.0.1', 'ip6.src == fd08::/64 -> fd20::1'];

test('where no route leads into the external Subnet, all that the source sends outside goes there, and the rule says so', () => {
  const made = scene({
    // Neither leads there: one into the cluster, one for another source, one of priority 0, which OVN ignores.
    staticRoutes: [{ policy: 'policyDst', cidr: '192.168.0.0/16', nextHopIP: '10.8.0.9' }],
    policyRoutes: [
      { priority: 29_500, match: 'ip4.src == 10.9.0.0/16', action: 'reroute', nextHopIP: '172.20.0.1' },
      { priority: 0, match: 'ip4.dst == 192.0.2.0/24', action: 'reroute', nextHopIP: '172.20.0.1' },
    ],
  });
  assert.deepEqual(policies(made), EVERYTHING);
  assert.match(
    told(made),
    /^All that 10\.8\.0\.0\/16 and fd08::\/64 sends outside leaves by Subnet external, .* since no route or policy of Vpc ovn-cluster/,
  );
  assert.equal(made.bench.writesAfterRestart(), 0);
});

test('static routes by way of the external Subnet decide what goes there, as policies, since pods take no route of the default Vpc', () => {
  const made = scene();
  made.bench.edit('vpcs', 'ovn-cluster', {
    staticRoutes: [
      { policy: 'policyDst', cidr: '192.0.2.0/24', nextHopIP: '172.20.0.9' },
      { policy: 'policyDst', cidr: '198.51.100.7', nextHopIP: '172.20.0.1' },
      { policy: 'policySrc', cidr: '10.8.4.0/24', nextHopIP: '172.20.0.1' },
      { policy: 'policyDst', cidr: '203.0.113.0/24', nextHopIP: '172.20.0.1', routeTable: 'other' },
    ],
  });
  made.bench.converge();
  assert.deepEqual(policies(made), [
    'ip4.src == 10.8.0.0/16 && ip4.dst == 192.0.2.0/24 -> 172.20.0.9',
    'ip4.src == 10.8.0.0/16 && ip4.dst == 198.51.100.7 -> 172.20.0.1',
    'ip4.src == 10.8.4.0/24 -> 172.20.0.1',
  ]);
  assert.match(
    told(made),
    /decide what leaves by Subnet external: spec\.staticRoutes\[0\], spec\.staticRoutes\[1\], spec\.staticRoutes\[2\]\./,
  );
  assert.equal(made.bench.writesAfterRestart(), 0);
  made.bench.edit('vpcs', 'ovn-cluster', { staticRoutes: [] });
  made.bench.converge();
  assert.deepEqual(policies(made), EVERYTHING);
});

test('a policy route of the user that leads there decides alone', () => {
  const made = scene({
    policyRoutes: [{ priority: 29_500, match: 'ip4.dst == 192.0.2.0/24 && tcp', action: 'reroute', nextHopIP: '172.20.0.1' }],
  });
  assert.deepEqual(policies(made), []);
  assert.match(told(made), /: spec\.policyRoutes\[0\]\. The rest takes the gateway of its Subnet/);
});

test('the annotation decides in both directions, a wrong one is told, and a rule without it beside an older one is not hidden', () => {
  const made = scene();
  const annotate = (value: string): void => {
    const { spec = {} } = made.bench.object('ovn-snat-rules', 's1') ?? {};
    made.bench.put('ovn-snat-rules', { metadata: { name: 's1', annotations: { 'kiln.io/outgoing': value } }, spec });
    made.bench.converge();
  };
  annotate('routes');
  assert.deepEqual(policies(made), []);
  assert.match(told(made), /as annotation kiln\.io\/outgoing: routes says: none leads there, so nothing is translated/);
  made.eip('e2', { v4Ip: '172.20.0.41' });
  made.put('ovn-snat-rules', 's2', { ovnEip: 'e2', v4IpCidr: '10.8.0.0/16', vpc: 'ovn-cluster' });
  made.bench.delete('ovn-snat-rules', 's2');
  made.bench.converge();
  made.bench.edit('vpcs', 'ovn-cluster', { staticRoutes: [{ cidr: '192.0.2.0/24', nextHopIP: '172.20.0.9' }] });
  annotate('everything');
  assert.deepEqual(policies(made), EVERYTHING);
  assert.match(
    told(made),
    /leaves by Subnet external, by way of 172\.20\.0\.1 and fd20::1, as annotation kiln\.io\/outgoing: everything says/,
  );
  annotate('all');
  assert.deepEqual(policies(made), ['ip4.src == 10.8.0.0/16 && ip4.dst == 192.0.2.0/24 -> 172.20.0.9']);
  assert.match(made.bench.condition('ovn-snat-rules', 's1', 'WithoutEffect')?.message ?? '', /kiln\.io\/outgoing "all" is not known/);
});
