/** The simulator finds each known fault in lives of consecutive seeds, and finds nothing in the same lives without the fault. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN_FAULTS } from './known-faults/known-faults.ts';
import type { LifeOrder } from './lives/lives.ts';
import { drawLives } from './lives/lives.ts';

/** The most operations for each fault. */
const MOST = 20_000;
const LIFE = 300;
/** Always the same, so that each machine finds the same. */
const FIRST = 1_000;

test('each known fault is found', async (t) => {
  const spent = new Map(KNOWN_FAULTS.map(({ name }) => [name, 0]));
  const found = new Map<string, string>();
  function* orders(): Generator<LifeOrder> {
    for (const { name: fault } of KNOWN_FAULTS)
      for (let seed = FIRST; !found.has(fault) && (spent.get(fault) ?? 0) < MOST; seed++) yield { seed, operations: LIFE, fault };
  }
  await drawLives(orders(), ({ order: { fault = '', seed }, operations, checks }) => {
    if (found.has(fault)) return;
    const sum = (spent.get(fault) ?? 0) + operations;
    spent.set(fault, sum);
    if (checks.length > 0) found.set(fault, `| ${fault} | ${sum} | ${checks.join(', ')} | (seed ${seed})`);
  });
  for (const text of found.values()) t.diagnostic(text);
  const missed = [...spent].filter(([name]) => !found.has(name)).map(([name, operations]) => `${name}: not in ${operations} operations`);
  assert.deepEqual(missed, [], `from seed ${FIRST}`);
});
