/** At least 100,000 operations: of pinned seeds, and of seeds that nobody has tried. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { historyText } from './history-file.ts';
import type { LifeOrder, LifeReport } from './lives.ts';
import { drawLives } from './lives.ts';

const OPERATIONS = 100_000;
const LIFE = 500;
/** Replays to make a failure short: some seconds. */
const SHRINK = 120;

function pinned(): readonly LifeOrder[] {
  return readFileSync(join(import.meta.dirname, 'pinned-seeds.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ').map(Number) as [seed: number, operations: number])
    .map(([seed, operations]) => ({ seed, operations }));
}

function told({ order, messages, history, tried }: LifeReport): string {
  const again = `npm run sim -- --seed ${order.seed} --life ${order.operations} --operations ${order.operations}`;
  const steps = history === undefined ? '' : `\n${history.steps.length} steps (after ${tried} replays):\n${historyText(history)}`;
  return `${again}\n${messages.slice(0, 5).join('\n')}${steps}`;
}

test('lives of pinned and of fresh seeds end well', async (t) => {
  const first = (Date.now() / 1000) | 0;
  let operations = 0;
  let lives = 0;
  const failures: string[] = [];
  function* orders(): Generator<LifeOrder> {
    yield* pinned();
    for (let seed = first; ; seed++) {
      if (operations >= OPERATIONS || failures.length > 0) return;
      yield { seed, operations: LIFE, shrink: SHRINK };
    }
  }
  const begun = performance.now();
  await drawLives(orders(), (report) => {
    operations += report.operations;
    lives++;
    if (report.messages.length > 0) failures.push(told(report));
  });
  const seconds = (performance.now() - begun) / 1000;
  t.diagnostic(`${operations} operations in ${lives} lives, fresh ones from seed ${first}; ${Math.round(operations / seconds)} a second`);
  assert.deepEqual(failures, []);
  assert.ok(operations >= OPERATIONS);
});
