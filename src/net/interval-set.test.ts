import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IntervalSet } from './interval-set.ts';

const size = 64;
const set = fc.array(fc.tuple(fc.nat(size - 1), fc.integer({ min: -2, max: 12 })), { maxLength: 12 }).map((pairs) => {
  const oracle = new Set<number>();
  for (const [first, length] of pairs) for (let i = first; i <= first + length; i++) oracle.add(i);
  return { oracle, set: IntervalSet.of(pairs.map(([first, length]) => ({ first: BigInt(first), last: BigInt(first + length) }))) };
});

function check(actual: IntervalSet, expected: Set<number>): void {
  assert.equal(actual.count, BigInt(expected.size));
  for (let i = 0; i < 2 * size; i++) assert.equal(actual.contains(BigInt(i)), expected.has(i), String(i));
  const sorted = [...expected].toSorted((a, b) => a - b);
  assert.equal(actual.first, sorted[0] === undefined ? undefined : BigInt(sorted[0]));
  assert.equal(actual.isEmpty, expected.size === 0);
  for (const [i, interval] of actual.intervals.entries()) {
    assert.ok(interval.first <= interval.last);
    const next = actual.intervals[i + 1];
    assert.ok(next === undefined || next.first > interval.last + 1n, 'neighbours neither overlap nor touch');
  }
}

test('set algebra agrees with sets of numbers', () => {
  fc.assert(
    fc.property(set, set, (a, b) => {
      check(a.set, a.oracle);
      check(a.set.union(b.set), new Set([...a.oracle, ...b.oracle]));
      check(a.set.intersect(b.set), new Set([...a.oracle].filter((n) => b.oracle.has(n))));
      check(a.set.subtract(b.set), new Set([...a.oracle].filter((n) => !b.oracle.has(n))));
      assert.equal(a.set.equals(b.set), a.oracle.size === b.oracle.size && [...a.oracle].every((n) => b.oracle.has(n)));
      assert.ok(a.set.subtract(b.set).union(a.set.intersect(b.set)).equals(a.set));
    }),
    { numRuns: 500 },
  );
});
