/** Whether rows belong to the objects of a cluster: by uids where Kiln wrote them, by names where Kube-OVN did. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryNorthbound } from '../../testing/memory-northbound.ts';
import { MemoryObjects } from '../../testing/memory-objects.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { correspondence } from './belongs-together.ts';

const UUID = '00000000-0000-4000-8000-00000000000';

/** @param keys of switches `a`, `b` and `c`; the cluster has Subnets `a`, `b` and `c` */
function cluster(keys: (name: string, uid: string) => Readonly<Record<string, string>>, names = ['a', 'b', 'c']): World {
  const world = new World(DEFAULT_SETTINGS);
  const objects = new MemoryObjects(world);
  const northbound = new MemoryNorthbound();
  for (const [at, name] of ['a', 'b', 'c'].entries()) {
    const { uid } = objects.put('subnets', { metadata: { name }, spec: {} }).metadata;
    const row = { name: names[at], external_ids: new Map(Object.entries(keys(name, uid))) };
    world.rows.apply(northbound, northbound.insert('Logical_Switch', `${UUID}${at}`, row));
  }
  return world;
}

const ours = (name: string, uid: string): Readonly<Record<string, string>> => ({
  vendor: 'kube-ovn',
  ...{ 'kiln.io/owner': `subnet//${name}`, 'kiln.io/uid': uid, 'kiln.io/rule': 'subnet' },
});

test("rows with the uids of this cluster's objects belong to it; with others they do not, whatever their names", () => {
  assert.deepEqual(correspondence(cluster(ours)), { kind: 'same', rows: 3, known: 3 });
  const other = cluster((name, uid) => ours(name, `${uid}-of-another-cluster`));
  assert.deepEqual(correspondence(other), { kind: 'other', rows: 3, known: 0 });
  // One Subnet that was made anew is no other cluster.
  const one = cluster((name, uid) => ours(name, name === 'a' ? 'before' : uid));
  assert.equal(correspondence(one).kind, 'same');
});

test("rows of Kube-OVN's have names alone; names that every cluster has say nothing", () => {
  const legacy = (): Readonly<Record<string, string>> => ({ vendor: 'kube-ovn' });
  assert.equal(correspondence(cluster(legacy)).kind, 'same');
  assert.equal(correspondence(cluster(legacy, ['ovn-default', 'x', 'y'])).kind, 'other');
  assert.equal(correspondence(new World(DEFAULT_SETTINGS)).kind, 'empty');
});
