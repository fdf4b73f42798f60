/** A Vpc that was removed by force keeps what its router translates, and its external port, while these are in use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const DNAT = { protocol: 'tcp', externalPort: '80', internalPort: '8080' };

/** @param subnet whether the Vpc has a Subnet of its own: else the rules alone use it */
function scene(subnet: boolean): NatScene {
  const made = new NatScene({ external: '172.20.0.0/28' });
  const { bench } = made;
  if (!subnet) bench.delete('subnets', 'inside');
  bench.converge();
  made.eip('e1');
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  made.put('ovn-dnat-rules', 'd1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.8', ...DNAT });
  return made;
}

const rows = ({ bench }: NatScene): readonly unknown[] =>
  ['Logical_Router', 'NAT', 'Load_Balancer', 'Logical_Router_Port', 'Gateway_Chassis'].flatMap((table) =>
    [...bench.northbound.table(table)].flatMap(([uuid, row]) =>
      JSON.stringify([...((row['external_ids'] ?? new Map()) as Map<string, string>)]).match(/vpc\/\/blue|\/[fd]1"/)
        ? [`${table} ${uuid}`]
        : [],
    ),
  );

for (const subnet of [true, false])
  test(`its rules stay in effect, and its port keeps its address, ${subnet ? 'with' : 'without'} a Subnet`, () => {
    const made = scene(subnet);
    const { bench } = made;
    const before = rows(made);
    assert.ok(before.length >= 6, before.join());
    const port = String(bench.object('ovn-eips', 'blue-external')?.status?.['v4Ip']);
    bench.removeByForce('vpcs', 'blue');
    while (bench.step()) assert.deepEqual(rows(made), before);
    assert.equal(bench.object('ovn-fips', 'f1')?.status?.['ready'], true);
    assert.match(bench.condition('ovn-fips', 'f1', 'Accepted')?.message ?? '', /Vpc|"blue" does not exist any more.* stays in effect/);
    assert.equal(bench.writesAfterRestart(), 0);
    // The OvnEip of the port goes as well: the router has its address still.
    assert.notEqual(bench.object('ovn-eips', 'blue-external'), undefined);
    bench.removeByForce('ovn-eips', 'blue-external');
    bench.converge();
    for (let at = 0; at < 14; at++) made.eip(`more${at}`);
    const given = bench.keys('ovn-eips').map((name) => bench.object('ovn-eips', name)?.status?.['v4Ip']);
    assert.ok(!given.includes(port), `${port} is not given to another: ${given.join()}`);
    assert.ok(given.filter((one) => one !== undefined).length > 8);
    assert.deepEqual(rows(made), before);
    assert.equal(bench.writesAfterRestart(), 0);
    // A new rule is not for it; the Vpc made again takes all of it over.
    made.put('ovn-fips', 'f2', { ovnEip: 'more0', vpc: 'blue', v4Ip: '10.5.0.7' });
    assert.match(bench.condition('ovn-fips', 'f2', 'Accepted')?.message ?? '', /spec\.vpc "blue" names no Vpc that exists/);
    made.put('vpcs', 'blue', { enableExternal: true });
    assert.equal(bench.condition('ovn-fips', 'f1', 'Accepted'), undefined);
    assert.equal(bench.object('ovn-eips', 'blue-external')?.status?.['v4Ip'], port);
    assert.deepEqual(
      rows(made).filter((one) => before.includes(one)),
      before,
    );
    assert.equal(bench.object('ovn-fips', 'f2')?.status?.['ready'], true);
  });

test('with its last rule and Subnet all of it goes, and the address of its port', () => {
  const made = scene(true);
  const { bench } = made;
  bench.removeByForce('vpcs', 'blue');
  bench.converge();
  for (const [resource, name] of [
    ['ovn-fips', 'f1'],
    ['ovn-dnat-rules', 'd1'],
    ['subnets', 'inside'],
  ] as const)
    bench.delete(resource, name);
  bench.converge();
  assert.deepEqual(rows(made), []);
  assert.equal(bench.object('ovn-eips', 'blue-external'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('its gateway chassis follow the nodes; without a gateway node they stay', () => {
  const made = scene(true);
  const { bench } = made;
  const chassis = (): unknown =>
    made
      .rowsOf('Gateway_Chassis', 'vpc//blue')
      .map((row) => String(row['chassis_name']))
      .toSorted();
  bench.removeByForce('vpcs', 'blue');
  bench.converge();
  assert.deepEqual(chassis(), ['chassis-gw1', 'chassis-gw2']);
  made.gatewayNode('gw3');
  bench.delete('nodes', 'gw1');
  bench.converge();
  assert.deepEqual(chassis(), ['chassis-gw2', 'chassis-gw3']);
  assert.equal(bench.writesAfterRestart(), 0);
  made.gatewayNode('gw2', {});
  made.gatewayNode('gw3', {});
  bench.converge();
  assert.deepEqual(chassis(), ['chassis-gw2', 'chassis-gw3']);
  made.put('vpcs', 'blue', { enableExternal: true });
  assert.deepEqual(chassis(), []);
});
