import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { defineSet, World } from '../../world/world.ts';
import { Computed } from '../reactor.ts';
import { OrderedKeys } from './ordered-keys.ts';

/** The value after all due computations. */
function now<V>(of: World, seen: Computed<V>): V {
  of.reactor.runDue();
  return seen.get();
}

const CREATED = '2026-01-01T00:00:00Z';

function metadata(name: string, more: object = {}): { name: string; uid: string; resourceVersion: string; creationTimestamp: string } {
  return { name, uid: name, resourceVersion: '1', creationTimestamp: CREATED, ...more };
}

function world(): World {
  return new World(DEFAULT_SETTINGS);
}

function putIp(of: World, name: string, subnet: string): void {
  of.ips.set(name, { apiVersion: 'kubeovn.io/v1', kind: 'IP', metadata: metadata(name), spec: { subnet, v4IpAddress: '10.0.0.9' } });
}

function putNamespace(of: World, name: string, labels: Readonly<Record<string, string>>): void {
  of.namespaces.set(name, { apiVersion: 'v1', kind: 'Namespace', metadata: metadata(name, { labels }) });
}

const ipsOf = defineSet('test-ips', ({ ips }, value) => [{ kind: 'bucket', table: ips, index: 'subnet', value }]);

/** IP objects of the Subnets that a namespace names, whose names the namespace does not exclude. */
const chosen = defineSet(
  'test-chosen',
  (of, namespace) =>
    (of.namespaces.get(namespace)?.metadata.labels?.['of'] ?? '').split('.').map((key) => ({ kind: 'set', of: ipsOf, key })),
  (of, namespace, ip) => (of.namespaces.get(namespace)?.metadata.labels?.['not'] === ip ? undefined : ip),
);

test('a set has what its parts have, once, as keys are added, moved and removed', () => {
  const at = world();
  putNamespace(at, 'n', { of: 'red.blue' });
  for (const name of ['b', 'a']) putIp(at, name, 'red');
  putIp(at, 'c', 'blue');
  const seen = new Computed(at.reactor, () => {
    const set = at.set(chosen, 'n');
    return { count: set.count, first: set.first(2), c: set.has('c') };
  });
  assert.deepEqual(now(at, seen), { count: 3, first: ['a', 'b'], c: true });
  putIp(at, 'c', 'green');
  assert.deepEqual(now(at, seen), { count: 2, first: ['a', 'b'], c: false });
  putNamespace(at, 'n', { of: 'red.green' });
  assert.deepEqual(now(at, seen), { count: 3, first: ['a', 'b'], c: true });
  putNamespace(at, 'n', { of: 'red.green', not: 'a' });
  assert.deepEqual(now(at, seen), { count: 2, first: ['b', 'c'], c: true });
  at.ips.delete('b');
  assert.deepEqual(now(at, seen), { count: 1, first: ['c'], c: true });
});

test('a reader runs again only when what it read has changed', () => {
  const at = world();
  putNamespace(at, 'n', { of: 'red' });
  for (const name of ['a', 'b', 'c', 'd']) putIp(at, name, 'red');
  let runs = 0;
  const first = new Computed(at.reactor, () => (runs++, at.set(chosen, 'n').first(2)));
  const one = new Computed(at.reactor, () => (runs++, at.set(chosen, 'n').has('d')));
  assert.deepEqual([first.get(), one.get(), runs], [['a', 'b'], true, 2]);
  at.ips.delete('c');
  at.reactor.runDue();
  assert.equal(runs, 2, 'neither read it');
  at.ips.delete('b');
  at.reactor.runDue();
  assert.deepEqual([first.get(), runs], [['a', 'd'], 3]);
  at.ips.delete('d');
  at.reactor.runDue();
  assert.deepEqual([first.get(), one.get(), runs], [['a'], false, 5]);
});

test('a reader of the number, and one of all members, run again with each member that enters or leaves', () => {
  const at = world();
  putNamespace(at, 'n', { of: 'red' });
  putIp(at, 'a', 'red');
  const count = new Computed(at.reactor, () => at.set(chosen, 'n').count);
  const all = new Computed(at.reactor, () => at.set(chosen, 'n').all());
  assert.deepEqual([now(at, count), now(at, all)], [1, ['a']]);
  putIp(at, 'b', 'red');
  assert.deepEqual([now(at, count), now(at, all)], [2, ['a', 'b']]);
  at.ips.delete('a');
  assert.deepEqual([now(at, count), now(at, all)], [1, ['b']]);
});

test('a member that enters or leaves costs the same at any size', () => {
  const costs = [100, 10_000].map((size) => {
    const at = world();
    putNamespace(at, 'n', { of: 'red' });
    for (let number = 0; number < size; number++) putIp(at, `ip-${number}`, 'red');
    const seen = new Computed(at.reactor, () => [at.set(chosen, 'n').count, at.set(chosen, 'n').first(10)]);
    now(at, seen);
    const { runs } = at.reactor;
    at.ips.delete('ip-0');
    at.reactor.runDue();
    putIp(at, 'ip-0', 'red');
    at.reactor.runDue();
    assert.equal(at.set(chosen, 'n').count, size);
    return at.reactor.runs - runs;
  });
  assert.equal(costs[0], costs[1]);
});

test('a watcher is called for each member that enters or leaves, and a set without readers and watchers ends', () => {
  const at = world();
  putNamespace(at, 'n', { of: 'red' });
  putIp(at, 'a', 'red');
  const heard: string[] = [];
  const end = at.set(chosen, 'n').watch({ enter: (key) => heard.push(`+${key}`), leave: (key) => heard.push(`-${key}`) });
  at.reactor.runDue();
  putIp(at, 'b', 'red');
  at.reactor.runDue();
  at.ips.delete('a');
  at.reactor.runDue();
  putNamespace(at, 'n', { of: 'red', not: 'b' });
  at.reactor.runDue();
  assert.deepEqual(heard, ['+a', '+b', '-a', '-b']);
  end();
  assert.equal(at.reactor.computations, 0, 'its computations are gone');
  putNamespace(at, 'n', { of: 'red' });
  at.reactor.runDue();
  assert.equal(heard.length, 4);
  assert.equal(at.set(chosen, 'n').count, 1, 'it can be asked again');
  assert.equal(at.reactor.computations, 0, 'a read from outside the rules leaves nothing behind');
});

test('the buckets of the members of a set are a part', () => {
  const at = world();
  const subnets = defineSet('test-named', (of, namespace) => [
    { kind: 'keys', keys: (of.namespaces.get(namespace)?.metadata.labels?.['of'] ?? '').split('.') },
  ]);
  const set = defineSet('test-buckets', ({ ips }, key) => [{ kind: 'buckets', table: ips, index: 'subnet', of: subnets, key }]);
  putNamespace(at, 'n', { of: 'red.blue' });
  for (const [name, subnet] of [
    ['a', 'red'],
    ['b', 'blue'],
    ['c', 'green'],
  ] as const)
    putIp(at, name, subnet);
  const seen = new Computed(at.reactor, () => at.set(set, 'n').all().toSorted());
  assert.deepEqual(now(at, seen), ['a', 'b']);
  putNamespace(at, 'n', { of: 'blue.green' });
  assert.deepEqual(now(at, seen), ['b', 'c']);
  putIp(at, 'a', 'green');
  assert.deepEqual(now(at, seen), ['a', 'b', 'c']);
});

test('a definition that throws throws at each reader, and the members stay', () => {
  const at = world();
  const broken = defineSet(
    'test-broken',
    ({ ips }) => [{ kind: 'bucket', table: ips, index: 'subnet', value: 'red' }],
    (of, _, ip) => {
      if (of.ips.get(ip)?.spec.v4IpAddress === 'nonsense') throw new Error(`a bug at ${ip}`);
      return ip;
    },
  );
  putIp(at, 'a', 'red');
  const seen = new Computed(at.reactor, () => at.set(broken, '').count);
  assert.equal(now(at, seen), 1);
  at.ips.set('a', { apiVersion: 'kubeovn.io/v1', kind: 'IP', metadata: metadata('a'), spec: { subnet: 'red', v4IpAddress: 'nonsense' } });
  assert.throws(() => now(at, seen), /a bug at a/);
  assert.equal(at.set(broken, '').hasNow('a'), true);
  putIp(at, 'a', 'red');
  assert.equal(now(at, seen), 1);
});

test('a set that reads itself is an error', () => {
  const at = world();
  const circle = defineSet(
    'test-circle',
    () => [{ kind: 'keys', keys: ['a'] }],
    (of, key, candidate) => (of.set(circle, key).count === 0 ? candidate : undefined),
  );
  assert.throws(() => at.set(circle, 'n').count, /the set test-circle of n reads itself/);
});

test('ordered keys give the first ones like a sorted list', () => {
  const keys = new Set<string>();
  const ordered = new OrderedKeys();
  let state = 7;
  const draw = (most: number): number => (state = (state * 48_271) % 2_147_483_647) % most;
  for (let step = 0; step < 20_000; step++) {
    const key = `k${draw(3_000)}`;
    if (draw(100) < (step < 12_000 ? 70 : 20)) {
      keys.add(key);
      ordered.add(key);
    } else {
      keys.delete(key);
      ordered.remove(key);
    }
    if (step % 500 === 0) assert.deepEqual(ordered.first(10), [...keys].toSorted().slice(0, 10));
  }
  assert.deepEqual(ordered.first(5_000), [...keys].toSorted());
  // Long runs are split, and lose nothing.
  const all = Array.from({ length: 2_000 }, (_, at) => `k${10_000 + at}`);
  const grown = new OrderedKeys();
  for (const at of all.keys()) grown.add(all[(at * 7) % 2_000] as string);
  assert.deepEqual(grown.first(5_000), all);
  assert.deepEqual(new OrderedKeys(keys).first(5_000), [...keys].toSorted());
});
