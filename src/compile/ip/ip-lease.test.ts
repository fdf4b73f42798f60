import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleBench } from '../../testing/rule-bench.ts';
import { PodScene } from '../../testing/pod-scene.ts';

const HOUR = 3_600_000;
/** The bench's times of objects and conditions start at the beginning of this year. */
const BEGINNING = Date.UTC(2026, 0, 1);

function reserve(scene: PodScene, lease: string | undefined, name = 'web'): void {
  scene.bench.put('ips', {
    metadata: {
      name: `${name}.shop`,
      labels: { 'ovn.kubernetes.io/ip_reserved': 'true' },
      ...(lease !== undefined && { annotations: { 'kiln.io/lease': lease } }),
    },
    spec: { podName: name, namespace: 'shop', subnet: 'ovn-default', podType: '', ipAddress: '10.16.0.9' },
  });
  scene.bench.converge();
}

/** Advances the time to this many hours after the beginning, and converges. */
function at(bench: RuleBench, hours: number): void {
  bench.passTo(BEGINNING + hours * HOUR);
}

function conditions(bench: RuleBench, name = 'web.shop'): string {
  return bench.conditionText('ips', name);
}

test('a reserved address that nothing uses is deleted with an Event when its lease ends, and is free', () => {
  const scene = new PodScene();
  reserve(scene, '24h');
  assert.match(conditions(scene.bench), /Idle=.*its lease of 24h ends at 2026-01-02T/);
  at(scene.bench, 23);
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '10.16.0.9');
  at(scene.bench, 25);
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
  const [event] = scene.bench.events.filter(({ reason }) => reason === 'LeaseEnded');
  assert.equal(event?.object, 'ips/web.shop');
  assert.match(event?.message ?? '', /the lease of 24h ended at .* nothing used address 10\.16\.0\.9/);
  scene.pod('other', { annotations: { 'ovn.kubernetes.io/ip_address': '10.16.0.9' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/other'), '10.16.0.9');
});

test('an address in use stays when its lease would end, and the lease begins anew when the use ends', () => {
  const scene = new PodScene();
  reserve(scene, '24h');
  scene.pod('web');
  scene.bench.converge();
  assert.doesNotMatch(conditions(scene.bench), /Idle/);
  at(scene.bench, 48);
  assert.equal(scene.addressOf('shop/web'), '10.16.0.9');
  scene.bench.removeByForce('pods', 'shop/web');
  at(scene.bench, 48);
  assert.match(conditions(scene.bench), /its lease of 24h ends at 2026-01-04T00:00:00Z/);
  at(scene.bench, 71);
  assert.notEqual(scene.bench.object('ips', 'web.shop'), undefined);
  at(scene.bench, 72);
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
});

test('a lease continues over a restart, and one that ended meanwhile takes effect', () => {
  const scene = new PodScene();
  reserve(scene, '24h');
  const early = scene.bench.restarted();
  at(early, 20);
  assert.equal(early.writes, 0);
  assert.notEqual(early.object('ips', 'web.shop'), undefined);
  const late = scene.bench.restarted();
  at(late, 30);
  assert.equal(late.object('ips', 'web.shop'), undefined);
});

test('a longer lease counts from the same time, and without a lease the address is retained', () => {
  const scene = new PodScene();
  reserve(scene, '1h');
  reserve(scene, '2h');
  at(scene.bench, 1.5);
  assert.notEqual(scene.bench.object('ips', 'web.shop'), undefined);
  scene.bench.put('ips', { metadata: { name: 'web.shop', annotations: {} } });
  at(scene.bench, 1_000);
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '10.16.0.9');
  assert.equal(conditions(scene.bench), '');
});

test('without a lease a reserved address is retained, over restarts too', () => {
  const scene = new PodScene();
  reserve(scene, undefined);
  const fresh = scene.bench.restarted();
  fresh.put('pods', {
    metadata: { name: 'thief', namespace: 'shop', annotations: { 'ovn.kubernetes.io/ip_address': '10.16.0.9' } },
    spec: {},
  });
  at(fresh, 100_000);
  assert.equal(fresh.object('ips', 'web.shop')?.spec['v4IpAddress'], '10.16.0.9');
  assert.equal(fresh.condition('pods', 'shop/thief', 'kiln.io/NetworkBound')?.reason, 'AddressConflict');
});

test('an invalid duration is reported with value and rule, and releases nothing', () => {
  const scene = new PodScene();
  reserve(scene, 'a day');
  assert.match(conditions(scene.bench), /kiln\.io\/lease "a day" is not a duration such as 24h/);
  assert.equal(scene.bench.events.filter(({ reason }) => reason === 'LeaseInvalid').length, 1);
  at(scene.bench, 1_000);
  assert.notEqual(scene.bench.object('ips', 'web.shop'), undefined);
  reserve(scene, '500h');
  assert.doesNotMatch(conditions(scene.bench), /LeaseInvalid/);
});

test("a StatefulSet's kept address has a lease while its pod is away", () => {
  const scene = new PodScene();
  scene.statefulSet('db', 1);
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  const ip = scene.bench.object('ips', 'db-0.shop');
  scene.bench.put('ips', { metadata: { name: 'db-0.shop', annotations: { ...ip?.metadata.annotations, 'kiln.io/lease': '1h' } } });
  at(scene.bench, 5);
  assert.notEqual(scene.bench.object('ips', 'db-0.shop'), undefined);
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.converge();
  at(scene.bench, 10);
  assert.deepEqual([scene.bench.object('ips', 'db-0.shop'), scene.portAddresses('db-0.shop')], [undefined, undefined]);
});

test('a failed request also ends with its lease', () => {
  const scene = new PodScene();
  scene.bench.put('ips', {
    metadata: { name: 'web.shop', annotations: { 'kiln.io/lease': '1h' } },
    spec: { podName: 'web', namespace: 'shop', subnet: 'nowhere', podType: '' },
  });
  scene.bench.converge();
  assert.match(conditions(scene.bench), /WaitingForSubnet/);
  at(scene.bench, 2);
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
});

test('an impossible time edited into the condition is corrected: the lease starts then, and ends', () => {
  const scene = new PodScene();
  reserve(scene, '1h');
  const { bench } = scene;
  const { metadata, spec } = bench.object('ips', 'web.shop') ?? assert.fail();
  const impossible = '[{"type":"Idle","status":"True","lastTransitionTime":"+275760-09-13T00:00:00Z"}]';
  bench.put('ips', { metadata: { ...metadata, annotations: { ...metadata.annotations, 'kiln.io/conditions': impossible } }, spec });
  bench.converge();
  assert.match(conditions(bench), /its lease of 1h ends at 2026-01-01T01:/);
  at(bench, 0.5);
  assert.equal(bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '10.16.0.9');
  at(bench, 2);
  assert.equal(bench.object('ips', 'web.shop'), undefined);
});
