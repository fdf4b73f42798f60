/**
 * Common to all kinds that have blockers: a blocked deletion is reported once, so is its end, and there are no new dependents meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPENDENCIES } from '../blockers/dependencies.ts';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { RuleBench } from '../testing/rule-bench.ts';
import type { ResourceName } from '../world/resources.ts';

/** A Vpc with a Subnet that has an IPPool, a namespace and two pods. */
function tenant(): PodScene {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop'] } });
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'red', ips: ['10.1.0.100..10.1.0.110'] } });
  scene.bench.converge();
  scene.pod('a');
  scene.pod('b');
  scene.bench.converge();
  return scene;
}

function eventsOf(bench: RuleBench, resource: ResourceName, key: string, reason: RegExp): string[] {
  return bench.events
    .filter((event) => event.object === `${resource}/${key}` && reason.test(event.reason))
    .map(({ reason: reported, message }) => `${reported}: ${message}`);
}

test('a blocked deletion is reported by one Event, however many blockers it had, and so is its end', () => {
  const { bench } = tenant();
  bench.delete('subnets', 'red');
  bench.converge();
  bench.removeByForce('pods', 'shop/a');
  bench.converge();
  assert.match(bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /one object still uses it: IP b\.shop\./);
  assert.deepEqual(
    eventsOf(bench, 'subnets', 'red', /^Deletion/).map((text) => text.replace(/:.*/, '')),
    ['DeletionBlocked'],
  );
  bench.removeByForce('pods', 'shop/b');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
  assert.deepEqual(eventsOf(bench, 'subnets', 'red', /^Deletion/).slice(1), [
    'DeletionUnblocked: Subnet red has no blockers any longer and is deleted',
  ]);
});

test('a Subnet without blockers, whose switch has a row of another program, is never reported as deleted before that row is gone', () => {
  const { bench } = tenant();
  const [home] = [...bench.northbound.table('Logical_Switch')].find(([, row]) => row['name'] === 'red') ?? assert.fail();
  const uuid = '00000000-0000-4000-8000-000000000042';
  const acl = { priority: 7, direction: 'to-lport', match: 'ip4', action: 'allow', external_ids: new Map([['theirs', 'yes']]) };
  bench.foreignRow('ACL', uuid, acl, { table: 'Logical_Switch', uuid: home, column: 'acls' });
  bench.delete('subnets', 'red');
  bench.converge();
  bench.removeByForce('pods', 'shop/a');
  bench.removeByForce('pods', 'shop/b');
  bench.converge();
  assert.deepEqual(eventsOf(bench, 'subnets', 'red', /^DeletionUnblocked$/), []);
  // What the writer reports of its diff.
  const found = { owners: ['subnet//red'], message: 'ACL in it belongs to another program' };
  bench.world.rowConflicts.set(rowId('Logical_Switch', 'red'), found);
  bench.converge();
  assert.equal(
    bench.condition('subnets', 'red', 'DeletionBlocked')?.message,
    'Subnet red cannot be deleted yet: ACL in it belongs to another program',
  );
  assert.deepEqual(eventsOf(bench, 'subnets', 'red', /^DeletionUnblocked$/), []);
  bench.world.rowConflicts.delete(rowId('Logical_Switch', 'red'));
  bench.removeForeignRow('ACL', uuid);
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
  assert.equal(eventsOf(bench, 'subnets', 'red', /^DeletionUnblocked$/).length, 1);
});

test('an IP object that a user deletes while its pod runs is reported once, and is deleted with the pod', () => {
  const { bench } = tenant();
  bench.delete('ips', 'a.shop');
  bench.converge();
  assert.equal(eventsOf(bench, 'ips', 'a.shop', /^DeletionBlocked$/).length, 1);
  bench.removeByForce('pods', 'shop/a');
  bench.converge();
  assert.equal(bench.object('ips', 'a.shop'), undefined);
  assert.equal(eventsOf(bench, 'ips', 'a.shop', /^DeletionUnblocked$/).length, 1);
});

test('every dependency can be read both ways', () => {
  const made = tenant();
  // Its IP object has the name of the machine.
  made.machine('vm');
  made.pod('virt-launcher-vm-a', { machine: 'vm', spec: { restartPolicy: 'Never' } });
  made.bench.converge();
  const { world } = made.bench;
  let pairs = 0;
  for (const { on, dependent, dependents, dependsOn } of DEPENDENCIES) {
    for (const [key] of world.tables[on]?.entries() ?? [])
      for (const by of world.set(dependents, key).all()) {
        if (world.tables[dependent]?.peek(by) === undefined) continue;
        assert.ok([...dependsOn(world, by)].includes(key), `${dependent} ${by} depends on ${on} ${key}`);
        pairs++;
      }
    for (const [key] of world.tables[dependent]?.entries() ?? [])
      for (const of of dependsOn(world, key)) {
        if (world.tables[on]?.peek(of) === undefined) continue;
        assert.ok(world.set(dependents, of).all().includes(key), `${on} ${of} has dependent ${dependent} ${key}`);
      }
  }
  assert.ok(pairs > 8, `only ${pairs}`);
});

test('a Subnet that is being deleted: a new pod gets no address, and both report that', () => {
  const scene = tenant();
  scene.bench.delete('subnets', 'red');
  scene.bench.converge();
  scene.pod('late', { annotations: { 'ovn.kubernetes.io/logical_switch': 'red' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/late'), undefined);
  assert.equal(scene.bench.object('ips', 'late.shop'), undefined);
  assert.match(scene.bench.condition('pods', 'shop/late', 'kiln.io/NetworkBound')?.message ?? '', /Subnet red is being deleted/);
  assert.equal(eventsOf(scene.bench, 'pods', 'shop/late', /./).filter((text) => text.includes('Subnet red is being deleted')).length, 1);
});

test('a Subnet that is being deleted: a request for an address fails', () => {
  const { bench } = tenant();
  bench.delete('subnets', 'red');
  bench.converge();
  bench.put('ips', { metadata: { name: 'vip.shop' }, spec: { subnet: 'red', podName: 'vip', namespace: 'shop' } });
  bench.converge();
  assert.equal(bench.object('ips', 'vip.shop')?.spec['v4IpAddress'], undefined);
  const text = bench.conditionText('ips', 'vip.shop');
  assert.match(text, /Subnet red is being deleted/);
  assert.equal(eventsOf(bench, 'ips', 'vip.shop', /./).length, 1);
  bench.removeByForce('pods', 'shop/a');
  bench.removeByForce('pods', 'shop/b');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined, 'an IP object that only requests an address does not block');
});

test('a Subnet that is being deleted: a new IPPool reports that, and does not block the deletion', () => {
  const { bench } = tenant();
  bench.delete('subnets', 'red');
  bench.converge();
  bench.put('ippools', { metadata: { name: 'late' }, spec: { subnet: 'red', ips: ['10.1.0.200..10.1.0.210'] } });
  bench.converge();
  assert.match(bench.condition('ippools', 'late', 'Ready')?.message ?? '', /Subnet red is being deleted/);
  assert.equal(eventsOf(bench, 'ippools', 'late', /./).length, 1);
  assert.equal(bench.condition('ippools', 'few', 'Ready')?.status, 'True', 'one that was there goes on');
});

test('an IPPool that is being deleted: a new pod that requests it reports that', () => {
  const scene = tenant();
  const pool = scene.bench.object('ippools', 'few');
  assert.ok(pool);
  scene.bench.put('ippools', { metadata: { ...pool.metadata, finalizers: ['somebody/else'] }, spec: pool.spec });
  scene.bench.delete('ippools', 'few');
  scene.bench.converge();
  scene.pod('late', { annotations: { 'ovn.kubernetes.io/ip_pool': 'few' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/late'), undefined);
  assert.match(scene.bench.condition('pods', 'shop/late', 'kiln.io/NetworkBound')?.message ?? '', /IPPool few is being deleted/);
});

test('a Vpc that is being deleted: a new Subnet gets an Event as well', () => {
  const { bench } = tenant();
  bench.delete('vpcs', 'blue');
  bench.converge();
  bench.put('subnets', { metadata: { name: 'late' }, spec: { vpc: 'blue', cidrBlock: '10.1.9.0/24' } });
  bench.converge();
  assert.equal(bench.row('Logical_Switch', 'late'), undefined);
  assert.match(bench.condition('subnets', 'late', 'Ready')?.message ?? '', /spec\.vpc "blue" names a Vpc that is being deleted/);
  assert.ok(eventsOf(bench, 'subnets', 'late', /./).some((text) => text.includes('spec.vpc "blue" names a Vpc that is being deleted')));
});

test('a Subnet created again under its name is another one: pods of the old one keep their addresses, and each counts once', () => {
  const scene = tenant();
  const { bench } = scene;
  const address = scene.addressOf('shop/a');
  bench.removeByForce('subnets', 'red');
  bench.converge();
  const again = scene.subnet('red', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  bench.converge();
  assert.equal(bench.externalIds('Logical_Switch', 'red')['kiln.io/uid'], again.metadata.uid);
  assert.equal(scene.addressOf('shop/a'), address);
  bench.delete('subnets', 'red');
  bench.converge();
  assert.match(bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /2 objects still use it: IP a\.shop, IP b\.shop/);
});

test('an IP object created again under its name does not inherit the conditions of its predecessor', () => {
  const scene = tenant();
  const { bench } = scene;
  bench.delete('ips', 'a.shop');
  bench.converge();
  const before = bench.object('ips', 'a.shop')?.metadata.uid;
  bench.removeByForce('ips', 'a.shop');
  bench.converge();
  const after = bench.object('ips', 'a.shop');
  assert.notEqual(after?.metadata.uid, before);
  assert.equal(after?.metadata.deletionTimestamp, undefined);
  assert.equal(after?.metadata.annotations?.['kiln.io/conditions'], undefined);
  assert.equal(after?.spec['v4IpAddress'], scene.addressOf('shop/a'));
});
