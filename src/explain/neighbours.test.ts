import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { neighbourhood } from './neighbours.ts';
import { statusOf } from './status.ts';

const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;

test('rows are counted by program and table, with what they touch of Kiln', () => {
  const scene = new PodScene({ neighbours: [{ name: 'octavia', names: '^lb-' }] });
  const { bench } = scene;
  scene.subnet('red', { cidrBlock: '10.70.0.0/24' });
  bench.converge();
  const [home] = [...bench.world.rows.all].filter(({ id }) => id === 'Logical_Switch/red');
  assert.ok(home);
  bench.foreignRow('Logical_Switch', uuid(1), { name: 'neutron-a', external_ids: { 'neutron:network_name': 'a' } });
  bench.foreignRow('Logical_Switch_Port', uuid(2), { name: 'p' }, { table: 'Logical_Switch', uuid: home.uuid, column: 'ports' });
  bench.foreignRow('Load_Balancer', uuid(3), { name: 'lb-1' });
  bench.foreignRow('Load_Balancer', uuid(4), { name: 'left', external_ids: { vendor: 'kube-ovn' } });
  bench.foreignRow('Address_Set', uuid(5), { name: 'by_hand' });
  const { neighbours, tooWide } = neighbourhood(bench.world);
  assert.deepEqual(
    neighbours.map(({ name, rows, tables, touches }) => [name, rows, tables, touches.map(({ how, message }) => [how, message])]),
    [
      ['kube-ovn', 1, { Load_Balancer: 1 }, []],
      ['neutron', 1, { Logical_Switch: 1 }, []],
      ['octavia', 1, { Load_Balancer: 1 }, []],
      [
        'unmarked',
        2,
        { Address_Set: 1, Logical_Switch_Port: 1 },
        [['inside', 'Logical_Switch_Port p is in Logical_Switch red of Kiln (ports)']],
      ],
    ],
  );
  assert.deepEqual(tooWide, []);
});

test('a pattern that matches rows of Kiln is named, and the rows stay its own', () => {
  const scene = new PodScene({ neighbours: [{ name: 'wide', names: '^red' }] });
  scene.subnet('red', { cidrBlock: '10.70.0.0/24' });
  scene.bench.converge();
  const { neighbours, tooWide } = neighbourhood(scene.bench.world);
  assert.deepEqual(neighbours, []);
  assert.deepEqual(
    tooWide.map(({ name, rows }) => [name, rows > 0]),
    [['wide', true]],
  );
  const [told] = statusOf(scene.bench.world, true).findings;
  assert.match(
    told?.message ?? '',
    /^pattern wide of the setting neighbours matches \d+ rows of Kiln, such as \w+ red\S*; it has no effect on these/,
  );
  assert.equal(scene.bench.row('Logical_Switch', 'red') !== undefined && scene.bench.conflicts.size === 0, true);
});

test("a pattern protects: a router with Kube-OVN's key is not adopted, and the advice is never to remove it", () => {
  const scene = new PodScene({ neighbours: [{ name: 'hand', names: '^blue$' }] });
  const { bench } = scene;
  bench.foreignRow('Logical_Router', uuid(1), { name: 'blue', external_ids: { vendor: 'kube-ovn' } });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  bench.converge();
  const message = bench.conflicts.get(rowId('Logical_Router', 'blue')) ?? '';
  assert.match(message, /belongs to hand, and Kiln does not change it; create the object under another name/);
  assert.doesNotMatch(message, /remove|lr-del|destroy/);
  const wanted = [...bench.conflicts].map(([id, conflict]) => ({ id, message: conflict }));
  assert.deepEqual(
    neighbourhood(bench.world, wanted).neighbours.map(({ name, touches }) => [
      name,
      touches.map(({ how, table, name: row }) => [how, table, row]),
    ]),
    [['hand', [['name', 'Logical_Router', 'blue']]]],
  );
});
