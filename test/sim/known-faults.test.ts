/** The simulator finds faults that are known: in each copy of the rules that has one, within 50,000 operations, and not without it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN_FAULTS } from './known-faults/known-faults.ts';
import type { LifeOrder } from './lives/lives.ts';
import { drawLives } from './lives/lives.ts';

const MOST = 50_000;
const LIFE = 300;
/** Where nothing else is said: always the same, so that what is found here is found everywhere. */
const FIRST = 1_000;

test('at least ten faults are known', () => {
  assert.ok(KNOWN_FAULTS.length >= 10);
});

test('each known fault is found', async (t) => {
  const spent = new Map(KNOWN_FAULTS.map(({ name }) => [name, 0]));
  const found = new Map<string, string>();
  function* orders(): Generator<LifeOrder> {
    for (const { name: fault, seed = FIRST, draws = seed === FIRST ? 'crowds' : 'fields' } of KNOWN_FAULTS) {
      for (let life = 0; life * LIFE < MOST; life++) {
        if (found.has(fault)) break;
        yield { seed: seed + life, operations: LIFE, fault, ...(draws !== 'all' && { only: draws }) };
      }
    }
  }
  await drawLives(orders(), ({ order: { fault = '', seed }, operations, messages }) => {
    if (found.has(fault)) return;
    const sum = (spent.get(fault) ?? 0) + operations;
    spent.set(fault, sum);
    if (messages.length > 0 && sum <= MOST) found.set(fault, `${fault}: after ${sum} operations, seed ${seed}: ${messages[0] ?? ''}`);
  });
  for (const text of found.values()) t.diagnostic(text.slice(0, 300));
  const missed = [...spent].filter(([name]) => !found.has(name)).map(([name, operations]) => `${name}: not in ${operations} operations`);
  assert.deepEqual(missed, [], `from seed ${FIRST}`);
});
