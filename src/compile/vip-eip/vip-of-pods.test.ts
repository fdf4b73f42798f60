/** A Vip whose address a pod uses stays until the pod is gone; one that pods only name does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

for (const [annotation, spec] of [
  ['ovn.kubernetes.io/vip', {}],
  ['ovn.kubernetes.io/aaps', { namespace: 'shop' }],
] as const)
  test(`its deletion waits for a pod that uses it by ${annotation}`, () => {
    const made = new NatScene();
    const { bench } = made;
    made.put('vips', 'v1', { subnet: 'inside', ...spec });
    const address = bench.object('vips', 'v1')?.status?.['v4ip'];
    made.pods.pod('web', { annotations: { [annotation]: 'v1' } });
    bench.converge();
    bench.delete('vips', 'v1');
    bench.converge();
    assert.match(bench.condition('vips', 'v1', 'DeletionBlocked')?.message ?? '', /Pod shop\/web/);
    assert.equal(bench.object('vips', 'v1')?.status?.['v4ip'], address);
    // A pod that comes now does not prolong it.
    bench.passTo(Date.parse('2026-01-02T00:00:00Z'));
    made.pods.pod('late', { annotations: { [annotation]: 'v1' } });
    bench.converge();
    assert.doesNotMatch(bench.condition('vips', 'v1', 'DeletionBlocked')?.message ?? '', /late/);
    assert.equal(bench.writesAfterRestart(), 0);
    bench.delete('pods', 'shop/web');
    bench.converge();
    assert.equal(bench.object('vips', 'v1'), undefined);
  });

test('a pod of another namespace that only names it does not keep it', () => {
  const made = new NatScene();
  const { bench } = made;
  made.put('vips', 'v1', { subnet: 'inside', namespace: 'bank' });
  made.pods.pod('web', { annotations: { 'ovn.kubernetes.io/aaps': 'v1' } });
  made.pods.pod('db', { annotations: { 'ovn.kubernetes.io/vip': 'v1' } });
  bench.converge();
  bench.delete('vips', 'v1');
  bench.converge();
  assert.equal(bench.object('vips', 'v1'), undefined);
});
