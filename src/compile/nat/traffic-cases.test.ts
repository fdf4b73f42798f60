/** Failures of address translation and of gateways that other programs had in the field, by their numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../../nb/row-id.ts';
import { NatScene } from '../../testing/nat-scene.ts';
import type { RuleBench } from '../../testing/rule-bench.ts';

const nats = (bench: RuleBench): readonly string[] =>
  bench
    .rows('NAT')
    .map((row) => [row['type'], row['external_ip'], row['logical_ip']].join(' '))
    .toSorted();

function scene(): NatScene {
  const made = new NatScene();
  for (const name of ['web', 'api']) made.pods.pod(name);
  made.bench.converge();
  made.eip('e1');
  made.eip('e2');
  return made;
}

test('T46 an OvnFip that moves from one pod to another: in each order of the four steps one row is left, of the second', () => {
  const steps: Readonly<Record<string, (made: NatScene) => void>> = {
    'delete the first rule': ({ bench }) => bench.delete('ovn-fips', 'first'),
    'create the second rule': ({ bench }) =>
      void bench.put('ovn-fips', { metadata: { name: 'second' }, spec: { ovnEip: 'e1', ipName: 'api.shop' } }),
    'delete the first pod': ({ bench }) => bench.delete('pods', 'shop/web'),
    'edit the EIP': ({ bench }) => bench.edit('ovn-eips', 'e1', { type: 'nat' }),
  };
  for (const order of permutations(Object.keys(steps))) {
    const made = scene();
    made.put('ovn-fips', 'first', { ovnEip: 'e1', ipName: 'web.shop' });
    for (const step of order) {
      steps[step]?.(made);
      // A part of the consequences alone.
      made.bench.step();
    }
    made.bench.converge();
    const api = String(made.bench.object('ips', 'api.shop')?.spec['ipAddress']);
    assert.deepEqual(
      nats(made.bench),
      [`dnat_and_snat ${String(made.bench.object('ovn-eips', 'e1')?.status?.['v4Ip'])} ${api}`],
      order.join(', '),
    );
    assert.equal(made.bench.object('ovn-fips', 'second')?.status?.['ready'], true);
  }
});

function permutations(items: readonly string[]): readonly (readonly string[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first) => permutations(items.filter((one) => one !== first)).map((rest) => [first, ...rest]));
}

test('T47 one inner network with addresses of two external Subnets: both rows, and each goes with its own rule', () => {
  const made = scene();
  const { bench } = made;
  made.pods.subnet('external-2', { cidrBlock: '172.30.0.0/24', vpc: 'outside' });
  bench.edit('vpcs', 'blue', { enableExternal: true, extraExternalSubnets: ['external', 'external-2'] });
  bench.converge();
  made.eip('far', { externalSubnet: 'external-2', v4Ip: '172.30.0.50' });
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpcSubnet: 'inside' });
  made.put('ovn-snat-rules', 's2', { ovnEip: 'far', vpcSubnet: 'inside' });
  const e1 = String(bench.object('ovn-eips', 'e1')?.status?.['v4Ip']);
  assert.deepEqual(nats(bench), [`snat ${e1} 10.5.0.0/24`, 'snat 172.30.0.50 10.5.0.0/24'].toSorted());
  bench.delete('ovn-snat-rules', 's1');
  bench.converge();
  assert.deepEqual(nats(bench), ['snat 172.30.0.50 10.5.0.0/24']);
  assert.equal(bench.object('ovn-snat-rules', 's2')?.status?.['ready'], true);
});

test('T53 a restart leaves the router port, its MAC and its chassis the same rows', () => {
  const made = scene();
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
  const rows = (bench: RuleBench): readonly unknown[] =>
    [
      rowId('Logical_Router_Port', 'blue-external'),
      ...bench.rows('Gateway_Chassis').map(({ name }) => rowId('Gateway_Chassis', String(name))),
    ].map((id) => bench.world.rows.state(id)?.uuid);
  const before = [rows(made.bench), made.bench.row('Logical_Router_Port', 'blue-external')];
  const after = made.bench.restarted();
  after.converge();
  assert.deepEqual([rows(after), after.row('Logical_Router_Port', 'blue-external')], before);
  assert.equal(made.bench.writesAfterRestart(), 0);
});

test('T54, T60 a gateway node that is drained, removed or without its label is named by no row; it comes back unaided', () => {
  const made = scene();
  const { bench } = made;
  const chassis = (): readonly unknown[] =>
    bench.rows('Gateway_Chassis').map((row) => `${String(row['chassis_name'])} ${String(row['priority'])}`);
  const both = chassis();
  made.gatewayNode('gw1', { 'ovn.kubernetes.io/external-gw': 'false' });
  bench.converge();
  assert.deepEqual(chassis(), ['chassis-gw2 100']);
  made.gatewayNode('gw1');
  bench.delete('nodes', 'gw2');
  bench.converge();
  assert.deepEqual(chassis(), ['chassis-gw1 100']);
  made.gatewayNode('gw2');
  bench.converge();
  assert.deepEqual(chassis(), both);
});

test('T62 routers forget the MACs of neighbours after a time', () => {
  const { bench } = scene();
  for (const router of ['blue', 'ovn-cluster'])
    assert.equal(bench.map('Logical_Router', router, 'options')['mac_binding_age_threshold'], '300');
});

test('C19 an OvnEip that cannot be in effect is deleted: all addresses that were free before are free again', () => {
  const made = scene();
  const { bench } = made;
  const free = bench.object('subnets', 'external')?.status?.['v4availableIPrange'];
  made.eip('port', { type: 'lrp' });
  assert.equal(bench.object('ovn-eips', 'port')?.status?.['ready'], false);
  made.put('ovn-fips', 'f1', { ovnEip: 'port', ipName: 'gone.shop' });
  assert.equal(bench.object('ovn-fips', 'f1')?.status?.['ready'], false);
  bench.delete('ovn-eips', 'port');
  bench.delete('ovn-fips', 'f1');
  bench.converge();
  assert.equal(bench.object('ovn-eips', 'port'), undefined);
  assert.equal(bench.object('subnets', 'external')?.status?.['v4availableIPrange'], free);
});

test('several rules share one EIP, except with a distributed OvnFip: both say so, and the second takes effect once it is centralized', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop', type: 'distributed' });
  made.put('ovn-dnat-rules', 'd1', { ovnEip: 'e1', ipName: 'api.shop', protocol: 'tcp', externalPort: '80', internalPort: '80' });
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e1', ipName: 'api.shop' });
  for (const [resource, name] of [
    ['ovn-dnat-rules', 'd1'],
    ['ovn-snat-rules', 's1'],
  ] as const)
    assert.match(bench.condition(resource, name, 'Accepted')?.message ?? '', /OvnFip f1 is distributed and has the same external address/);
  assert.match(bench.condition('ovn-fips', 'f1', 'NatConflict')?.message ?? '', /1 more wait for it/);
  assert.deepEqual([bench.row('Load_Balancer', 'd1'), bench.rows('NAT').length], [undefined, 1]);
  bench.edit('ovn-fips', 'f1', { type: 'centralized' });
  bench.converge();
  for (const [resource, name] of [
    ['ovn-fips', 'f1'],
    ['ovn-dnat-rules', 'd1'],
    ['ovn-snat-rules', 's1'],
  ] as const)
    assert.equal(bench.object(resource, name)?.status?.['ready'], true);
  const { labels, annotations } = bench.object('ovn-eips', 'e1')?.metadata ?? {};
  assert.deepEqual([labels?.['ovn.kubernetes.io/vpc'], annotations?.['ovn.kubernetes.io/vpc_nat']], ['blue', 's1']);
  for (const [resource, name] of [
    ['ovn-fips', 'f1'],
    ['ovn-dnat-rules', 'd1'],
    ['ovn-snat-rules', 's1'],
  ] as const)
    bench.delete(resource, name);
  bench.converge();
  const after = bench.object('ovn-eips', 'e1')?.metadata;
  assert.deepEqual([after?.labels?.['ovn.kubernetes.io/vpc'], after?.annotations?.['ovn.kubernetes.io/vpc_nat']], [undefined, undefined]);
});

test('an address in the spec that no Subnet of the Vpc has is told; the rule is in effect, and the report goes with the Subnet', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.9.0.9' });
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e2', vpc: 'blue', v4IpCidr: '10.9.0.0/24' });
  assert.match(bench.condition('ovn-fips', 'f1', 'WithoutEffect')?.message ?? '', /spec\.v4Ip "10\.9\.0\.9" is in no Subnet of Vpc blue/);
  assert.equal(bench.condition('ovn-fips', 'f1', 'WithoutEffect')?.reason, 'NatTargetOutside');
  assert.match(bench.condition('ovn-snat-rules', 's1', 'WithoutEffect')?.message ?? '', /spec\.v4IpCidr "10\.9\.0\.0\/24" is in no Subnet/);
  assert.equal(bench.object('ovn-fips', 'f1')?.status?.['ready'], true);
  made.pods.subnet('more', { cidrBlock: '10.9.0.0/24', vpc: 'blue' });
  bench.converge();
  for (const [resource, name] of [
    ['ovn-fips', 'f1'],
    ['ovn-snat-rules', 's1'],
  ] as const)
    assert.equal(bench.condition(resource, name, 'WithoutEffect'), undefined);
});
