import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MonotonicClock } from './monotonic-clock.ts';

test('a clock that is set back does not move the date, and one that is set forward does', () => {
  let [wall, monotonic] = [1_000_000, 50];
  const clock = new MonotonicClock({
    wallTime: () => wall,
    now: () => monotonic,
    setTimeout: () => undefined,
    clearTimeout: () => undefined,
  });
  const after = (wallMs: number, monotonicMs = wallMs): number => {
    wall += wallMs;
    monotonic += monotonicMs;
    return clock.now();
  };
  assert.equal(after(0), 1_000_000);
  assert.equal(after(500), 1_000_500);
  assert.equal(after(-3_600_000, 10), 1_000_510, 'set back by an hour');
  assert.equal(after(60_000), 1_060_510, 'it continues from there');
  assert.equal(after(7_200_000, 10), 4_660_500, 'set forward past what it was');
  assert.equal(after(60_000, 0), 4_720_500, 'a machine that sleeps does not count the time, and its date does');
});

test('it begins with the first read: an earlier state of the clock does not count', () => {
  let wall = 4_600_000;
  const clock = new MonotonicClock({ wallTime: () => wall, now: () => 50, setTimeout: () => undefined, clearTimeout: () => undefined });
  wall = 1_000_000;
  assert.equal(clock.now(), 1_000_000);
});
