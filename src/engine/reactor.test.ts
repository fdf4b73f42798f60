import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Computed, Reactor } from './reactor.ts';
import { Table } from './table.ts';

interface Thing {
  readonly colour: string;
  readonly size: number;
}

function setUp(): { reactor: Reactor; things: Table<Thing> } {
  const reactor = new Reactor();
  return { reactor, things: new Table<Thing>(reactor, 'things', { colour: (thing) => [thing.colour] }) };
}

test('a computation runs again only when what it read changes', () => {
  const { reactor, things } = setUp();
  things.set('a', { colour: 'red', size: 1 });
  let runs = 0;
  const size = new Computed(reactor, () => {
    runs++;
    return things.get('a')?.size;
  });
  assert.equal(size.get(), 1);
  things.set('b', { colour: 'red', size: 5 });
  reactor.runDue();
  assert.equal(runs, 1);
  things.set('a', { colour: 'red', size: 2 });
  reactor.runDue();
  assert.equal(runs, 2);
  assert.equal(size.get(), 2);
});

test('a projection that stays equal does not invalidate its readers', () => {
  const { reactor, things } = setUp();
  things.set('a', { colour: 'red', size: 1 });
  const colour = new Computed(reactor, () => things.get('a')?.colour ?? '');
  let runs = 0;
  const reader = new Computed(reactor, () => {
    runs++;
    return colour.get();
  });
  reader.get();
  things.set('a', { colour: 'red', size: 9 });
  reactor.runDue();
  assert.equal(runs, 1);
  things.set('a', { colour: 'blue', size: 9 });
  reactor.runDue();
  assert.equal(runs, 2);
  assert.equal(reader.get(), 'blue');
});

test('a projection that stays undefined does not invalidate its readers', () => {
  const { reactor, things } = setUp();
  const shown = new Computed(reactor, () => (things.bucket('colour', 'red').size > 1 ? 'many' : undefined));
  let runs = 0;
  const reader = new Computed(reactor, () => {
    runs++;
    return shown.get();
  });
  assert.equal(reader.get(), undefined);
  things.set('a', { colour: 'red', size: 1 });
  reactor.runDue();
  assert.equal(runs, 1);
  things.set('b', { colour: 'red', size: 1 });
  reactor.runDue();
  assert.deepEqual([runs, reader.get()], [2, 'many']);
  things.delete('a');
  reactor.runDue();
  things.delete('b');
  reactor.runDue();
  assert.deepEqual([runs, reader.get()], [3, undefined]);
});

test('a bucket invalidates its readers when its membership changes, not when a member does', () => {
  const { reactor, things } = setUp();
  let runs = 0;
  const reds = new Computed(reactor, () => {
    runs++;
    return [...things.bucket('colour', 'red')];
  });
  assert.deepEqual(reds.get(), []);
  things.set('a', { colour: 'red', size: 1 });
  reactor.runDue();
  things.set('a', { colour: 'red', size: 2 });
  reactor.runDue();
  assert.equal(runs, 2);
  things.set('a', { colour: 'green', size: 2 });
  reactor.runDue();
  assert.deepEqual(reds.get(), []);
  assert.equal(runs, 3);
});

test('a diamond runs its bottom once for one change', () => {
  const { reactor, things } = setUp();
  things.set('a', { colour: 'red', size: 1 });
  const left = new Computed(reactor, () => (things.get('a')?.size ?? 0) + 1);
  const right = new Computed(reactor, () => (things.get('a')?.size ?? 0) * 2);
  let runs = 0;
  const bottom = new Computed(reactor, () => {
    runs++;
    return left.get() + right.get();
  });
  assert.equal(bottom.get(), 4);
  things.set('a', { colour: 'red', size: 10 });
  reactor.runDue();
  assert.equal(bottom.get(), 31);
  assert.equal(runs, 2);
});

test('readers get the error of a computation thrown until a source changes', () => {
  const { reactor, things } = setUp();
  const fragile = new Computed(reactor, () => {
    const thing = things.get('a');
    if (thing === undefined) throw new Error('no thing');
    return thing.size;
  });
  const reader = new Computed(reactor, () => {
    try {
      return fragile.get();
    } catch {
      return -1;
    }
  });
  assert.equal(reader.get(), -1);
  things.set('a', { colour: 'red', size: 3 });
  reactor.runDue();
  assert.equal(reader.get(), 3);
});

test('a disposed computation leaves nothing behind', () => {
  const { reactor, things } = setUp();
  things.set('a', { colour: 'red', size: 1 });
  let runs = 0;
  const reader = new Computed(reactor, () => {
    runs++;
    return things.get('a')?.size;
  });
  reader.get();
  reader.dispose();
  things.set('a', { colour: 'red', size: 2 });
  assert.equal(reactor.runDue(), true);
  assert.equal(runs, 1);
});

test('runDue stops when enough() returns true and continues with the next call', () => {
  const { reactor, things } = setUp();
  const readers = Array.from({ length: 10 }, (_, i) => new Computed(reactor, () => things.get(`k${i}`)?.size));
  for (const reader of readers) reader.get();
  for (let i = 0; i < 10; i++) things.set(`k${i}`, { colour: 'red', size: i });
  const before = reactor.runs;
  assert.equal(
    reactor.runDue(() => reactor.runs - before >= 3),
    false,
  );
  assert.equal(reactor.runs - before, 3);
  assert.equal(reactor.runDue(), true);
  assert.equal(reactor.runs - before, 10);
});

test('if a source read in this run changes later in it, the computation runs again', () => {
  const { reactor, things } = setUp();
  things.set('deep', { colour: 'old', size: 1 });
  things.set('own', { colour: 'red', size: 1 });
  const deep = new Computed(reactor, () => things.get('deep')?.colour ?? '');
  const between = new Computed(reactor, () => deep.get());
  let runs = 0;
  const reader = new Computed(reactor, () => {
    runs++;
    things.get('own');
    const first = between.get();
    deep.get();
    return `${first} ${between.get()}`;
  });
  assert.equal(reader.get(), 'old old');
  assert.equal(runs, 1, 'a first read invalidates no reader');
  things.set('own', { colour: 'red', size: 2 });
  things.set('deep', { colour: 'new', size: 1 });
  reader.get();
  reactor.runDue();
  assert.equal(reader.get(), 'new new');
  assert.equal(runs, 3);
});

test('rules that invalidate each other for ever throw an error', () => {
  const { reactor, things } = setUp();
  const circle = new Computed(reactor, () => {
    const size = things.get('one')?.size ?? 0;
    things.set('one', { colour: '', size: size === 0 ? 1 : 0 });
    return size;
  });
  things.set('one', { colour: '', size: 1 });
  circle.get();
  assert.throws(() => reactor.runDue(), /rules go round in a circle/);
});
