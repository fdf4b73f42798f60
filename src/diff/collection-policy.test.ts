import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectId } from '../compile/output.ts';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { Settings } from '../world/settings.ts';
import { CollectionPolicy } from './collection-policy.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const uuid = (n: number): string => `00000000-0000-8000-8000-00000000000${n}`;

function keys(owner: string): { readonly external_ids: Readonly<Record<string, string>> } {
  return { external_ids: { vendor: 'kube-ovn', 'kiln.io/owner': owner, 'kiln.io/uid': 'gone', 'kiln.io/rule': 'r' } };
}

/** The Vpc blue with a route, and a switch with a port of namespace shop that has a port in its router. Nothing explains any of them. */
class Scene {
  readonly bench: PodScene['bench'];
  readonly policy: CollectionPolicy;
  changes = 0;

  constructor(settings: Partial<Settings> = {}) {
    const scene = new PodScene(settings);
    this.bench = scene.bench;
    const { bench } = this;
    bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
    bench.converge();
    const [router] = bench.world.rows.rowsOf(rowId('Logical_Router', 'blue'));
    const inRouter = { table: 'Logical_Router', uuid: String(router?.uuid) };
    bench.foreignRow(
      'Logical_Router_Static_Route',
      uuid(1),
      { ip_prefix: '10.0.0.0/8', nexthop: '10.1.0.1', ...keys('vpc//gone') },
      { ...inRouter, column: 'static_routes' },
    );
    bench.foreignRow('Logical_Router_Port', uuid(2), { name: 'blue-left', ...keys('subnet//left') }, { ...inRouter, column: 'ports' });
    bench.foreignRow('Logical_Switch', uuid(3), { name: 'left', ...keys('subnet//left') });
    const inSwitch = { table: 'Logical_Switch', uuid: uuid(3), column: 'ports' };
    bench.foreignRow(
      'Logical_Switch_Port',
      uuid(4),
      { name: 'left-blue', type: 'router', options: { 'router-port': 'blue-left' }, ...keys('subnet//left') },
      inSwitch,
    );
    bench.foreignRow('Logical_Switch_Port', uuid(5), { name: 'p.shop', ...keys('pod/shop/p') }, inSwitch);
    this.policy = new CollectionPolicy(bench.world, true, () => void this.changes++);
  }

  annotate(resource: 'vpcs' | 'namespaces', name: string, mode: string): void {
    const { bench } = this;
    const table = bench.world[resource];
    const object = table.peek(name);
    assert.ok(object !== undefined);
    table.set(name, { ...object, metadata: { ...object.metadata, annotations: { 'kiln.io/gc': mode } } } as never);
  }

  /** By row, why it stays: only those that do. */
  staying(explained: (owner: string) => boolean = () => false): Readonly<Record<string, string>> {
    const { rows } = this.bench.world;
    const ids = [
      rowId('Logical_Switch', 'left'),
      rowId('Logical_Switch_Port', 'left-blue'),
      rowId('Logical_Switch_Port', 'p.shop'),
      rowId('Logical_Router_Port', 'blue-left'),
      ...[...rows.owned].filter((id) => id.includes('10.0.0.0/8')),
    ];
    const staying: Record<string, string> = {};
    for (const id of ids) {
      const [row] = rows.rowsOf(id);
      assert.ok(row !== undefined, id);
      const stays = this.policy.stays(row, { now: NOW, explained });
      if (stays !== undefined) staying[id.includes('10.0.0.0/8') ? 'route' : String(row.row['name'])] = `${stays.why}: ${stays.text}`;
    }
    return staying;
  }
}

test('by default all rows go that nothing explains', () => {
  assert.deepEqual(new Scene().staying(), {});
});

test('an annotation of a Namespace keeps the rows of its objects, and the switch that they are in', () => {
  const scene = new Scene();
  scene.annotate('namespaces', 'shop', 'report');
  const why = 'report: annotation kiln.io/gc of Namespace shop';
  assert.deepEqual(scene.staying(), {
    left: `report: Logical_Switch_Port p.shop in it stays: annotation kiln.io/gc of Namespace shop`,
    'p.shop': why,
  });
  assert.equal(scene.changes, 1);
  assert.deepEqual(
    scene.staying(() => true),
    {},
    'rows of objects that exist go as with any change of them',
  );
  scene.annotate('namespaces', 'shop', 'of');
  assert.equal(scene.staying()['p.shop'], why, 'what is no mode counts as report: its author wanted no deletion');
  scene.annotate('namespaces', 'shop', 'on');
  assert.deepEqual([scene.staying(), scene.changes], [{}, 2]);
});

test('an annotation of a Vpc keeps what is in its router and in switches with a port in it', () => {
  const scene = new Scene();
  scene.annotate('vpcs', 'blue', 'off');
  const why = 'off: annotation kiln.io/gc of Vpc blue';
  assert.deepEqual(scene.staying(), { left: why, 'left-blue': why, 'p.shop': why, 'blue-left': why, route: why });
  scene.annotate('vpcs', 'blue', 'on');
  assert.deepEqual(scene.staying(), {});
});

test('rules by table, name and owner, and a mode for all; the most careful is in effect', () => {
  const rules = [
    { mode: 'report', table: 'Logical_Router_Static_Route' },
    { mode: 'report', names: '^left' },
    { mode: 'off', owners: '^subnet//left$', table: 'Logical_Router_Port' },
  ] as const;
  const scene = new Scene({ gcRules: rules });
  assert.deepEqual(Object.keys(scene.staying()).toSorted(), ['blue-left', 'left', 'left-blue', 'route']);
  assert.match(scene.staying()['blue-left'] ?? '', /^off: --gc-rules \{"mode":"off"/);
  scene.annotate('vpcs', 'blue', 'off');
  assert.match(scene.staying()['route'] ?? '', /^off: annotation/);
  assert.equal(new Scene({ gc: 'report' }).staying()['p.shop'], 'report: --gc=report');
});

test('what is left in Kubernetes stays by its owner, its own Namespace, a pause, and with the row that it was with', () => {
  const why = (scene: Scene, object: string, owner: string, explained = false): string | undefined =>
    scene.policy.leftoverStays(object as ObjectId, owner, { now: NOW, explained: () => explained })?.text;
  const ofPod = ['ips/p.shop', 'pod/shop/p'] as const;
  const ofSubnet = ['namespaces/shop', 'subnet//left'] as const;
  const scene = new Scene({ gcRules: [{ mode: 'report', owners: '^pod/ci/' }] });
  assert.deepEqual([why(scene, ...ofPod), why(scene, ...ofSubnet)], [undefined, undefined]);
  assert.match(why(scene, 'ips/p.ci', 'pod/ci/p') ?? '', /--gc-rules/);
  assert.equal(why(scene, 'ips/p.ci', 'pod/ci/p', true), undefined, 'its pod was seen to go');
  scene.annotate('vpcs', 'blue', 'off');
  assert.equal(why(scene, ...ofPod), 'Logical_Switch_Port p.shop stays: annotation kiln.io/gc of Vpc blue');
  assert.match(why(scene, ...ofSubnet) ?? '', /^Logical_Switch left stays: .*annotation kiln\.io\/gc of Vpc blue$/);
  scene.annotate('vpcs', 'blue', 'on');
  scene.annotate('namespaces', 'shop', 'report');
  assert.deepEqual(
    [why(scene, ...ofPod), why(scene, ...ofSubnet)],
    ['annotation kiln.io/gc of Namespace shop', 'annotation kiln.io/gc of Namespace shop'],
  );
  scene.annotate('namespaces', 'shop', 'on');
  scene.annotate('vpcs', scene.bench.world.settings.defaultVpc, 'on');
  assert.deepEqual([why(scene, ...ofPod), why(scene, ...ofSubnet)], [undefined, undefined]);
});
