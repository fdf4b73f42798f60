/** What one more OvnEip with a rule costs, among few and among many: computations and writes are equal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

function crowd(eips: number): NatScene {
  const scene = new NatScene({ external: '172.20.0.0/16' });
  for (let at = 0; at < eips; at++) add(scene, `n${at}`, at);
  scene.bench.converge();
  return scene;
}

/** An OvnEip with an OvnFip, an OvnDnatRule or an OvnSnatRule, in turn. */
function add({ bench }: NatScene, name: string, at: number): void {
  bench.put('ovn-eips', { metadata: { name }, spec: { externalSubnet: 'external' } });
  const address = `10.5.${Math.floor(at / 250) + 1}.${(at % 250) + 1}`;
  const rule = { ovnEip: name, vpc: 'blue' };
  const port = { protocol: 'tcp', externalPort: '80', internalPort: '8080' };
  if (at % 3 === 0) bench.put('ovn-fips', { metadata: { name }, spec: { ...rule, v4Ip: address } });
  else if (at % 3 === 1) bench.put('ovn-dnat-rules', { metadata: { name }, spec: { ...rule, v4Ip: address, ...port } });
  else bench.put('ovn-snat-rules', { metadata: { name }, spec: { ...rule, v4IpCidr: address } });
}

interface Cost {
  readonly computations: number;
  readonly steps: number;
}

/** Until nothing is left to be written. */
function costOf({ bench }: NatScene, change: () => void): Cost {
  const { reactor } = bench.world;
  reactor.runDue();
  const before = reactor.runs;
  change();
  let steps = 0;
  while (bench.step()) steps++;
  return { computations: reactor.runs - before, steps };
}

const RESOURCES = ['ovn-fips', 'ovn-dnat-rules', 'ovn-snat-rules'] as const;

/** One more of each kind comes, is edited to what cannot be carried out and back, and goes. */
function costs(eips: number): readonly Cost[] {
  const scene = crowd(eips);
  const { bench } = scene;
  return RESOURCES.flatMap((resource, at) => {
    const [name, number] = [`new${at}`, 60_000 + at];
    return [
      costOf(scene, () => add(scene, name, number)),
      costOf(scene, () => bench.edit(resource, name, { ovnEip: 'nowhere' })),
      costOf(scene, () => bench.edit(resource, name, { ovnEip: name })),
      costOf(scene, () => {
        bench.delete(resource, name);
        bench.delete('ovn-eips', name);
      }),
    ];
  });
}

test('one more OvnEip with a rule costs the same computations and writes among 12 and among 300', () => {
  const few = costs(12);
  assert.deepEqual(costs(300), few);
  assert.ok(
    few.every(({ computations }) => computations < 200),
    JSON.stringify(few),
  );
});
