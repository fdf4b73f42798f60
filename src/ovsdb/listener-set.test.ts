import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListenerSet } from './listener-set.ts';

test('a listener that throws does not keep the others from hearing, and its error is not lost', async () => {
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const surfaced = new Promise((resolve) => process.once('uncaughtException', resolve));
  const heard: number[] = [];
  const listeners = new ListenerSet<number>();
  listeners.add(() => {
    throw new Error('a bug');
  });
  const end = listeners.add((value) => heard.push(value));
  listeners.call(1);
  assert.equal(((await surfaced) as Error).message, 'a bug');
  before.forEach((listener) => process.on('uncaughtException', listener));
  end();
  assert.deepEqual(heard, [1]);
});

test('the same function may listen twice, and each ending is its own', () => {
  const heard: string[] = [];
  const listeners = new ListenerSet<string>();
  const listener = (value: string): void => void heard.push(value);
  const end = listeners.add(listener);
  listeners.add(listener);
  listeners.call('a');
  end();
  listeners.call('b');
  assert.deepEqual(heard, ['a', 'a', 'b']);
});
