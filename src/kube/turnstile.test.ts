import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turnstile } from './turnstile.ts';

test('one at a time, in order of coming; who passes twice lets in no two', async () => {
  const turn = new Turnstile();
  const through: string[] = [];
  const enter = async (name: string): Promise<() => void> => {
    const passed = await turn.enter();
    through.push(name);
    return passed;
  };
  const first = enter('first');
  const second = enter('second');
  const third = enter('third');
  const passed = await first;
  await new Promise(setImmediate);
  assert.deepEqual(through, ['first']);
  passed();
  passed();
  await second;
  await new Promise(setImmediate);
  assert.deepEqual(through, ['first', 'second']);
  (await second)();
  (await third)();
  await enter('later');
  assert.deepEqual(through, ['first', 'second', 'third', 'later']);
});
