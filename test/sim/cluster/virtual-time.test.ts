import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessClock, VirtualTime } from './virtual-time.ts';

test('timers that fell due while a process was stopped run before those that fall due after it continues', async () => {
  const time = new VirtualTime();
  const clock = new ProcessClock(time);
  const said: string[] = [];
  const say = (what: string, ms: number): void => void clock.setTimeout(() => said.push(what), ms);
  const goOn = clock.stop(false);
  say('first', 1);
  say('second', 2);
  say('as it goes on', 10 + 1 / 64);
  say('later', 11);
  await time.runUntil(10);
  assert.deepEqual(said, []);
  goOn();
  await time.runUntil(20);
  assert.deepEqual(said, ['first', 'second', 'as it goes on', 'later']);
});

test('a process that is stopped again before it caught up loses no timer', async () => {
  const time = new VirtualTime();
  const clock = new ProcessClock(time);
  const said: string[] = [];
  for (const what of ['first', 'second']) clock.setTimeout(() => said.push(what), 1);
  clock.stop(false)();
  const goOn = clock.stop(false);
  await time.runUntil(5);
  clock.continue();
  const again = clock.stop(false);
  goOn();
  await time.runUntil(10);
  assert.deepEqual(said, []);
  again();
  await time.runUntil(20);
  assert.deepEqual(said, ['first', 'second']);
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
