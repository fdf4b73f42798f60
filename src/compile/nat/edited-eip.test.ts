/** A rule in effect that is edited to name another EIP translates without a gap. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

test('a rule in effect edited to name an OvnEip that does not exist yet keeps its present one until then; without that one it stops', () => {
  const made = new NatScene();
  const { bench } = made;
  made.eip('e1');
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  const external = (): readonly unknown[] => bench.rows('NAT').map((row) => row['external_ip']);
  const [first] = external();
  bench.edit('ovn-fips', 'f1', { ovnEip: 'later' });
  bench.converge();
  assert.deepEqual(external(), [first]);
  assert.match(
    bench.condition('ovn-fips', 'f1', 'Accepted')?.message ?? '',
    /"later" names no OvnEip that exists; .*\. Until then router blue translates as before the edit: 172\.20\.0\.3 to 10\.5\.0\.9 \(OvnEip e1\)/,
  );
  assert.equal(bench.writesAfterRestart(), 0);
  made.eip('later');
  assert.equal(external().length, 1);
  assert.notDeepEqual(external(), [first]);
  assert.equal(bench.condition('ovn-fips', 'f1', 'Accepted'), undefined);
  bench.edit('ovn-fips', 'f1', { ovnEip: 'never' });
  bench.converge();
  bench.removeByForce('ovn-eips', 'later');
  bench.converge();
  assert.deepEqual([external(), bench.object('ovn-eips', 'later')], [[], undefined]);
});

test('the OvnEip that an edited rule keeps is in use: it says so, and its deletion waits until the rule translates the other one', () => {
  const made = new NatScene();
  const { bench } = made;
  made.eip('e1');
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  bench.edit('ovn-fips', 'f1', { ovnEip: 'later' });
  bench.converge();
  assert.equal(bench.condition('ovn-eips', 'e1', 'InUse')?.message, 'OvnEip e1: one NAT rule uses it: OvnFip f1');
  assert.equal(bench.object('ovn-eips', 'e1')?.status?.['nat'], 'fip');
  bench.delete('ovn-eips', 'e1');
  bench.converge();
  assert.match(bench.condition('ovn-eips', 'e1', 'DeletionBlocked')?.message ?? '', /OvnFip f1/);
  assert.equal(bench.rows('NAT').length, 1);
  assert.equal(bench.writesAfterRestart(), 0);
  // At each step the address belongs to whom OVN gives it.
  made.bench.put('ovn-eips', { metadata: { name: 'later' }, spec: { externalSubnet: 'external' } });
  while (bench.step()) {
    const translated = bench.rows('NAT').map((row) => row['external_ip']);
    assert.equal(translated.length, 1);
    const held = ['e1', 'later'].map((name) => bench.object('ovn-eips', name)?.status?.['v4Ip']);
    assert.ok(held.includes(translated[0] as string), `${String(translated[0])} is held by one of both: ${held.join(',')}`);
  }
  assert.equal(bench.object('ovn-eips', 'e1'), undefined);
  assert.equal(bench.rows('NAT')[0]?.['external_ip'], bench.object('ovn-eips', 'later')?.status?.['v4Ip']);
  assert.equal(bench.object('ovn-fips', 'f1')?.metadata.annotations?.['ovn.kubernetes.io/vpc_eip'], 'later');
  assert.equal(bench.condition('ovn-eips', 'later', 'InUse')?.status, 'True');
});
