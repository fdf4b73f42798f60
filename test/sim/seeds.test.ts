/** Pinned seeds: lives that went well, and are to go on doing so. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { draw } from './life.ts';

const pinned = readFileSync(join(import.meta.dirname, 'pinned-seeds.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' ').map(Number) as [seed: number, operations: number]);

test('pinned seeds', async (t) => {
  assert.ok(pinned.length > 0);
  for (const [seed, operations] of pinned) {
    const { findings } = await draw(seed, operations);
    assert.deepEqual(
      findings.map(({ message }) => message),
      [],
      `npm run sim -- --seed ${seed} --life ${operations} --operations ${operations}`,
    );
  }
  t.diagnostic(`${pinned.reduce((sum, [, operations]) => sum + operations, 0)} operations`);
});
