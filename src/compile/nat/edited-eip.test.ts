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
    /"later" names no OvnEip that exists; the OvnFip keeps that of OvnEip e1/,
  );
  assert.equal(bench.writesAfterRestart(), 0);
  made.eip('later');
  assert.equal(external().length, 1);
  assert.notDeepEqual(external(), [first]);
  assert.equal(bench.condition('ovn-fips', 'f1', 'Accepted'), undefined);
  bench.edit('ovn-fips', 'f1', { ovnEip: 'never' });
  bench.converge();
  bench.delete('ovn-eips', 'later');
  bench.converge();
  assert.deepEqual([external(), bench.object('ovn-eips', 'later')], [[], undefined]);
});
