import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../../testing/network-rules.ts';

const IP_SPEC = { subnet: 'red', v4IpAddress: '10.0.0.5', ipAddress: '10.0.0.5', macAddress: '0a:00:00:00:00:05' };

/** A Vpc with one Subnet and one address in use. */
function setUp(): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock: '10.0.0.0/24' } });
  bench.put('ips', { metadata: { name: 'web.shop' }, spec: IP_SPEC });
  bench.converge();
  return bench;
}

function ownedBy(bench: RuleBench, owner: string): number {
  return bench.world.rows.ownedBy(owner).size;
}

test('a Vpc stays while it has a Subnet, and is deleted with all its rows after the last one', () => {
  const bench = setUp();
  const rows = ownedBy(bench, 'vpc//blue');
  bench.delete('vpcs', 'blue');
  bench.converge();
  assert.deepEqual([bench.condition('vpcs', 'blue', 'DeletionBlocked')?.status, ownedBy(bench, 'vpc//blue')], ['True', rows]);
  assert.match(
    bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '',
    /Vpc blue cannot be deleted: one object still uses it: Subnet red/,
  );
  assert.equal(bench.events.filter(({ reason }) => reason === 'DeletionBlocked').length, 1);
  bench.delete('subnets', 'red');
  bench.converge();
  assert.match(bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /IP web\.shop/);
  assert.ok(bench.row('Logical_Router_Port', 'blue-red') !== undefined);
  bench.removeByForce('ips', 'web.shop');
  bench.converge();
  assert.deepEqual([bench.object('subnets', 'red'), bench.object('vpcs', 'blue')], [undefined, undefined]);
  assert.deepEqual([ownedBy(bench, 'vpc//blue'), ownedBy(bench, 'subnet//red')], [0, 0]);
  assert.ok(bench.rowIds('Load_Balancer').every((name) => name.startsWith('cluster-')));
});

test('a Vpc that is being deleted accepts no new Subnet', () => {
  const bench = setUp();
  bench.delete('vpcs', 'blue');
  bench.put('subnets', { metadata: { name: 'late' }, spec: { vpc: 'blue', cidrBlock: '10.0.9.0/24' } });
  bench.converge();
  assert.equal(bench.row('Logical_Switch', 'late'), undefined);
  assert.equal(bench.condition('subnets', 'late', 'Ready')?.reason, 'VpcTerminating');
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
});

test('a Subnet created while its Vpc is being deleted does not block that, and gets no rows', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  bench.delete('vpcs', 'blue');
  bench.put('subnets', { metadata: { name: 'late' }, spec: { vpc: 'blue', cidrBlock: '10.0.9.0/24' } });
  bench.put('subnets', { metadata: { name: 'broken' }, spec: { vpc: 'blue', cidrBlock: '10.0.9.0/40' } });
  bench.converge();
  assert.deepEqual([bench.object('vpcs', 'blue'), ownedBy(bench, 'vpc//blue')], [undefined, 0]);
  assert.equal(bench.condition('subnets', 'late', 'Ready')?.reason, 'VpcMissing');
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  assert.equal(bench.condition('subnets', 'late', 'Ready')?.status, 'True');
});

test('a Subnet that existed before its Vpc was deleted blocks that, also if it is not accepted', () => {
  const bench = setUp();
  bench.put('subnets', { metadata: { name: 'broken' }, spec: { vpc: 'blue', cidrBlock: '10.0.9.0/40' } });
  bench.converge();
  assert.equal(bench.condition('subnets', 'broken', 'Ready')?.status, 'False');
  bench.delete('vpcs', 'blue');
  bench.converge();
  assert.match(bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '', /2 objects still use it: Subnet broken, Subnet red/);
});

test('a Subnet that is not accepted since its Vpc is being deleted does not block that, whenever it was created', () => {
  const bench = setUp();
  bench.put('subnets', { metadata: { name: 'broken' }, spec: { vpc: 'blue', cidrBlock: '10.0.9.0/40' } });
  bench.put('subnets', { metadata: { name: 'astray' }, spec: { vpc: 'nowhere', cidrBlock: '10.0.8.0/24' } });
  bench.converge();
  bench.put('subnets', { metadata: { name: 'unseen' }, spec: { vpc: 'blue', cidrBlock: '10.0.7.0/24' } });
  bench.delete('vpcs', 'blue');
  bench.edit('subnets', 'astray', { vpc: 'blue' });
  bench.edit('subnets', 'broken', { cidrBlock: '10.0.9.0/24' });
  bench.converge();
  for (const name of ['broken', 'astray', 'unseen']) {
    assert.equal(bench.condition('subnets', name, 'Ready')?.reason, 'VpcTerminating', name);
    assert.equal(bench.row('Logical_Switch', name), undefined);
  }
  assert.match(bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '', /one object still uses it: Subnet red\./);
  bench.removeByForce('ips', 'web.shop');
  bench.delete('subnets', 'red');
  bench.converge();
  assert.deepEqual([bench.object('vpcs', 'blue'), ownedBy(bench, 'vpc//blue')], [undefined, 0]);
  assert.equal(bench.condition('subnets', 'unseen', 'Ready')?.reason, 'VpcMissing');
});

test('a switch that a user deletes is created again while its Vpc is being deleted: its Subnet is not new', () => {
  const bench = setUp();
  bench.delete('vpcs', 'blue');
  bench.converge();
  bench.removeNamedRow('Logical_Switch', 'red');
  bench.converge();
  assert.ok(bench.row('Logical_Switch', 'red'));
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
});

test('Subnets come back with a new database, also while their Vpc is being deleted', () => {
  const before = setUp();
  before.put('subnets', { metadata: { name: 'idle' }, spec: { vpc: 'blue', cidrBlock: '10.0.8.0/24' } });
  before.converge();
  before.delete('vpcs', 'blue');
  before.converge();
  const bench = before.withNewDatabase();
  bench.put('subnets', { metadata: { name: 'late' }, spec: { vpc: 'blue', cidrBlock: '10.0.9.0/24' } });
  bench.converge();
  assert.deepEqual(bench.rowIds('Logical_Switch'), ['idle', 'join', 'ovn-default', 'red']);
  assert.deepEqual(bench.row('Logical_Router', 'blue')?.['ports'], ['Logical_Router_Port/blue-idle', 'Logical_Router_Port/blue-red']);
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
  assert.equal(bench.condition('subnets', 'late', 'Ready')?.reason, 'VpcTerminating');
});

test('a Vpc removed by force leaves its router to its Subnets, and a new one gets it in place', () => {
  const bench = setUp();
  const router = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue')?.[0];
  bench.removeByForce('vpcs', 'blue');
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.reason, 'VpcMissing');
  assert.deepEqual(bench.row('Logical_Router', 'blue')?.['ports'], ['Logical_Router_Port/blue-red']);
  assert.equal(bench.list('Logical_Switch', 'red', 'load_balancer').length, 6);
  const { writes } = bench;
  bench.converge();
  assert.equal(bench.writes, writes);

  const again = bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  assert.equal([...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue')?.[0], router);
  assert.equal(bench.externalIds('Logical_Router', 'blue')['kiln.io/uid'], again.metadata.uid);
  assert.deepEqual(bench.object('vpcs', 'blue')?.status?.['subnets'], ['red']);
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
  assert.equal(bench.condition('subnets', 'red', 'Error')?.status, 'Unknown');
});

test('the router of a Vpc removed by force is deleted with its last Subnet', () => {
  const bench = setUp();
  bench.removeByForce('vpcs', 'blue');
  bench.removeByForce('ips', 'web.shop');
  bench.converge();
  bench.delete('subnets', 'red');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
  assert.deepEqual([ownedBy(bench, 'vpc//blue'), ownedBy(bench, 'subnet//red')], [0, 0]);
});

test('a Subnet is deleted although its router was deleted by hand', () => {
  const bench = setUp();
  bench.removeByForce('ips', 'web.shop');
  bench.removeByForce('vpcs', 'blue');
  bench.removeNamedRow('Logical_Router', 'blue');
  bench.delete('subnets', 'red');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
  assert.equal(ownedBy(bench, 'subnet//red'), 0);
});

test('the rows of a Vpc that was created again while no controller ran belong to the new one', () => {
  const bench = setUp();
  bench.removeByForce('vpcs', 'blue');
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  assert.equal(bench.object('vpcs', 'blue')?.status?.['standby'], true);
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
});

test('of a Vpc and a Subnet with one name the older one stays', () => {
  const bench = setUp();
  bench.put('vpcs', { metadata: { name: 'red' } });
  bench.put('subnets', { metadata: { name: 'blue' }, spec: { vpc: 'blue', cidrBlock: '10.0.7.0/24' } });
  bench.converge();
  assert.match(bench.condition('vpcs', 'red', 'Accepted')?.message ?? '', /name of a Subnet/);
  assert.equal(bench.row('Logical_Router', 'red'), undefined);
  assert.equal(bench.condition('subnets', 'blue', 'Ready')?.status, 'False');
  assert.equal(bench.row('Logical_Switch', 'blue'), undefined);
});
