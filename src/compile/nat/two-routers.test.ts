/** What OVN cannot do: an address outside in two routers; and what is another Vpc's: its port's address, its load balancers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

/** With a second Vpc `red` in the same external Subnet. */
function scene(): NatScene {
  const made = new NatScene();
  made.put('vpcs', 'red', { enableExternal: true });
  made.pods.subnet('red-net', { cidrBlock: '10.6.0.0/24', vpc: 'red' });
  made.bench.converge();
  made.eip('e1');
  return made;
}

const port = { protocol: 'tcp', externalPort: '80', internalPort: '80' };

test('rules of two Vpcs share no EIP, else both routers answer for it: the older one is in effect, both say so, and the other follows', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpc: 'blue', v4IpCidr: '10.5.0.0/24' });
  made.put('ovn-snat-rules', 's2', { ovnEip: 'e1', vpc: 'red', v4IpCidr: '10.6.0.0/24' });
  made.put('ovn-dnat-rules', 'd2', { ovnEip: 'e1', vpc: 'red', v4Ip: '10.6.0.9', ...port });
  assert.deepEqual([bench.rows('NAT').length, bench.row('Load_Balancer', 'd2')], [1, undefined]);
  assert.match(bench.condition('ovn-snat-rules', 's2', 'Accepted')?.message ?? '', /OvnSnatRule s1 has its address in Vpc blue/);
  assert.equal(bench.condition('ovn-snat-rules', 's1', 'NatConflict')?.status, 'True');
  bench.delete('ovn-snat-rules', 's1');
  bench.converge();
  for (const [resource, name] of [
    ['ovn-snat-rules', 's2'],
    ['ovn-dnat-rules', 'd2'],
  ] as const)
    assert.equal(bench.object(resource, name)?.status?.['ready'], true);
});

test('the OvnEip of a router port is for rules of its Vpc alone', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', { ovnEip: 'blue-external', vpc: 'red', v4Ip: '10.6.0.9' });
  assert.equal(bench.condition('ovn-fips', 'f1', 'Accepted')?.reason, 'EipTypeInvalid');
  assert.deepEqual(bench.rows('NAT'), []);
  made.put('ovn-snat-rules', 's1', { ovnEip: 'blue-external', vpc: 'blue', v4IpCidr: '10.5.0.0/24' });
  assert.equal(bench.object('ovn-snat-rules', 's1')?.status?.['ready'], true);
});

test('an OvnDnatRule with the name of a load balancer of another Vpc does not bring that into its router', () => {
  const made = scene();
  made.put('ovn-dnat-rules', 'vpc-blue-tcp-load', { ovnEip: 'e1', vpc: 'red', v4Ip: '10.6.0.9', ...port });
  assert.deepEqual(made.bench.list('Logical_Router', 'red', 'load_balancer'), []);
});

test('a distributed OvnFip translates answers too, so nothing else sends from its pod: the older rule is in effect, both say so', () => {
  const made = scene();
  const { bench } = made;
  for (const name of ['e2', 'e3']) made.eip(name);
  const inner = { vpc: 'blue', v4Ip: '10.5.0.9' };
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ...inner, type: 'distributed' });
  made.put('ovn-fips', 'f2', { ovnEip: 'e2', ...inner, type: 'distributed' });
  made.put('ovn-snat-rules', 's3', { ovnEip: 'e3', vpc: 'blue', v4IpCidr: '10.5.0.9/32' });
  assert.equal(bench.rows('NAT').length, 1);
  for (const [resource, name] of [
    ['ovn-fips', 'f2'],
    ['ovn-snat-rules', 's3'],
  ] as const)
    assert.match(bench.condition(resource, name, 'Accepted')?.message ?? '', /OvnFip f1 is distributed and has the same address inside/);
  made.put('ovn-snat-rules', 's4', { ovnEip: 'e3', vpc: 'blue', v4IpCidr: '10.5.0.0/24' });
  made.put('ovn-dnat-rules', 'd4', { ovnEip: 'e3', ...inner, ...port });
  for (const [resource, name] of [
    ['ovn-snat-rules', 's4'],
    ['ovn-dnat-rules', 'd4'],
  ] as const)
    assert.equal(bench.object(resource, name)?.status?.['ready'], true);
  bench.delete('ovn-fips', 'f1');
  bench.converge();
  assert.equal(bench.object('ovn-fips', 'f2')?.status?.['ready'], true);
});

test('an address and a network of that address alone are the same to two OvnSnatRules', () => {
  const made = scene();
  made.eip('e2');
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpc: 'blue', v4IpCidr: '10.5.0.9' });
  made.put('ovn-snat-rules', 's2', { ovnEip: 'e2', vpc: 'blue', v4IpCidr: '10.5.0.9/32' });
  assert.equal(made.bench.condition('ovn-snat-rules', 's2', 'Accepted')?.reason, 'NatConflict');
});
