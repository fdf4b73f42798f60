import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines } from './deadlines.ts';
import { keysOf, pairsOf, splitPair } from './domain.ts';
import { Computed, Reactor } from './reactor.ts';
import { Table } from './table.ts';

test('pairs enter and leave with either side', () => {
  const reactor = new Reactor();
  const left = new Table<{ readonly wanted: boolean }>(reactor, 'left');
  const right = new Table<number>(reactor, 'right');
  const present = new Set<string>();
  left.set('a', { wanted: true });
  right.set('1', 1);
  pairsOf(
    keysOf(left, (one) => one.wanted),
    keysOf(right),
  ).watch({ enter: (key) => present.add(splitPair(key).join('-')), leave: (key) => present.delete(splitPair(key).join('-')) });
  left.set('b', { wanted: false });
  right.set('2', 2);
  assert.deepEqual([...present].toSorted(), ['a-1', 'a-2']);
  left.set('b', { wanted: true });
  left.set('a', { wanted: false });
  assert.deepEqual([...present].toSorted(), ['b-1', 'b-2']);
  right.delete('1');
  assert.deepEqual([...present], ['b-2']);
});

test('an object is refiled when its index values change, and listeners see before and after', () => {
  const table = new Table<readonly string[]>(new Reactor(), 'things', { tag: (tags) => tags });
  const seen: string[] = [];
  table.onChange((key, after, before) => seen.push(`${key}: ${before?.join() ?? '-'} → ${after?.join() ?? '-'}`));
  table.set('x', ['red', 'big']);
  table.set('x', ['big', 'old']);
  assert.deepEqual([...table.peekBucket('tag', 'red')], []);
  assert.deepEqual([...table.peekBucket('tag', 'old')], ['x']);
  table.delete('x');
  table.delete('x');
  assert.deepEqual([...table.peekBucket('tag', 'big')], []);
  assert.deepEqual(seen, ['x: - → red,big', 'x: red,big → big,old', 'x: big,old → -']);
  assert.throws(() => table.bucket('colour', 'red'), /no index colour/);
});

test('a rule that waits for a deadline runs when it has passed, and not before', () => {
  const reactor = new Reactor();
  const deadlines = new Deadlines(reactor);
  let runs = 0;
  const late = new Computed(reactor, () => {
    runs++;
    return deadlines.passed(5_000);
  });
  assert.equal(late.get(), false);
  assert.equal(deadlines.next, 5_000);
  deadlines.advance(4_999);
  reactor.runDue();
  assert.equal(runs, 1);
  deadlines.advance(5_000);
  reactor.runDue();
  assert.equal(late.get(), true);
  assert.equal(runs, 2);
  assert.equal(deadlines.next, undefined);
});
