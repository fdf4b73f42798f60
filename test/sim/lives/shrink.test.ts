/** A failing history is shortened to one that fails in the same way at each replay, and is no longer than before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN_FAULTS } from '../known-faults/known-faults.ts';
import { draw, replay } from './life.ts';
import { shrink } from './shrink.ts';

test('a shortened history fails in the same way', async (t) => {
  const fault = KNOWN_FAULTS.find(({ beneath }) => beneath === undefined);
  assert.ok(fault);
  const options = { rules: fault.rules };
  for (let seed = 1_000; ; seed++) {
    assert.ok(seed < 1_100, `${fault.name}: not found`);
    const life = await draw(seed, 300, options);
    if (life.findings.length === 0) continue;
    const short = await shrink(life.history, life.findings, options, { most: 400 });
    t.diagnostic(`${fault.name}: ${life.history.steps.length} steps, ${short.history.steps.length} after ${short.tried} replays`);
    assert.ok(short.history.steps.length < life.history.steps.length / 4);
    const again = await replay(short.history, options);
    assert.deepEqual(again.findings, short.findings);
    assert.ok(again.findings.some(({ kind }) => life.findings.some((of) => of.kind === kind)));
    if (short.tried >= 400) return;
    // None of its steps can be left out.
    for (let at = 0; at < short.history.steps.length - 1; at++) {
      const without = await replay({ ...short.history, steps: short.history.steps.toSpliced(at, 1) }, options);
      assert.ok(!without.findings.some(({ kind }) => short.findings.some((of) => of.kind === kind)), `step ${at} was not needed`);
    }
    return;
  }
});
