/** Rows of other programs inside rows of ours, at any depth: OVSDB would delete them with ours, and so ours stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';

const CHASSIS = '00000000-0000-4000-8000-000000000001';
const NEUTRON = { 'neutron:router': 'r' };

/** Vpc blue with Subnet red, and a gateway chassis of another program in the router port of the Subnet. */
function withChassis(keys: Readonly<Record<string, string>>): PodScene {
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
  bench.converge();
  const port = String(bench.world.rows.best(rowId('Logical_Router_Port', 'blue-red'))?.uuid);
  bench.foreignRow(
    'Gateway_Chassis',
    CHASSIS,
    { name: 'theirs', chassis_name: 'n1', priority: 5, external_ids: keys },
    { table: 'Logical_Router_Port', uuid: port, column: 'gateway_chassis' },
  );
  bench.converge();
  return scene;
}

for (const [program, keys] of [
  ['another program', {}],
  ['neutron', NEUTRON],
] as const)
  test(`a row of ${program} in a router port in a router: port and router stay until it is gone`, () => {
    const { bench } = withChassis(keys);
    const before = bench.row('Gateway_Chassis', 'theirs');
    assert.notEqual(before, undefined);
    bench.removeByForce('subnets', 'red');
    bench.removeByForce('vpcs', 'blue');
    bench.converge();
    assert.deepEqual(bench.row('Gateway_Chassis', 'theirs'), before);
    assert.deepEqual([bench.row('Logical_Switch', 'red'), bench.row('Logical_Router', 'blue') !== undefined], [undefined, true]);
    const told = bench.conflicts.get(rowId('Logical_Router', 'blue')) ?? '';
    assert.match(told, new RegExp(`Gateway_Chassis theirs in Logical_Router_Port blue-red of it belongs to ${program};`));
    // Only the program, or the person who made it, knows whether a row is needed, whatever marks it has.
    assert.match(told, /; Kiln waits until that program removes it: ovn-nbctl list Gateway_Chassis \S+$/);
    bench.removeForeignRow('Gateway_Chassis', CHASSIS);
    bench.converge();
    assert.equal(bench.row('Logical_Router', 'blue'), undefined);
  });
