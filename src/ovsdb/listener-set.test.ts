import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListenerSet } from './listener-set.ts';

test('a listener that throws does not stop the others, and its error surfaces', async () => {
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const surfaced = new Promise((resolve) => process.once('uncaughtException', resolve));
  const received: number[] = [];
  const listeners = new ListenerSet<number>();
  listeners.add(() => {
    throw new Error('a bug');
  });
  const end = listeners.add((value) => received.push(value));
  listeners.call(1);
  assert.equal(((await surfaced) as Error).message, 'a bug');
  before.forEach((listener) => process.on('uncaughtException', listener));
  end();
  assert.deepEqual(received, [1]);
});

test('the same function may be added twice, and each registration ends on its own', () => {
  const received: string[] = [];
  const listeners = new ListenerSet<string>();
  const listener = (value: string): void => void received.push(value);
  const end = listeners.add(listener);
  listeners.add(listener);
  listeners.call('a');
  end();
  listeners.call('b');
  assert.deepEqual(received, ['a', 'a', 'b']);
});
