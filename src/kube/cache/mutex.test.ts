import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mutex } from './mutex.ts';

test('one owner at a time, in the order of the calls; a second release grants nothing', async () => {
  const mutex = new Mutex();
  const owners: string[] = [];
  const acquire = async (name: string): Promise<() => void> => {
    const release = await mutex.acquire();
    owners.push(name);
    return release;
  };
  const first = acquire('first');
  const second = acquire('second');
  const third = acquire('third');
  const release = await first;
  await new Promise(setImmediate);
  assert.deepEqual(owners, ['first']);
  release();
  release();
  await second;
  await new Promise(setImmediate);
  assert.deepEqual(owners, ['first', 'second']);
  (await second)();
  (await third)();
  await acquire('later');
  assert.deepEqual(owners, ['first', 'second', 'third', 'later']);
});
