/** A Vip that NAT rules translate to is in use: its deletion waits for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

function scene(): NatScene {
  const made = new NatScene();
  made.eip('e1');
  made.put('vips', 'v1', { subnet: 'inside' });
  return made;
}

const OF_VIP = { ovnEip: 'e1', ipType: 'vip', ipName: 'v1' };
const PORTS = { protocol: 'tcp', externalPort: '80', internalPort: '80' };

function blocked({ bench }: NatScene): string {
  return bench.condition('vips', 'v1', 'DeletionBlocked')?.message ?? '';
}

test('the deletion of a Vip waits for the OvnFip that translates to it, whose row stays until then', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', OF_VIP);
  const [before] = bench.rows('NAT');
  bench.delete('vips', 'v1');
  bench.converge();
  assert.match(blocked(made), /Vip v1 cannot be deleted: one object still uses it: OvnFip f1\. .*kubectl get vips v1/);
  assert.deepEqual([bench.rows('NAT'), bench.object('ovn-fips', 'f1')?.status?.['ready']], [[before], true]);
  assert.equal(bench.writesAfterRestart(), 0);
  bench.delete('ovn-fips', 'f1');
  bench.converge();
  assert.deepEqual([bench.object('vips', 'v1'), bench.rows('NAT')], [undefined, []]);
});

test('an OvnDnatRule keeps it as well; one that is edited to another target does not any longer', () => {
  const made = scene();
  const { bench } = made;
  made.put('vips', 'v2', { subnet: 'inside' });
  made.put('ovn-dnat-rules', 'd1', { ...OF_VIP, ...PORTS });
  bench.delete('vips', 'v1');
  bench.converge();
  assert.match(blocked(made), /OvnDnatRule d1/);
  bench.edit('ovn-dnat-rules', 'd1', { ipName: 'v2' });
  bench.converge();
  assert.equal(bench.object('vips', 'v1'), undefined);
  assert.equal(bench.object('ovn-dnat-rules', 'd1')?.status?.['ready'], true);
});

test('a rule whose target of the same name is an IP object does not use the Vip', () => {
  const made = scene();
  const { bench } = made;
  for (const ipType of ['ip', '']) {
    made.put('ovn-dnat-rules', 'd1', { ...OF_VIP, ...PORTS, ipType });
    bench.delete('vips', 'v1');
    bench.converge();
    assert.equal(bench.object('vips', 'v1'), undefined, `ipType "${ipType}"`);
    made.put('vips', 'v1', { subnet: 'inside' });
  }
});

test('a rule that comes while the Vip is being deleted waits, and does not keep it', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-fips', 'f1', OF_VIP);
  bench.delete('vips', 'v1');
  bench.converge();
  made.eip('e2');
  made.put('ovn-fips', 'f2', { ...OF_VIP, ovnEip: 'e2' });
  assert.equal(bench.condition('ovn-fips', 'f2', 'Accepted')?.reason, 'VipTerminating');
  bench.delete('ovn-fips', 'f1');
  bench.converge();
  assert.equal(bench.object('vips', 'v1'), undefined);
  assert.equal(bench.condition('ovn-fips', 'f2', 'Accepted')?.reason, 'NatTargetMissing');
  made.put('vips', 'v1', { subnet: 'inside' });
  assert.equal(bench.object('ovn-fips', 'f2')?.status?.['ready'], true);
});
