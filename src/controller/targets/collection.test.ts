import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectId } from '../../compile/output.ts';
import { SILENT } from '../../runtime/log.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import { systemClock } from '../../timing/clock.ts';
import { clusterObject } from '../../world/built-in.ts';
import type { Entry } from '../../world/observed-rows.ts';
import { rowId } from '../../nb/row-id.ts';
import { Collection } from './collection.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

/** A switch of a Subnet that is gone, in a cluster of which nothing is listed. */
class Scene {
  readonly events: (readonly [string, string, string])[] = [];
  readonly timers: (() => void)[] = [];
  readonly bench = new PodScene({ gcMaxRows: 10 }).bench;
  readonly collection: Collection;
  /** Objects of every kind. */
  listed = 0;
  again = 0;
  leads = true;
  /** Holds that were told. */
  told = 0;
  now = NOW;
  /** Whether a second full list has no more than the first one. */
  confirms = true;
  readonly explained = new Set<string>();

  constructor(rule = 'subnet-switch', enabled = true) {
    const { bench } = this;
    bench.converge();
    bench.foreignRow('Logical_Switch', '00000000-0000-8000-8000-000000000001', {
      name: 'left',
      external_ids: { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//left', 'kiln.io/uid': 'u', 'kiln.io/rule': rule },
    });
    this.collection = new Collection({
      ...{
        enabled,
        world: bench.world,
        desired: bench.desired.rows,
        objects: bench.desired.objects,
        log: SILENT,
        about: clusterObject(bench.world.settings),
      },
      clock: { ...systemClock, wallTime: () => this.now },
      caches: {
        explains: (owner) => this.explained.has(owner),
        confirmed: () => Promise.resolve(this.confirms),
        sizeOf: () => this.listed,
      },
      undecided: () => false,
      leads: () => this.leads,
      later: (_ms, run) => void this.timers.push(run),
      event: (_resource, _namespace, name, _uid, { reason, message }) => void this.events.push([name, reason, message]),
      held: () => void this.told++,
      wake: () => undefined,
      again: () => void this.again++,
    });
  }

  /** The load balancer of the default Vpc, with entries that no rule emits. */
  balancer(vips: Readonly<Record<string, string>>): Entry {
    const { bench } = this;
    const id = rowId('Load_Balancer', 'cluster-tcp-loadbalancer');
    const uuid = bench.world.rows.best(id)?.uuid;
    assert.ok(uuid !== undefined);
    const edit = { kind: 'keys', table: 'Load_Balancer', uuid, column: 'vips', set: vips, remove: [] } as const;
    bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
    return bench.world.rows.rowsOf(id)[0] as Entry;
  }

  serve(): void {
    const { bench } = this;
    const labels = { 'kubernetes.io/service-name': 'kubernetes' };
    const slice = { metadata: { name: 'kubernetes', namespace: 'default', labels }, addressType: 'IPv4', endpoints: [], ports: [] };
    bench.put('endpointslices', slice);
    bench.compile();
  }

  get row(): Entry {
    return this.bench.world.rows.rowsOf(rowId('Logical_Switch', 'left'))[0] as Entry;
  }

  annotate(annotations: Readonly<Record<string, string>>): void {
    const { vpcs, settings } = this.bench.world;
    const vpc = vpcs.peek(settings.defaultVpc);
    assert.ok(vpc !== undefined);
    vpcs.set(settings.defaultVpc, { ...vpc, metadata: { ...vpc.metadata, annotations } });
  }
}

test('a hold is a condition of the default Vpc, and a reason for the status; an approval ends it', () => {
  const scene = new Scene();
  const { collection, events } = scene;
  collection.survey();
  assert.match(collection.pausedFor ?? '', /^No row without an owner is collected: 1 have none .*; the API server has no object of a kind/);
  assert.equal(collection.allows(scene.row), false);
  const { message } = scene.bench.world.collection.peek('hold') ?? {};
  assert.match(message ?? '', /then kiln gc approve$/);
  const [, digest = ''] = /digest ([0-9a-f]{16})/.exec(collection.pausedFor ?? '') ?? [];
  const approve = (of: string, until: string): void =>
    scene.annotate({ 'kiln.io/gc-approval': JSON.stringify({ rows: 1, digest: of, until, by: 'ann' }) });
  approve(digest, '2025-12-31T00:00:00Z');
  assert.equal(collection.allows(scene.row), false, 'an approval that is over');
  approve('0123456789abcdef', '2026-01-01T01:00:00Z');
  assert.equal(collection.allows(scene.row), false, 'an approval of other rows');
  approve(digest, '2026-01-01T01:00:00Z');
  assert.equal(collection.pausedFor, undefined);
  assert.equal(collection.allows(scene.row), true);
  assert.deepEqual(scene.bench.world.collection.peek('hold'), { held: false });
  assert.deepEqual(
    events.map(([name, reason]) => [name, reason]),
    [['ovn-cluster', 'CollectionResumed']],
    'that of the hold comes with the condition',
  );
  assert.match(events[0]?.[2] ?? '', /^Approved by ann/);
});

test('a process that does not lead says nothing of a hold before it leads', () => {
  const scene = new Scene();
  const { collection } = scene;
  scene.leads = false;
  collection.survey();
  assert.equal(collection.allows(scene.row), false);
  assert.deepEqual([scene.told, scene.bench.world.collection.peek('hold')], [0, undefined]);
  scene.leads = true;
  collection.survey();
  collection.survey();
  assert.deepEqual([scene.told, scene.bench.world.collection.peek('hold')?.held], [1, true]);
});

test('a hold ends by itself when a second full list has the objects', async () => {
  const scene = new Scene();
  scene.collection.survey();
  scene.listed = 5;
  scene.timers[0]?.();
  await new Promise(setImmediate);
  assert.equal(scene.collection.pausedFor, undefined);
  assert.equal(scene.again, 1);
});

test('a pause of a person keeps rows, in every process, and its end lets them go', () => {
  const scene = new Scene();
  const { collection, events } = scene;
  scene.listed = 5;
  collection.survey();
  scene.annotate({ 'kiln.io/gc-pause': '{"by":"ann","since":"2026-01-01T00:00:00Z","reason":"restore"}' });
  assert.equal(collection.pausedFor, 'collection is paused by ann since 2026-01-01T00:00:00Z: restore');
  assert.equal(collection.allows(scene.row), false);
  assert.equal(collection.marks(scene.row), true);
  assert.deepEqual([...collection.staying], [['paused', 1]]);
  scene.annotate({});
  assert.equal(collection.allows(scene.row), true);
  assert.equal(scene.again, 2);
  assert.deepEqual(
    events.map(([, reason]) => reason),
    ['CollectionPaused', 'CollectionResumed'],
  );
});

test('a leftover of Kube-OVN stays for its grace, from the moment that the row says, and is looked at again then', () => {
  const scene = new Scene('leftover');
  scene.listed = 5;
  const { collection } = scene;
  assert.equal(collection.allows(scene.row), false);
  assert.equal(scene.timers.length, 1);
  (scene.row.row['external_ids'] as Map<string, string>).set('kiln.io/unexplained-since', '2025-12-31T23:30:00Z');
  scene.now += 29 * 60_000;
  assert.equal(collection.allows(scene.row), false);
  scene.now += 60_000;
  assert.equal(collection.allows(scene.row), true);
  assert.equal(new Scene('leftover', false).collection.allows(scene.row), true, 'in a laboratory at once');
});

test('rows that stayed for a pause are counted before they go at its end', () => {
  const scene = new Scene();
  const { collection, bench } = scene;
  scene.listed = 5;
  scene.annotate({ 'kiln.io/gc-pause': 'maintenance' });
  for (let n = 0; n < 15; n++)
    bench.foreignRow('Logical_Switch', `00000000-0000-8000-8000-0000000001${String(n).padStart(2, '0')}`, {
      name: `left-${n}`,
      external_ids: { vendor: 'kube-ovn', 'kiln.io/owner': `subnet//left-${n}`, 'kiln.io/uid': 'u', 'kiln.io/rule': 'subnet-switch' },
    });
  collection.survey();
  assert.equal(collection.limit.heldRows, 0);
  scene.annotate({});
  collection.survey();
  assert.equal(collection.limit.heldRows, 16);
  assert.equal(collection.allows(scene.row), false);
});

test('keys that are left of an object which is gone wait for the same hold and approval, and are counted with the rows', () => {
  const scene = new Scene();
  const { collection, bench } = scene;
  scene.listed = 5;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: Array.from({ length: 10 }, (_, n) => `old-${n}`) } });
  const keys = { 'ovn.kubernetes.io/logical_switch': 'gone', 'ovn.kubernetes.io/cidr': '10.9.0.0/16' };
  for (let n = 0; n < 10; n++) bench.put('namespaces', { metadata: { name: `old-${n}`, annotations: keys } });
  bench.compile();
  const allows = (): boolean => collection.allowsLeftover(objectId('namespaces', 'old-1'), 'subnet//gone');
  collection.survey();
  assert.match(collection.pausedFor ?? '', /: 11 have none .*, 10 of them objects and keys in Kubernetes, .*more than 10 rows/);
  assert.equal(allows(), false);
  const [, digest = ''] = /digest ([0-9a-f]{16})/.exec(collection.pausedFor ?? '') ?? [];
  scene.annotate({ 'kiln.io/gc-approval': JSON.stringify({ rows: 11, digest, until: '2026-01-01T01:00:00Z' }) });
  assert.equal(allows(), true);
  scene.annotate({ 'kiln.io/gc-pause': 'maintenance' });
  assert.equal(allows(), false);
});

test('an entry without an owner goes only after a second full list; a pause, a mode of its Vpc and a Service with an option keep it', async () => {
  const scene = new Scene();
  const { collection } = scene;
  scene.listed = 5;
  scene.explained.add('subnet//left');
  scene.serve();
  const row = scene.balancer({ '10.96.0.77:80': '10.16.0.5:80' });
  const allows = (): boolean => collection.allowsEntry(row, 'vips', '10.96.0.77:80');
  collection.survey();
  scene.confirms = false;
  assert.equal(allows(), false);
  await new Promise(setImmediate);
  assert.equal(allows(), false, 'the second list has a Service that the first one lacked');
  assert.equal(scene.timers.length, 1);
  scene.confirms = true;
  scene.timers[0]?.();
  await new Promise(setImmediate);
  collection.survey();
  assert.equal(allows(), true);
  scene.annotate({ 'kiln.io/gc-pause': 'maintenance' });
  assert.deepEqual([allows(), [...collection.staying]], [false, [['paused', 1]]]);
  for (const mode of ['report', 'off']) {
    scene.annotate({ 'kiln.io/gc': mode });
    assert.equal(allows(), false, mode);
  }
  scene.annotate({});
  const annotations = { 'ovn.kubernetes.io/router_lb_vip': 'fd00::9,10.96.0.77' };
  scene.bench.put('services', { metadata: { name: 'rule', namespace: 'shop', annotations }, spec: { ports: [{ port: 80 }] } });
  assert.equal(allows(), false, 'it is of a rule that is not implemented');
  scene.bench.removeByForce('services', 'shop/rule');
  assert.equal(allows(), true);
  collection.doubt();
  assert.equal(allows(), false, 'a list that lacks known objects is confirmed anew');
});

test('entries are counted with the rows, and held above the limit; one of a Service whose deletion was observed goes', async () => {
  const scene = new Scene();
  const { collection, bench } = scene;
  scene.listed = 5;
  scene.serve();
  for (const name of ['seen', 'lost'])
    bench.put('services', {
      metadata: { name, namespace: 'shop' },
      spec: { clusterIP: `10.96.0.${name === 'seen' ? 1 : 2}`, ports: [{ port: 80 }] },
    });
  for (const name of ['seen', 'lost']) bench.removeByForce('services', `shop/${name}`);
  bench.compile();
  scene.explained.add('service/shop/seen');
  const many = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`10.96.0.${n + 1}:80`, '']));
  const row = scene.balancer(many);
  collection.survey();
  assert.match(collection.pausedFor ?? '', /: 15 have none .*more than 10 rows/, '14 entries and a switch');
  assert.equal(collection.allowsEntry(row, 'vips', '10.96.0.1:80'), true);
  collection.allowsEntry(row, 'vips', '10.96.0.2:80');
  await new Promise(setImmediate);
  for (const last of [2, 3]) assert.equal(collection.allowsEntry(row, 'vips', `10.96.0.${last}:80`), false);
  const [, digest = ''] = /digest ([0-9a-f]{16})/.exec(collection.pausedFor ?? '') ?? [];
  scene.annotate({ 'kiln.io/gc-approval': JSON.stringify({ rows: 15, digest, until: '2026-01-01T01:00:00Z' }) });
  assert.equal(collection.allowsEntry(row, 'vips', '10.96.0.3:80'), true);
});
