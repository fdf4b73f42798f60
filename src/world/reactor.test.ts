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
  reactor.settle();
  assert.equal(runs, 1);
  things.set('a', { colour: 'red', size: 2 });
  reactor.settle();
  assert.equal(runs, 2);
  assert.equal(size.get(), 2);
});

test('readers are not disturbed when a projection stays equal', () => {
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
  reactor.settle();
  assert.equal(runs, 1);
  things.set('a', { colour: 'blue', size: 9 });
  reactor.settle();
  assert.equal(runs, 2);
  assert.equal(reader.get(), 'blue');
});

test('nor when there is nothing to project, and still is not', () => {
  const { reactor, things } = setUp();
  const shown = new Computed(reactor, () => (things.bucket('colour', 'red').size > 1 ? 'many' : undefined));
  let runs = 0;
  const reader = new Computed(reactor, () => {
    runs++;
    return shown.get();
  });
  assert.equal(reader.get(), undefined);
  things.set('a', { colour: 'red', size: 1 });
  reactor.settle();
  assert.equal(runs, 1);
  things.set('b', { colour: 'red', size: 1 });
  reactor.settle();
  assert.deepEqual([runs, reader.get()], [2, 'many']);
  things.delete('a');
  reactor.settle();
  things.delete('b');
  reactor.settle();
  assert.deepEqual([runs, reader.get()], [3, undefined]);
});

test('a bucket disturbs its readers when membership changes, not when members do', () => {
  const { reactor, things } = setUp();
  let runs = 0;
  const reds = new Computed(reactor, () => {
    runs++;
    return [...things.bucket('colour', 'red')];
  });
  assert.deepEqual(reds.get(), []);
  things.set('a', { colour: 'red', size: 1 });
  reactor.settle();
  things.set('a', { colour: 'red', size: 2 });
  reactor.settle();
  assert.equal(runs, 2);
  things.set('a', { colour: 'green', size: 2 });
  reactor.settle();
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
  reactor.settle();
  assert.equal(bottom.get(), 31);
  assert.equal(runs, 2);
});

test('a failure is thrown to readers until a source changes', () => {
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
  reactor.settle();
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
  assert.equal(reactor.settle(), true);
  assert.equal(runs, 1);
});

test('settle yields when told to and goes on later', () => {
  const { reactor, things } = setUp();
  const readers = Array.from({ length: 10 }, (_, i) => new Computed(reactor, () => things.get(`k${i}`)?.size));
  for (const reader of readers) reader.get();
  for (let i = 0; i < 10; i++) things.set(`k${i}`, { colour: 'red', size: i });
  const before = reactor.runs;
  assert.equal(
    reactor.settle(() => reactor.runs - before >= 3),
    false,
  );
  assert.equal(reactor.runs - before, 3);
  assert.equal(reactor.settle(), true);
  assert.equal(reactor.runs - before, 10);
});

test('what a computation made of a value that a later read in the same run showed to be outdated does not stay', () => {
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
  assert.equal(runs, 1, 'what is read for the first time disturbs nobody');
  things.set('own', { colour: 'red', size: 2 });
  things.set('deep', { colour: 'new', size: 1 });
  reader.get();
  reactor.settle();
  assert.equal(reader.get(), 'new new');
  assert.equal(runs, 3);
});

test('rules that undo each other for ever are an error, and no hang', () => {
  const { reactor, things } = setUp();
  const circle = new Computed(reactor, () => {
    const size = things.get('one')?.size ?? 0;
    things.set('one', { colour: '', size: size === 0 ? 1 : 0 });
    return size;
  });
  things.set('one', { colour: '', size: 1 });
  circle.get();
  assert.throws(() => reactor.settle(), /rules go round in a circle/);
});
