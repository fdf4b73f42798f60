import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessClock, VirtualTime } from './virtual-time.ts';

test('timers that fell due while a process was stopped run before those that fall due after it continues', async () => {
  const time = new VirtualTime();
  const clock = new ProcessClock(time);
  const fired: string[] = [];
  const setTimer = (what: string, ms: number): void => void clock.setTimeout(() => fired.push(what), ms);
  const goOn = clock.stop(false);
  setTimer('first', 1);
  setTimer('second', 2);
  setTimer('as it goes on', 10 + 1 / 64);
  setTimer('later', 11);
  await time.runUntil(10);
  assert.deepEqual(fired, []);
  goOn();
  await time.runUntil(20);
  assert.deepEqual(fired, ['first', 'second', 'as it goes on', 'later']);
});

test('a process that is stopped again before it caught up loses no timer', async () => {
  const time = new VirtualTime();
  const clock = new ProcessClock(time);
  const fired: string[] = [];
  for (const what of ['first', 'second']) clock.setTimeout(() => fired.push(what), 1);
  clock.stop(false)();
  const goOn = clock.stop(false);
  await time.runUntil(5);
  clock.continue();
  const again = clock.stop(false);
  goOn();
  await time.runUntil(10);
  assert.deepEqual(fired, []);
  again();
  await time.runUntil(20);
  assert.deepEqual(fired, ['first', 'second']);
});

test('the monotonic clock of a sleeping machine stops, and continues from there', async () => {
  const time = new VirtualTime();
  const clock = new ProcessClock(time);
  await time.runUntil(100);
  const before = clock.now();
  const wake = clock.stop(true);
  await time.runUntil(600);
  assert.equal(clock.now(), before);
  wake();
  await time.runUntil(650);
  assert.equal(clock.now(), before + 50);
});
