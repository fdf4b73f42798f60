/** Each known fault is found within the lives of some nodes that find nothing without it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawNode, replayNode } from './life.ts';
import { NODE_FAULTS } from './known-faults.ts';

const FIRST = 1_000;
const MOST = 40;
const STEPS = 120;

for (const { name, rules, steps } of NODE_FAULTS)
  test(`found: ${name}`, async (t) => {
    if (steps !== undefined) {
      const { findings } = await replayNode(FIRST, steps, { networks: false, rules });
      assert.ok(findings.length > 0, 'not found');
      return assert.deepEqual((await replayNode(FIRST, steps, { networks: false })).findings, [], 'without the fault');
    }
    for (let seed = FIRST; seed < FIRST + MOST; seed++) {
      const { findings, steps: drawn } = await drawNode(seed, STEPS, { networks: false, rules });
      if (findings.length === 0) continue;
      assert.deepEqual((await drawNode(seed, STEPS, { networks: false })).findings, [], 'without the fault');
      return t.diagnostic(`life ${seed - FIRST + 1}, step ${drawn.length}: ${findings[0]?.message.slice(0, 200)}`);
    }
    assert.fail(`not found in ${MOST} lives of ${STEPS} steps`);
  });
