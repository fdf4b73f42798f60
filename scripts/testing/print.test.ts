import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from './job.ts';
import { Progress, reportText } from './print.ts';
import { NOTHING, type Tally } from './tally.ts';

const job = (step: string, name: string): Job => ({ step, name, cores: 1, run: () => Promise.resolve(NOTHING) });
const [one, two, other] = [job('unit', 'one.test.ts'), job('unit', 'two.test.ts'), job('e2e', 'other.test.ts')];
const good: Tally = { passed: 3, failures: [], skips: [] };
const bad: Tally = { passed: 1, failures: [{ name: 'two.test.ts › adds', detail: 'not 4\nbut 5' }], skips: [] };

test('a line for each job as it ends with what failed, one for each step when its last has ended, and the counts last', () => {
  const lines: string[] = [];
  const progress = new Progress([one, two, other], (line) => lines.push(line));
  progress.ended(two, bad, 1.25);
  progress.ended(other, good, 0.5);
  assert.deepEqual(lines.splice(0), [
    '✖ two.test.ts: 1 passed, 1 FAILED (1.3 s)',
    '    ✖ two.test.ts › adds',
    '✔ other.test.ts: 3 passed (0.5 s)',
    '── e2e ───────────── 3 passed, 0 failed, 0 skipped',
  ]);
  progress.ended(one, good, 2);
  assert.equal(lines.at(-1), '── unit ──────────── 4 passed, 1 failed, 0 skipped');
  assert.equal(reportText(progress.total()), '\n✖ two.test.ts › adds\n    not 4\n    but 5\n\n7 passed, 1 failed');
});

test('what was interrupted is told of', () => {
  const lines: string[] = [];
  const progress = new Progress([one, two], (line) => lines.push(line));
  progress.ended(one, good, 1);
  progress.total();
  assert.equal(lines.at(-1), '── unit: 1 of its files did not run');
});
