import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../../../testing/network-rules.ts';

function setUp(): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('vpcs', { metadata: { name: 'green' } });
  return bench;
}

function subnet(bench: RuleBench, name: string, vpc: string, cidrBlock: string, more: object = {}): void {
  bench.put('subnets', { metadata: { name }, spec: { vpc, cidrBlock, ...more } });
}

test('one CIDR in two Vpcs is fine', () => {
  const bench = setUp();
  subnet(bench, 'a', 'blue', '10.16.0.0/16');
  subnet(bench, 'b', 'green', '10.16.0.0/16');
  bench.converge();
  for (const name of ['a', 'b', 'ovn-default']) assert.equal(bench.condition('subnets', name, 'Ready')?.status, 'True', name);
});

test('of two Subnets that overlap in one Vpc the older one is accepted, the other reports the overlap', () => {
  const bench = setUp();
  subnet(bench, 'a', 'blue', '10.0.0.0/16');
  subnet(bench, 'b', 'blue', '10.0.7.0/24');
  bench.converge();
  assert.equal(bench.condition('subnets', 'a', 'Ready')?.status, 'True');
  assert.match(
    bench.condition('subnets', 'b', 'Validated')?.message ?? '',
    /Subnet b: spec\.cidrBlock "10\.0\.7\.0\/24" overlaps 10\.0\.0\.0\/16 of Subnet a/,
  );
  assert.equal(bench.row('Logical_Switch', 'b'), undefined);
  bench.delete('subnets', 'a');
  bench.converge();
  assert.equal(bench.condition('subnets', 'b', 'Ready')?.status, 'True');
  assert.deepEqual(bench.rowIds('Logical_Switch').includes('b'), true);
});

test('a running Subnet does not yield to an older one that moves', () => {
  const bench = setUp();
  subnet(bench, 'a', 'blue', '10.0.0.0/24');
  subnet(bench, 'b', 'blue', '10.0.1.0/24');
  bench.converge();
  bench.edit('subnets', 'a', { cidrBlock: '10.0.0.0/16' });
  bench.converge();
  assert.equal(bench.condition('subnets', 'b', 'Ready')?.status, 'True');
  assert.match(bench.condition('subnets', 'a', 'Validated')?.message ?? '', /overlaps 10\.0\.1\.0\/24 of Subnet b/);
  assert.deepEqual(bench.row('Logical_Router_Port', 'blue-a')?.['networks'], ['10.0.0.1/24']);
  assert.equal(bench.desired.addresses.pool('a')?.v4, '10.0.0.0/24');
  const second = bench.restarted();
  second.converge();
  assert.deepEqual([second.writes, second.condition('subnets', 'b', 'Ready')?.status], [0, 'True']);
});

/** Another program deletes the router port of a Subnet of Vpc blue, or removes its ownership keys. */
function takeRouterPort(bench: RuleBench, name: string, what: 'port' | 'owner'): void {
  const [uuid, row] = [...bench.northbound.table('Logical_Router_Port')].find(([, found]) => found['name'] === `blue-${name}`) ?? [];
  assert.ok(uuid !== undefined && row !== undefined);
  if (what === 'port') return bench.removeForeignRow('Logical_Router_Port', uuid);
  const ids = Object.fromEntries([...(row['external_ids'] as ReadonlyMap<string, string>)].filter(([key]) => !key.startsWith('kiln.io/')));
  const edit = { kind: 'update', table: 'Logical_Router_Port', uuid, row: { external_ids: ids } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
}

for (const what of ['port', 'owner'] as const) {
  test(`a running Subnet does not yield to an older one that moves while ${what === 'port' ? 'its router port is deleted' : 'its router port loses its ownership keys'}`, () => {
    const bench = setUp();
    subnet(bench, 'a', 'blue', '10.0.0.0/24');
    subnet(bench, 'b', 'blue', '10.0.1.0/24');
    bench.converge();
    takeRouterPort(bench, 'b', what);
    bench.edit('subnets', 'a', { cidrBlock: '10.0.1.0/24', gateway: '10.0.1.1', excludeIps: ['10.0.1.1'] });
    bench.converge();
    assert.equal(bench.condition('subnets', 'b', 'Ready')?.status, 'True');
    assert.match(bench.condition('subnets', 'a', 'Validated')?.message ?? '', /overlaps 10\.0\.1\.0\/24 of Subnet b/);
    const networks = ['a', 'b'].map((name) => bench.row('Logical_Router_Port', `blue-${name}`)?.['networks']);
    assert.deepEqual(networks, [['10.0.0.1/24'], ['10.0.1.1/24']]);
  });
}

/** Marks the conditions as those of the present spec. */
function sayGeneration(bench: RuleBench, name: string): void {
  const { metadata, spec, status } = bench.object('subnets', name) ?? assert.fail();
  const observedGeneration = metadata.generation + 1;
  const conditions = (status?.['conditions'] ?? []) as readonly object[];
  bench.put('subnets', { metadata, spec, status: { ...status, conditions: conditions.map((one) => ({ ...one, observedGeneration })) } });
  bench.converge();
  assert.equal(bench.object('subnets', name)?.metadata.generation, observedGeneration);
}

test('a running Subnet does not yield to an older one that moves while the router of both is deleted', () => {
  const bench = setUp();
  subnet(bench, 'a', 'blue', '10.0.0.0/24');
  subnet(bench, 'b', 'blue', '10.0.1.0/24');
  bench.converge();
  for (const name of ['a', 'b']) sayGeneration(bench, name);
  const [uuid] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? assert.fail();
  for (const name of ['a', 'b']) takeRouterPort(bench, name, 'port');
  bench.removeForeignRow('Logical_Router', uuid);
  bench.edit('subnets', 'a', { cidrBlock: '10.0.1.0/24', gateway: '10.0.1.1', excludeIps: ['10.0.1.1'] });
  bench.converge();
  assert.equal(bench.condition('subnets', 'b', 'Ready')?.status, 'True');
  assert.match(bench.condition('subnets', 'a', 'Validated')?.message ?? '', /overlaps 10\.0\.1\.0\/24 of Subnet b/);
  // The Subnet that is not accepted stays so while no router port shows which of the two was in effect, even if the other one is edited.
  assert.deepEqual(bench.row('Logical_Router_Port', 'blue-a')?.['networks'], ['10.0.0.1/24']);
  takeRouterPort(bench, 'a', 'port');
  takeRouterPort(bench, 'b', 'port');
  bench.edit('subnets', 'b', { private: true });
  bench.converge();
  assert.equal(bench.condition('subnets', 'b', 'Ready')?.status, 'True');
  assert.deepEqual(bench.row('Logical_Router_Port', 'blue-b')?.['networks'], ['10.0.1.1/24']);
});

test('a running Subnet does not yield while another program writes another network into its router port', () => {
  const bench = setUp();
  const put = (name: string, uid: string): void => {
    const metadata = { name, uid, creationTimestamp: '2026-01-01T00:00:00Z' };
    bench.put('subnets', { metadata, spec: { vpc: 'blue', cidrBlock: '10.0.0.0/24' } });
    bench.converge();
  };
  put('a', '00000000-0000-4000-8000-00000000000b');
  sayGeneration(bench, 'a');
  put('b', '00000000-0000-4000-8000-00000000000a');
  assert.equal(bench.condition('subnets', 'b', 'Accepted')?.status, 'False');
  const [uuid] = [...bench.northbound.table('Logical_Router_Port')].find(([, row]) => row['name'] === 'blue-a') ?? assert.fail();
  const edit = { kind: 'update', table: 'Logical_Router_Port', uuid, row: { networks: ['10.9.0.1/24'] } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  bench.converge();
  assert.equal(bench.condition('subnets', 'a', 'Accepted')?.status, 'True');
  assert.equal(bench.condition('subnets', 'b', 'Accepted')?.status, 'False');
  assert.deepEqual(bench.row('Logical_Router_Port', 'blue-a')?.['networks'], ['10.0.0.1/24']);
});

test('no Subnet conflicts with one that is invalid for another reason, until that is corrected', () => {
  const bench = setUp();
  subnet(bench, 'broken', 'blue', '10.0.7.0/24', { gateway: '10.9.9.9' });
  subnet(bench, 'green', 'blue', '10.0.8.0/24');
  subnet(bench, 'good', 'blue', '10.0.0.0/16');
  bench.converge();
  assert.match(bench.condition('subnets', 'broken', 'Validated')?.message ?? '', /spec\.gateway "10\.9\.9\.9" is outside/);
  assert.match(bench.condition('subnets', 'green', 'Validated')?.message ?? '', /also the name of a Vpc/);
  assert.equal(bench.condition('subnets', 'good', 'Ready')?.status, 'True');
  bench.edit('subnets', 'broken', { gateway: '10.0.7.1' });
  bench.converge();
  assert.match(bench.condition('subnets', 'broken', 'Validated')?.message ?? '', /overlaps 10\.0\.0\.0\/16 of Subnet good/);
  assert.equal(bench.condition('subnets', 'good', 'Ready')?.status, 'True');
});

/** Its condition, and the networks of its router port. */
function outcome(bench: RuleBench, name: string): readonly unknown[] {
  const accepted = bench.condition('subnets', name, 'Accepted');
  const overlapped = /overlaps (\S+) of Subnet (\S+);/.exec(accepted?.message ?? '');
  return [accepted?.status, overlapped?.slice(1).join(' '), bench.row('Logical_Router_Port', `blue-${name}`)?.['networks']];
}

for (const [what, edit] of [
  ['cannot be', { gateway: '10.9.9.9' }],
  ['would move it', { vpc: 'green' }],
  ['would take it out of OVN', { provider: 'macvlan' }],
] as const) {
  test(`other Subnets conflict with the network in effect of a Subnet whose spec ${what}, and not with the requested one`, () => {
    const bench = setUp();
    subnet(bench, 'a', 'blue', '10.0.0.0/24');
    bench.converge();
    bench.edit('subnets', 'a', { cidrBlock: '10.5.0.0/24', ...edit });
    subnet(bench, 'b', 'blue', '10.0.0.0/16');
    subnet(bench, 'c', 'blue', '10.5.0.0/24');
    bench.converge();
    assert.deepEqual(outcome(bench, 'b'), ['False', '10.0.0.0/24 a', undefined]);
    assert.deepEqual(outcome(bench, 'c'), ['True', undefined, ['10.5.0.1/24']]);
    bench.edit('subnets', 'a', { cidrBlock: '10.5.0.0/24', gateway: '10.5.0.1', vpc: 'blue', provider: 'ovn' });
    bench.converge();
    assert.deepEqual(outcome(bench, 'a'), ['False', '10.5.0.0/24 c', ['10.0.0.1/24']]);
    assert.deepEqual(outcome(bench, 'b'), ['False', '10.0.0.0/24 a', undefined]);
    bench.edit('subnets', 'a', { cidrBlock: '10.6.0.0/24', gateway: '10.6.0.1' });
    bench.converge();
    assert.deepEqual(outcome(bench, 'a'), ['True', undefined, ['10.6.0.1/24']]);
    assert.deepEqual(outcome(bench, 'b'), ['True', undefined, ['10.0.0.1/16']]);
  });
}

test('a Subnet that cannot move, since another one has the requested network, keeps its present one from a third', () => {
  const bench = setUp();
  subnet(bench, 'a', 'blue', '10.0.0.0/24');
  subnet(bench, 'b', 'blue', '10.0.1.0/24');
  bench.converge();
  bench.edit('subnets', 'a', { cidrBlock: '10.0.0.0/16' });
  subnet(bench, 'c', 'blue', '10.0.0.128/25');
  bench.converge();
  assert.deepEqual(outcome(bench, 'a'), ['False', '10.0.1.0/24 b', ['10.0.0.1/24']]);
  assert.deepEqual(outcome(bench, 'c'), ['False', '10.0.0.0/24 a', undefined]);
  bench.delete('subnets', 'b');
  bench.converge();
  assert.deepEqual(outcome(bench, 'a'), ['True', undefined, ['10.0.0.1/16']]);
  assert.deepEqual(outcome(bench, 'c'), ['False', '10.0.0.0/16 a', undefined]);
});

test('a Subnet that grows into the network of a new one is accepted: its network in effect decides', () => {
  const bench = setUp();
  const put = (name: string, uid: string, cidrBlock: string): void => {
    const metadata = { name, uid, creationTimestamp: '2026-01-01T00:00:00Z' };
    bench.put('subnets', { metadata, spec: { vpc: 'blue', cidrBlock } });
  };
  put('a', '00000000-0000-4000-8000-00000000000b', '10.1.0.0/29');
  bench.converge();
  bench.edit('subnets', 'a', { cidrBlock: '10.1.0.0/28' });
  put('b', '00000000-0000-4000-8000-00000000000a', '10.1.0.0/28');
  bench.converge();
  assert.deepEqual(outcome(bench, 'a'), ['True', undefined, ['10.1.0.1/28']]);
  assert.deepEqual(outcome(bench, 'b'), ['False', '10.1.0.0/28 a', undefined]);
});

test('two Subnets may exchange their networks', () => {
  const bench = setUp();
  subnet(bench, 'a', 'blue', '10.0.0.0/24');
  subnet(bench, 'b', 'blue', '10.0.1.0/24');
  bench.converge();
  bench.edit('subnets', 'a', { cidrBlock: '10.0.1.0/24', gateway: '10.0.1.1' });
  bench.edit('subnets', 'b', { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' });
  bench.converge();
  assert.deepEqual(outcome(bench, 'a'), ['True', undefined, ['10.0.1.1/24']]);
  assert.deepEqual(outcome(bench, 'b'), ['True', undefined, ['10.0.0.1/24']]);
});

test('the second family counts as well', () => {
  const bench = setUp();
  subnet(bench, 'a', 'blue', '10.0.0.0/24,fd00::/64');
  subnet(bench, 'b', 'blue', '10.0.1.0/24,fd00::/112');
  bench.converge();
  assert.match(bench.condition('subnets', 'b', 'Validated')?.message ?? '', /overlaps fd00::\/64 of Subnet a/);
});

test('a Subnet of the default Vpc must not contain a node', () => {
  const bench = setUp();
  bench.put('nodes', { metadata: { name: 'n1' }, status: { addresses: [{ type: 'InternalIP', address: '192.168.3.4' }] } });
  subnet(bench, 'a', 'ovn-cluster', '192.168.0.0/16');
  subnet(bench, 'b', 'blue', '192.168.0.0/16');
  bench.converge();
  assert.match(bench.condition('subnets', 'a', 'Validated')?.message ?? '', /holds 192\.168\.3\.4, the address of node n1/);
  assert.equal(bench.condition('subnets', 'b', 'Ready')?.status, 'True');
});

test('a new Subnet among many runs few rules again', () => {
  const bench = setUp();
  for (let i = 0; i < 30; i++) subnet(bench, `s${i}`, 'blue', `10.0.${i}.0/24`);
  bench.converge();
  const { runs } = bench.world.reactor;
  subnet(bench, 'last', 'blue', '10.1.0.0/24');
  bench.converge();
  assert.ok(bench.world.reactor.runs - runs < 150, `${bench.world.reactor.runs - runs} runs`);
});

for (const connected of [{ u2oInterconnection: true }, { logicalGateway: true }])
  test(`an underlay Subnet with a port in the router, ${JSON.stringify(connected)}, and an overlay Subnet of its Vpc are apart`, () => {
    const bench = new RuleBench();
    bench.put('vpcs', { metadata: { name: 'blue' } });
    bench.put('provider-networks', { metadata: { name: 'pn' }, spec: { defaultInterface: 'eth1' } });
    bench.put('vlans', { metadata: { name: 'v10' }, spec: { id: 10, provider: 'pn' } });
    const put = (name: string, spec: object): void =>
      void bench.put('subnets', { metadata: { name }, spec: { vpc: 'blue', cidrBlock: '10.1.0.0/24', ...spec } });
    const accepted = (name: string): string | undefined => bench.condition('subnets', name, 'Accepted')?.status;
    put('under', { vlan: 'v10', gateway: '10.1.0.1' });
    bench.converge();
    put('over', {});
    bench.converge();
    assert.deepEqual(['under', 'over'].map(accepted), ['True', 'True'], 'nothing connects them');

    bench.edit('subnets', 'under', connected);
    bench.converge();
    assert.match(bench.condition('subnets', 'under', 'Accepted')?.message ?? '', /overlaps 10\.1\.0\.0\/24 of Subnet over;/);
    assert.deepEqual(
      bench.rowIds('Logical_Router_Port').filter((port) => port.startsWith('blue-')),
      ['blue-over'],
    );
    put('second', { vlan: 'v10', gateway: '10.1.0.1' });
    bench.converge();
    assert.match(bench.condition('subnets', 'second', 'Accepted')?.message ?? '', /of Subnet under;/, 'it keeps its network in the Vlan');

    bench.delete('subnets', 'over');
    bench.converge();
    assert.equal(accepted('under'), 'True');
    put('late', {});
    bench.converge();
    assert.match(bench.condition('subnets', 'late', 'Accepted')?.message ?? '', /of Subnet under;/);
    assert.equal(bench.writesAfterRestart(), 0);
  });
