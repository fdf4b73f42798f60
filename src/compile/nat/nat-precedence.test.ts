/** A rule in effect keeps its traffic, whatever older rule comes to ask for the same; what OVN cannot decide is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const later = Date.parse('2026-01-01T01:00:00Z');

/** OvnFip `old` waits for a pod that comes later; the newer `new` is in effect with the same OvnEip. */
function scene(type: object = {}): NatScene {
  const made = new NatScene();
  for (const name of ['e1', 'e2']) made.eip(name);
  made.put('ovn-fips', 'old', { ovnEip: 'e1', ipName: 'late.shop', ...type });
  made.bench.passTo(later);
  made.put('ovn-fips', 'new', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.99', ...type });
  return made;
}

function inner({ bench }: NatScene): unknown {
  return bench.rows('NAT').map((row) => row['logical_ip']);
}

for (const type of [{}, { type: 'distributed' }])
  test(`an older rule whose target appears later waits for the newer one in effect: ${JSON.stringify(type)}`, () => {
    const made = scene(type);
    const { bench } = made;
    assert.equal(bench.object('ovn-fips', 'new')?.status?.['ready'], true);
    made.pods.pod('late');
    bench.converge();
    assert.deepEqual(inner(made), ['10.5.0.99']);
    assert.match(bench.condition('ovn-fips', 'old', 'Accepted')?.message ?? '', /OvnFip new translates the same/);
    assert.equal(bench.condition('ovn-fips', 'new', 'NatConflict')?.status, 'True');
    assert.equal(bench.writesAfterRestart(), 0);
    // A new database does not change who has it.
    const fresh = bench.withNewDatabase();
    fresh.converge();
    assert.deepEqual(
      fresh.rows('NAT').map((row) => row['logical_ip']),
      ['10.5.0.99'],
    );
    // Nor does an edit of its target.
    bench.edit('ovn-fips', 'new', { v4Ip: '10.5.0.98' });
    bench.converge();
    assert.deepEqual(inner(made), ['10.5.0.98']);
    bench.delete('ovn-fips', 'new');
    bench.converge();
    assert.equal(bench.object('ovn-fips', 'old')?.status?.['ready'], true);
  });

test('an older rule that is edited to ask for what a newer one has in effect waits', () => {
  const made = new NatScene();
  const { bench } = made;
  for (const name of ['e1', 'e2']) made.eip(name);
  made.put('ovn-fips', 'old', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  bench.passTo(later);
  made.put('ovn-fips', 'new', { ovnEip: 'e2', vpc: 'blue', v4Ip: '10.5.0.99' });
  bench.edit('ovn-fips', 'old', { ovnEip: 'e2' });
  bench.converge();
  // It keeps its own translation meanwhile.
  assert.deepEqual(inner(made), ['10.5.0.9', '10.5.0.99']);
  assert.equal(bench.condition('ovn-fips', 'old', 'Accepted')?.reason, 'NatConflict');
  bench.edit('ovn-fips', 'old', { ovnEip: 'e1' });
  bench.converge();
  assert.deepEqual(inner(made), ['10.5.0.9', '10.5.0.99']);
});

test('an older OvnFip that becomes distributed does not take the address of a rule in effect', () => {
  const made = new NatScene();
  const { bench } = made;
  made.eip('e1');
  made.put('ovn-fips', 'old', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  bench.passTo(later);
  const port = { protocol: 'tcp', externalPort: '80', internalPort: '80' };
  made.put('ovn-dnat-rules', 'new', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.8', ...port });
  bench.edit('ovn-fips', 'old', { type: 'distributed' });
  bench.converge();
  assert.equal(bench.object('ovn-dnat-rules', 'new')?.status?.['ready'], true);
  assert.equal(bench.condition('ovn-fips', 'old', 'Accepted')?.reason, 'NatConflict');
});

test('two centralized rules that give one address inside two addresses outside: both work, and both say what OVN leaves open', () => {
  const made = new NatScene();
  const { bench } = made;
  for (const name of ['e1', 'e2', 'e3']) made.eip(name);
  const target = { vpc: 'blue', v4Ip: '10.5.0.9' };
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ...target });
  made.put('ovn-fips', 'f2', { ovnEip: 'e2', ...target });
  const told = (name: string): string => bench.condition('ovn-fips', name, 'NatConflict')?.message ?? '';
  assert.match(
    told('f1'),
    /^OvnFip f1: OvnFip f2 has the same address inside: each works from outside, and for what that address sends OVN takes either/,
  );
  assert.match(told('f2'), /^OvnFip f2: OvnFip f1 has the same address inside/);
  for (const name of ['f1', 'f2']) {
    assert.equal(bench.object('ovn-fips', name)?.status?.['ready'], true);
    assert.ok(
      bench.events.some(({ object, type, message }) => object === `ovn-fips/${name}` && type === 'Warning' && /either/.test(message)),
    );
  }
  made.put('ovn-snat-rules', 's1', { ovnEip: 'e3', vpc: 'blue', v4IpCidr: '10.5.0.9' });
  assert.match(bench.condition('ovn-snat-rules', 's1', 'NatConflict')?.message ?? '', /OvnFip f1 and 1 more have the same address inside/);
  made.put('ovn-snat-rules', 's2', { ovnEip: 'e3', vpc: 'blue', v4IpCidr: '10.5.0.0/24' });
  assert.equal(bench.condition('ovn-snat-rules', 's2', 'NatConflict'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
  bench.delete('ovn-fips', 'f1');
  bench.delete('ovn-snat-rules', 's1');
  bench.converge();
  assert.equal(told('f2'), '');
});
