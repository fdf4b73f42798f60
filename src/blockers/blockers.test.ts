import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { FINALIZER } from '../api/well-known.ts';
import { World } from '../world/world.ts';
import type { IP } from '../api/kinds/ip.ts';
import { blockersAmong, blockersOf } from './blockers.ts';

function ip(name: string, subnet: string): IP {
  return {
    apiVersion: 'kubeovn.io/v1',
    kind: 'IP',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { subnet, v4IpAddress: '10.0.0.9' },
  };
}

test('the blockers of a Subnet are counted, and ten of them named', () => {
  const world = new World(DEFAULT_SETTINGS);
  for (let i = 10; i < 23; i++) world.ips.set(`p${i}.shop`, ip(`p${i}.shop`, 'red'));
  world.ips.set('other.shop', ip('other.shop', 'blue'));
  const blockers = blockersOf(world, 'subnets', 'red');
  assert.equal(blockers.count, 13);
  assert.deepEqual(blockers.names.slice(0, 2), ['IP p10.shop', 'IP p11.shop']);
  assert.equal(blockers.names.length, 10);
});

test('a dependent that keeps nothing is no blocker', () => {
  const world = new World(DEFAULT_SETTINGS);
  const metadata = { name: 'p', uid: 'p', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  world.ipPools.set('p', { apiVersion: 'kubeovn.io/v1', kind: 'IPPool', metadata, spec: { subnet: 'red', ips: ['10.0.0.9'] } });
  assert.deepEqual(blockersOf(world, 'subnets', 'red'), { count: 0, names: [], edits: [] });
  assert.deepEqual(
    blockersAmong(world, 'subnets', 'red', () => true),
    { count: 0, names: [], edits: [] },
  );
});

test('some blockers are counted, and the first ten of them named, in whatever order they came', () => {
  const world = new World(DEFAULT_SETTINGS);
  const numbers = Array.from({ length: 40 }, (_, at) => 10 + ((at * 17) % 40));
  for (const number of numbers) world.ips.set(`p${number}.shop`, ip(`p${number}.shop`, 'red'));
  assert.deepEqual(
    blockersAmong(world, 'subnets', 'red', (_, key) => key > 'p20'),
    { count: 30, names: Array.from({ length: 10 }, (_, at) => `IP p${20 + at}.shop`), edits: [] },
  );
});

test('a Subnet without a network in OVN does not block its Vpc', () => {
  const world = new World(DEFAULT_SETTINGS);
  const metadata = { name: 'a', uid: 'a', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  world.subnets.set('a', { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata, spec: { vpc: 'blue', provider: 'macvlan.default' } });
  assert.equal(blockersOf(world, 'vpcs', 'blue').count, 0);
  world.subnets.set('b', { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { ...metadata, name: 'b' }, spec: { vpc: 'blue' } });
  assert.deepEqual(blockersOf(world, 'vpcs', 'blue'), { count: 1, names: ['Subnet b'], edits: [] });
});

test("a Subnet without Kiln's finalizer does not block its Vpc, whatever other finalizers it has", () => {
  const world = new World(DEFAULT_SETTINGS);
  const metadata = { name: 'a', uid: 'a', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  const put = (more: object): void => {
    world.subnets.set('a', { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { ...metadata, ...more }, spec: { vpc: 'blue' } });
  };
  const deletionTimestamp = '2026-01-01T00:01:00Z';
  put({ finalizers: ['foregroundDeletion'] });
  assert.equal(blockersOf(world, 'vpcs', 'blue').count, 1, 'it is not being deleted');
  put({ deletionTimestamp, finalizers: ['foregroundDeletion', FINALIZER] });
  assert.equal(blockersOf(world, 'vpcs', 'blue').count, 1);
  put({ deletionTimestamp, finalizers: ['foregroundDeletion'] });
  assert.equal(blockersOf(world, 'vpcs', 'blue').count, 0);
  world.ips.set('p.shop', ip('p.shop', 'a'));
  assert.deepEqual(blockersOf(world, 'vpcs', 'blue').names, ['Subnet a'], 'it has an address in use: its finalizer was removed by hand');
});
