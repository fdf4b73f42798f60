import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from './job.ts';
import { Progress, reportText } from './print.ts';
import { NOTHING, type Tally } from './tally.ts';

const job = (step: string, name: string): Job => ({ step, name, cores: 1, run: () => Promise.resolve(NOTHING) });
const [one, two, other] = [job('unit', 'one.test.ts'), job('unit', 'two.test.ts'), job('e2e', 'other.test.ts')];
const good: Tally = { passed: 3, failures: [], skips: [], cpuSeconds: 0.25 };
const bad: Tally = { passed: 1, failures: [{ name: 'two.test.ts › adds', detail: 'not 4\nbut 5' }], skips: [] };

test('a line for each job as it ends with what failed, one for each step when its last has ended, and the counts last', () => {
  const lines: string[] = [];
  const progress = new Progress([one, two, other], (line) => lines.push(line));
  progress.ended(two, bad, 1.25);
  progress.ended(other, good, 0.5);
  assert.deepEqual(lines.splice(0), [
    '✖ two.test.ts: 1 passed, 1 FAILED (1.3 s)',
    '    ✖ two.test.ts › adds',
    '✔ other.test.ts: 3 passed (0.5 s, 0.50 cores)',
    '── e2e ───────────── 3 passed, 0 failed, 0 skipped (0.5 s, 0.50 cores)',
  ]);
  progress.ended(one, good, 2);
  assert.equal(lines.at(-1), '── unit ──────────── 4 passed, 1 failed, 0 skipped (3.3 s, 0.08 cores)');
  assert.equal(reportText(progress.total()), '\n✖ two.test.ts › adds\n    not 4\n    but 5\n\n7 passed, 1 failed');
});

test('an interrupted job is reported', () => {
  const lines: string[] = [];
  const progress = new Progress([one, two], (line) => lines.push(line));
  progress.ended(one, good, 1);
  progress.total();
  assert.equal(lines.at(-1), '── unit: 1 of its files did not run');
});

test('at the end the slowest files and the duration are printed; a warning only where there is a limit', () => {
  const jobs = Array.from({ length: 12 }, (_, at) => job('unit', `${at}.test.ts`));
  const progress = new Progress(jobs, () => undefined);
  for (const [at, each] of jobs.entries()) progress.ended(each, good, at);
  const lines = progress.times(70, 60);
  assert.equal(lines[0], 'the slowest 10 of 12:');
  assert.deepEqual([lines[1], lines[10]], ['  11.test.ts  11.0 s, 0.02 cores', '  2.test.ts   2.0 s, 0.13 cores']);
  assert.deepEqual(lines.slice(11), [
    'it took 1 min 10 s, and 0 min 3 s of a processor',
    'TOO LONG: it is to end within 1 min 0 s on two cores that are free',
  ]);
  assert.equal(progress.times(60, 60).length, 12);
  assert.equal(progress.times(70).length, 12);
});
