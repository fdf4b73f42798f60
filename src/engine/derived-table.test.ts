import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableDefinition } from './derived-table.ts';
import { keysOf } from './domain.ts';
import { Computed } from './reactor.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { defineQuery, defineSet, defineTable, World } from '../world/world.ts';

function put(world: World, name: string, labels: Readonly<Record<string, string>>): void {
  world.namespaces.set(name, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', labels },
  });
}

interface Team {
  readonly team: string;
  readonly size: number;
}

const teams = defineTable<Team>(
  'test-teams',
  (world) => keysOf(world.namespaces),
  (world, key) => {
    const { team = '', size = '1' } = world.namespaces.get(key)?.metadata.labels ?? {};
    if (size === 'nonsense') throw new Error(`a bug at ${key}`);
    return team === '' ? undefined : { team, size: Number(size) };
  },
  { team: ({ team }) => [team] },
);

test('rules read entries and buckets that another rule fills, and run again only when these change', () => {
  const world = new World(DEFAULT_SETTINGS);
  put(world, 'a', { team: 'x' });
  put(world, 'b', { team: 'y' });
  put(world, 'c', {});
  let runs = 0;
  const seen = new Computed(world.reactor, () => {
    runs++;
    return [[...world.derived(teams).bucket('team', 'x')].toSorted(), world.derived(teams).get('a')?.size];
  });
  const now = (): unknown => {
    world.reactor.runDue();
    return seen.get();
  };
  assert.deepEqual(now(), [['a'], 1]);
  put(world, 'b', { team: 'y', size: '3' });
  put(world, 'a', { team: 'x', other: 'label' });
  assert.deepEqual([now(), runs], [[['a'], 1], 1], 'nothing that it reads has changed');
  put(world, 'c', { team: 'x' });
  assert.deepEqual([now(), runs], [[['a', 'c'], 1], 2]);
  put(world, 'a', { team: 'y', size: '2' });
  assert.deepEqual([now(), runs], [[['c'], 2], 3]);
  world.namespaces.delete('c');
  assert.deepEqual([now(), runs], [[[], 2], 4]);
});

test('a rule that reads a derived table and what its entries follow from sees both of one time, and runs once for a change', () => {
  const world = new World(DEFAULT_SETTINGS);
  const team = defineQuery('test-team', (of: World, key) => of.namespaces.get(key)?.metadata.labels?.['team'] ?? '');
  const copy = defineQuery('test-copy', (of: World, key) => of.ask(team, key));
  // Higher above the sources than a rule that reads the team alone.
  const same = defineQuery('test-copy-of-copy', (of: World, key) => of.ask(copy, key));
  const entries = defineTable<string>(
    'test-entries',
    (of) => keysOf(of.namespaces),
    (of, key) => of.ask(same, key) || undefined,
    { all: (text) => [text] },
  );
  put(world, 'a', { team: 'x' });
  const table = world.derived(entries);
  const reads = {
    entry: () => table.has('a'),
    bucket: () => table.bucket('all', 'x').has('a'),
    keys: () => table.keys().has('a'),
  };
  for (const [how, read] of Object.entries(reads)) {
    const seen: (readonly [boolean, boolean])[] = [];
    const rule = new Computed(world.reactor, () => void seen.push([world.ask(team, 'a') !== '', read()]));
    world.reactor.enqueue(rule);
    world.reactor.runDue();
    for (const labels of [{}, { team: 'x' }]) {
      put(world, 'a', labels);
      world.reactor.runDue();
    }
    assert.deepEqual(
      seen,
      [true, false, true].map((isThere) => [isThere, isThere]),
      how,
    );
    rule.dispose();
  }
});

test('a read from outside the rules is up to date without a turn', () => {
  const world = new World(DEFAULT_SETTINGS);
  put(world, 'a', { team: 'x' });
  assert.deepEqual([...world.derived(teams).bucket('team', 'x')], ['a']);
  put(world, 'a', { team: 'y' });
  assert.deepEqual([...world.derived(teams).bucket('team', 'x')], []);
  assert.equal(world.derived(teams).get('a')?.team, 'y');
});

test('a bucket of a derived table is a part of a live set', () => {
  const world = new World(DEFAULT_SETTINGS);
  const members = defineSet('test-members', (of, value) => [{ kind: 'bucket', table: of.derived(teams), index: 'team', value }]);
  put(world, 'a', { team: 'x' });
  assert.deepEqual(world.set(members, 'x').all(), ['a']);
  const seen = new Computed(world.reactor, () => world.set(members, 'x').count);
  assert.equal(seen.get(), 1);
  put(world, 'b', { team: 'x' });
  world.reactor.runDue();
  assert.equal(seen.get(), 2);
});

test('an entry that throws stays, and each reader gets the error until it is right again', () => {
  const world = new World(DEFAULT_SETTINGS);
  put(world, 'a', { team: 'x' });
  const seen = new Computed(world.reactor, () => world.derived(teams).bucket('team', 'x').size);
  assert.equal(seen.get(), 1);
  put(world, 'a', { team: 'y', size: 'nonsense' });
  world.reactor.runDue();
  assert.throws(() => seen.get(), /a bug at a/);
  assert.equal(world.derived(teams).peek('a')?.team, 'x');
  put(world, 'a', { team: 'y' });
  world.reactor.runDue();
  assert.equal(seen.get(), 0);
});

test('the error of an entry ends with its key', () => {
  const world = new World(DEFAULT_SETTINGS);
  put(world, 'a', { team: 'x' });
  put(world, 'b', { team: 'x', size: 'nonsense' });
  const seen = new Computed(world.reactor, () => world.derived(teams).bucket('team', 'x').size);
  assert.throws(() => seen.get(), /a bug at b/);
  world.namespaces.delete('b');
  put(world, 'c', { team: 'x' });
  world.reactor.runDue();
  assert.equal(seen.get(), 2);
});

test('a table whose entries read the table is an error', () => {
  const world = new World(DEFAULT_SETTINGS);
  const circle: TableDefinition<World, number> = defineTable(
    'test-circle',
    (of) => keysOf(of.namespaces),
    (of): number => of.derived(circle).keys().size,
  );
  put(world, 'a', {});
  assert.throws(() => world.derived(circle).keys(), /the table test-circle reads itself/);
});

test('an entry goes when its key leaves the domain, though its object exists, and nothing is computed for it any more', () => {
  const world = new World(DEFAULT_SETTINGS);
  let runs = 0;
  const marked = defineTable<string>(
    'test-marked',
    (of) => keysOf(of.namespaces, ({ metadata }) => metadata.labels?.['marked'] === 'yes'),
    (of, key) => {
      runs++;
      return of.namespaces.get(key)?.metadata.labels?.['team'] ?? 'none';
    },
    { team: (text) => [text] },
  );
  const table = world.derived(marked);
  const before = world.reactor.computations;
  put(world, 'a', { marked: 'yes', team: 'x' });
  assert.equal(table.get('a'), 'x');
  put(world, 'a', { team: 'x' });
  assert.deepEqual([table.get('a'), [...table.bucket('team', 'x')], [...table.keys()]], [undefined, [], []]);
  put(world, 'a', { team: 'y' });
  world.reactor.runDue();
  assert.deepEqual([runs, world.reactor.computations], [1, before]);

  put(world, 'a', { marked: 'yes', team: 'z' });
  const announced: string[] = [];
  table.watchBucket('team', 'z', { enter: (key) => announced.push(key), leave: () => assert.fail() });
  assert.deepEqual(announced, ['a'], 'a watcher gets what is due at once');
});
