/** An edit of a ready rule that cannot be carried out leaves what it translated in effect, as long as that is its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

function scene(): NatScene {
  const made = new NatScene();
  for (const name of ['web', 'api']) made.pods.pod(name);
  made.bench.converge();
  for (const name of ['e1', 'e2']) made.eip(name);
  return made;
}

const DNAT = { ovnEip: 'e1', ipName: 'web.shop', protocol: 'tcp', externalPort: '80', internalPort: '8080' };

/** What the router translates. */
function translated({ bench }: NatScene): string {
  const nat = bench.rows('NAT').map((row) => [row['type'], row['external_ip'], row['logical_ip']].join(' '));
  const vips = bench.rows('Load_Balancer').flatMap((row) => Object.entries((row['vips'] ?? {}) as Readonly<Record<string, string>>));
  return [...nat, ...vips.map((pair) => pair.join('='))].toSorted().join('\n');
}

function accepted({ bench }: NatScene, resource: 'ovn-fips' | 'ovn-snat-rules' | 'ovn-dnat-rules', name: string): string {
  const { status, reason, message } = bench.condition(resource, name, 'Accepted') ?? {};
  return status === undefined ? '' : `${status} ${reason} ${message}`;
}

const IMPOSSIBLE = [
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { ipName: 'nobody.shop' }, /NatTargetMissing/],
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { ovnEip: '' }, /NatRuleInvalid/],
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { type: 'strange' }, /NatRuleInvalid/],
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { ovnEip: 'later', ipName: 'api.shop' }, /EipMissing/],
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { vpc: 'outside' }, /NatVpcInvalid/],
  ['ovn-snat-rules', { ovnEip: 'e1', vpcSubnet: 'inside' }, { vpcSubnet: 'nowhere' }, /NatTargetMissing/],
  ['ovn-dnat-rules', DNAT, { externalPort: '99999' }, /NatRuleInvalid/],
  ['ovn-dnat-rules', DNAT, { ipName: 'nobody.shop' }, /NatTargetMissing/],
] as const;

for (const [resource, before, edit, reason] of IMPOSSIBLE)
  test(`one of ${resource} edited to ${JSON.stringify(edit)} translates as before, and says both`, () => {
    const made = scene();
    const { bench } = made;
    made.put(resource, 'r1', before);
    const old = translated(made);
    const status = bench.object(resource, 'r1')?.status ?? {};
    bench.edit(resource, 'r1', edit);
    while (bench.step()) assert.equal(translated(made), old);
    assert.match(accepted(made, resource, 'r1'), reason);
    assert.match(accepted(made, resource, 'r1'), /Until then router blue translates as before the edit: .*\(OvnEip e1\)$/);
    assert.equal(bench.condition(resource, 'r1', 'Ready')?.status, 'True');
    const { conditions: _now, ...now } = bench.object(resource, 'r1')?.status ?? {};
    const { conditions: _then, ...then } = status;
    assert.deepEqual(now, then);
    assert.equal(bench.writesAfterRestart(), 0);
    // Its OvnEip is in use, though the spec may name another one.
    bench.delete('ovn-eips', 'e1');
    bench.converge();
    assert.match(bench.condition('ovn-eips', 'e1', 'DeletionBlocked')?.message ?? '', / r1/);
    assert.equal(translated(made), old);
    bench.delete(resource, 'r1');
    bench.converge();
    assert.deepEqual([translated(made), bench.object(resource, 'r1'), bench.object('ovn-eips', 'e1')], ['', undefined, undefined]);
    assert.equal(bench.writesAfterRestart(), 0);
  });

test('the edit of a rule whose target comes later is carried out in one step', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-dnat-rules', 'd1', DNAT);
  const old = translated(made);
  bench.edit('ovn-dnat-rules', 'd1', { ipName: 'late.shop', externalPort: '443' });
  bench.converge();
  made.pods.pod('late');
  const seen = new Set<string>();
  while (bench.step()) seen.add(translated(made));
  assert.deepEqual([...seen].filter((one) => one !== old).length, 1);
  assert.match(translated(made), /^172\.20\.0\.\d+:443=10\.5\.0\.\d+:8080$/);
  assert.equal(accepted(made, 'ovn-dnat-rules', 'd1'), '');
});

test('an edit to what another rule has waits for it and keeps its own, which no third rule gets', () => {
  const made = scene();
  const { bench } = made;
  made.put('ovn-dnat-rules', 'd1', DNAT);
  made.put('ovn-dnat-rules', 'd2', { ...DNAT, ipName: 'api.shop', externalPort: '443' });
  const old = translated(made);
  bench.edit('ovn-dnat-rules', 'd1', { externalPort: '443' });
  while (bench.step()) assert.equal(translated(made), old);
  assert.match(
    accepted(made, 'ovn-dnat-rules', 'd1'),
    /NatConflict OvnDnatRule d1: OvnDnatRule d2 translates the same.*Until then router blue/,
  );
  assert.match(bench.condition('ovn-dnat-rules', 'd2', 'NatConflict')?.message ?? '', /OvnDnatRule d1 waits for it/);
  made.put('ovn-dnat-rules', 'd3', { ...DNAT, ipName: 'api.shop' });
  assert.equal(translated(made), old);
  assert.match(accepted(made, 'ovn-dnat-rules', 'd3'), /OvnDnatRule d1 translates the same, as before its edit/);
  assert.equal(bench.writesAfterRestart(), 0);
  bench.delete('ovn-dnat-rules', 'd2');
  bench.converge();
  assert.match(Object.keys(bench.map('Load_Balancer', 'd1', 'vips')).join(), /:443$/);
  assert.match(Object.keys(bench.map('Load_Balancer', 'd3', 'vips')).join(), /:80$/);
  for (const name of ['d1', 'd3']) assert.equal(bench.object('ovn-dnat-rules', name)?.status?.['ready'], true);
});

test('what a rule translated before its edit ends with its former target, and with its former OvnEip', () => {
  for (const [resource, name] of [
    ['pods', 'shop/web'],
    ['ovn-eips', 'e1'],
  ] as const) {
    const made = scene();
    const { bench } = made;
    made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
    bench.edit('ovn-fips', 'f1', { ovnEip: 'e2', ipName: 'nobody.shop' });
    bench.converge();
    assert.equal(bench.rows('NAT').length, 1);
    if (resource === 'pods') bench.delete(resource, name);
    else bench.removeByForce(resource, name);
    bench.converge();
    assert.equal(translated(made), '');
    assert.doesNotMatch(accepted(made, 'ovn-fips', 'f1'), /Until then/);
    assert.equal(bench.object('ovn-fips', 'f1')?.status?.['ready'], false);
    assert.equal(bench.writesAfterRestart(), 0);
    // The address of the former OvnEip is free for another one, and nothing else translates it.
    if (resource === 'ovn-eips') made.eip('e1');
    assert.equal(translated(made), '');
  }
});

test('the Vip that a rule translated to before its edit stays until it is translated no longer', () => {
  const made = scene();
  const { bench } = made;
  made.put('vips', 'v1', { subnet: 'inside' });
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'v1', ipType: 'vip' });
  const old = translated(made);
  assert.notEqual(old, '');
  bench.edit('ovn-fips', 'f1', { ipName: 'v2' });
  bench.converge();
  bench.delete('vips', 'v1');
  bench.converge();
  assert.match(bench.condition('vips', 'v1', 'DeletionBlocked')?.message ?? '', /OvnFip f1/);
  assert.equal(translated(made), old);
  made.put('vips', 'v2', { subnet: 'inside' });
  assert.equal(bench.object('vips', 'v1'), undefined);
  assert.notEqual(translated(made), old);
  assert.equal(bench.writesAfterRestart(), 0);
});
