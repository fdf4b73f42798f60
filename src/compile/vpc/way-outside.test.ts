/** A Vpc with an external port says whether a route leads outside, and what the next hop of a route outside waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const outside = { policy: 'policyDst', cidr: '0.0.0.0/0', nextHopIP: '172.20.0.1' };

const said = ({ bench }: NatScene): string => bench.condition('vpcs', 'blue', 'WithoutEffect')?.message ?? '';

test('a Vpc with a port in an external Subnet and no route by way of it says so, and which one to add', () => {
  const made = new NatScene();
  const { bench } = made;
  assert.equal(bench.condition('vpcs', 'blue', 'WithoutEffect')?.reason, 'NoRouteOutside');
  assert.match(
    said(made),
    /port in Subnet external, and no route .*spec\.staticRoutes \{cidr: 0\.0\.0\.0\/0, nextHopIP: 172\.20\.0\.1, policy/,
  );
  bench.edit('vpcs', 'blue', { staticRoutes: [{ ...outside, nextHopIP: '10.5.0.9' }] });
  bench.converge();
  assert.match(said(made), /no route of the Vpc leads by way of it/);
  bench.edit('vpcs', 'blue', { staticRoutes: [outside] });
  bench.converge();
  assert.equal(said(made), '');
  bench.edit('vpcs', 'blue', {
    staticRoutes: [],
    policyRoutes: [{ action: 'reroute', match: 'ip4', priority: 10, nextHopIP: '172.20.0.9' }],
  });
  bench.converge();
  assert.equal(said(made), '');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('a default route that a person made with ovn-nbctl is a way outside', () => {
  const made = new NatScene();
  const { bench } = made;
  const [uuid = ''] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? [];
  const columns = { ip_prefix: '0.0.0.0/0', nexthop: '172.20.0.1', route_table: '' };
  bench.foreignRow('Logical_Router_Static_Route', '00000000-0000-4000-8000-0000000000a1', columns, {
    ...{ table: 'Logical_Router', uuid, column: 'static_routes' },
  });
  bench.converge();
  assert.equal(said(made), '');
});

test('a Subnet of the Vpc that shares its traffic over gateway nodes is a way outside', () => {
  const made = new NatScene();
  const { bench } = made;
  for (const name of ['gw1', 'gw2']) made.eip(name, { type: 'lsp' });
  bench.edit('vpcs', 'blue', { enableBfd: true });
  bench.edit('subnets', 'inside', { enableEcmp: true });
  bench.converge();
  assert.match(said(made), /no route of the Vpc leads by way of it/);
  for (const name of ['gw1', 'gw2']) {
    const eip = bench.object('ovn-eips', name) ?? assert.fail();
    bench.put('ovn-eips', { metadata: { name }, spec: eip.spec, status: { ...eip.status, ready: true } });
  }
  bench.converge();
  assert.equal(said(made), '');
});

test('each family by itself: a Vpc that translates IPv6 and has a route of IPv4 alone says so', () => {
  const made = new NatScene({ inside: '10.5.0.0/24,fd05::/120', external: '172.20.0.0/24,fd20::/120' });
  const { bench } = made;
  const sixth = { policy: 'policyDst', cidr: '::/0', nextHopIP: 'fd20::1' };
  bench.edit('vpcs', 'blue', { staticRoutes: [outside] });
  bench.converge();
  // Nothing shows that it should lead outside with IPv6.
  assert.equal(said(made), '');
  made.eip('e1');
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpcSubnet: 'inside' });
  assert.equal(bench.condition('vpcs', 'blue', 'WithoutEffect')?.reason, 'NoRouteOutside');
  assert.match(said(made), /no IPv6 route of the Vpc leads by way of it, though its NAT rules translate IPv6: /);
  assert.match(said(made), /add to spec\.staticRoutes \{cidr: ::\/0, nextHopIP: fd20::1, policy: policyDst\}\./);
  bench.edit('vpcs', 'blue', { staticRoutes: [sixth] });
  bench.converge();
  assert.match(said(made), /no IPv4 route .* translate IPv4: .*\{cidr: 0\.0\.0\.0\/0, nextHopIP: 172\.20\.0\.1, policy: policyDst\}\./);
  bench.edit('vpcs', 'blue', { staticRoutes: [] });
  bench.converge();
  assert.match(said(made), /no route of the Vpc .*\{cidr: 0\.0\.0\.0\/0, .*\} and \{cidr: ::\/0, .*\}\./);
  bench.edit('vpcs', 'blue', { staticRoutes: [outside, sixth] });
  bench.converge();
  assert.equal(said(made), '');
  assert.equal(bench.writesAfterRestart(), 0);
  bench.edit('vpcs', 'blue', { staticRoutes: [outside] });
  bench.delete('ovn-snat-rules', 's1');
  bench.converge();
  assert.equal(said(made), '');
});

test('a route outside says what it waits for: the Vpc requests no port, it has none yet, or its Subnet does not exist', () => {
  const made = new NatScene();
  const { bench } = made;
  bench.edit('vpcs', 'blue', { enableExternal: false, staticRoutes: [outside] });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'blue', 'WithoutEffect')?.reason, 'NextHopUnreachable');
  assert.match(said(made), /network of external Subnet external, in which the router has no port; .*: set spec\.enableExternal/);
  made.gatewayNode('gw1', {});
  made.gatewayNode('gw2', {});
  bench.edit('vpcs', 'blue', { enableExternal: true });
  bench.converge();
  assert.match(said(made), /the router has no port; .* condition External of the Vpc says what that waits for/);
  assert.match(bench.condition('vpcs', 'blue', 'External')?.message ?? '', /needs a gateway node, and there is none; /);
  for (const name of ['gw1', 'gw2']) {
    const { metadata } = made.gatewayNode(name);
    bench.put('nodes', {
      metadata: { ...metadata, annotations: { 'ovn.kubernetes.io/chassis': '' } },
      spec: {},
      status: { addresses: [] },
    });
  }
  bench.converge();
  assert.match(
    bench.condition('vpcs', 'blue', 'External')?.message ?? '',
    /no node with its label has a chassis: gw1, gw2; .*; kubectl describe node gw1$/,
  );
  bench.edit('vpcs', 'blue', { extraExternalSubnets: ['elsewhere'], staticRoutes: [{ ...outside, nextHopIP: '172.30.0.1' }] });
  bench.converge();
  assert.match(said(made), /external Subnet elsewhere, which it requests, does not exist/);
});
