import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryDelay } from './retry-delay.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';

/** @returns milliseconds until the end of a wait that is cut short at these times */
async function endOf(shortenedAt: readonly number[], ms = 30_000): Promise<number> {
  const clock = new ManualClock();
  const delay = new RetryDelay(clock, () => 0.5);
  const began = clock.now();
  let ended: number | undefined;
  const wait = delay.wait(ms, new AbortController().signal).then(() => (ended ??= clock.now() - began));
  for (let at = 0; at < ms; at += 500) {
    if (shortenedAt.includes(at)) delay.shorten();
    clock.advance(500);
    await new Promise(setImmediate);
  }
  await wait;
  assert.equal(clock.timers, 0);
  return ended ?? Infinity;
}

test('a shortened wait ends early, after 5 s at the soonest, at a random time', async () => {
  assert.equal(await endOf([]), 30_000);
  assert.equal(await endOf([1_000]), 6_500);
  assert.equal(await endOf([1_000, 1_500, 4_000]), 6_500);
  assert.equal(await endOf([20_000]), 21_500);
  assert.equal(await endOf([29_500]), 30_000);
  assert.equal(await endOf([0], 2_000), 2_000);
});

test('a wait ends with its signal, and a later shorten has no effect', async () => {
  const clock = new ManualClock();
  const delay = new RetryDelay(clock, () => 0.5);
  const stop = new AbortController();
  const wait = delay.wait(30_000, stop.signal);
  delay.shorten();
  stop.abort();
  await wait;
  delay.shorten();
  assert.equal(clock.timers, 0);
});
