/** Each known fault is found within the lives of some nodes that find nothing without it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawNode } from './life.ts';
import { NODE_FAULTS } from './known-faults.ts';

const FIRST = 1_000;
const MOST = 40;
const STEPS = 120;

for (const { name, rules } of NODE_FAULTS)
  test(`found: ${name}`, async (t) => {
    for (let seed = FIRST; seed < FIRST + MOST; seed++) {
      const { findings, steps } = await drawNode(seed, STEPS, { networks: false, rules });
      if (findings.length === 0) continue;
      assert.deepEqual((await drawNode(seed, STEPS, { networks: false })).findings, [], 'without the fault');
      return t.diagnostic(`life ${seed - FIRST + 1}, step ${steps.length}: ${findings[0]?.message.slice(0, 200)}`);
    }
    assert.fail(`not found in ${MOST} lives of ${STEPS} steps`);
  });
