import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SerialQueue } from './serial-queue.ts';

test('work is done in its order, one piece in a turn of the event loop, also behind one that throws', async () => {
  const turns = new SerialQueue();
  const seen: string[] = [];
  let counting = true;
  const tick = (): void => {
    seen.push('tick');
    if (counting) setImmediate(tick);
  };
  setImmediate(tick);
  const failed = assert.rejects(
    turns.take(() => {
      throw new Error('a bug');
    }),
  );
  await Promise.all([1, 2, 3, 4].map((one) => turns.take(() => void seen.push(`work ${one}`))));
  counting = false;
  await failed;
  assert.deepEqual(
    seen.filter((one) => one !== 'tick'),
    ['work 1', 'work 2', 'work 3', 'work 4'],
  );
  for (let one = 1; one < 4; one++) assert.ok(seen.indexOf(`work ${one + 1}`) - seen.indexOf(`work ${one}`) > 1, seen.join(', '));
});
