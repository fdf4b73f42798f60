/**
 * Lives of consecutive seeds, always the same: a change made it fail if one fails. Then lives of fresh seeds, counted from a number that is
 * computed from the sources: different lives for each commit, the same for the same files. What fresh lives find is printed with its
 * history. It fails the test if it is severe, or if more of them find something than when this was measured.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG_RUN } from '../../src/testing/long-run.ts';
import { treeSeed } from '../../src/testing/tree-seed.ts';
import type { LifeOrder, LifeReport } from './lives/lives.ts';
import { drawLives } from './lives/lives.ts';
import { historyText } from './steps/history-file.ts';

const LIFE = 500;
const FIRST = 1_000;
/** Number of lives that are always the same. */
const ROW = LONG_RUN ? 40 : 10;
const FRESH = LONG_RUN ? 110 : 6;
/** Replays to shorten a failing history, of almost a second each: enough to read it. Its seed is printed, to shorten it further. */
const SHRINK = LONG_RUN ? 120 : 20;
/** The share of fresh lives that may find something. With few lives this depends on luck. */
const MOST_FINDING = LONG_RUN ? 0.05 : 0.3;
/** Damaged foreign rows, two writers, a rule that throws, a controller that never converges, endless work: never acceptable. */
const SEVERE = /^I4:|^I10:|rule failed|writes not converged|did not come to an end|no time passes any more/;

function reportText({ order, messages, history, tried }: LifeReport): string {
  const again = `npm run sim -- --seed ${order.seed} --life ${order.operations} --operations ${order.operations}`;
  const steps = history === undefined ? '' : `\n${history.steps.length} steps (after ${tried} replays):\n${historyText(history)}`;
  return `${again}\n${messages.slice(0, 5).join('\n')}${steps}`;
}

async function lives(first: number, count: number): Promise<readonly LifeReport[]> {
  const finding: LifeReport[] = [];
  function* orders(): Generator<LifeOrder> {
    for (let seed = first; seed < first + count; seed++) yield { seed, operations: LIFE, shrink: finding.length < 4 ? SHRINK : 0 };
  }
  await drawLives(orders(), (report) => void (report.messages.length > 0 && finding.push(report)));
  return finding;
}

test('lives of consecutive seeds find nothing', async () => {
  assert.deepEqual((await lives(FIRST, ROW)).map(reportText), []);
});

test('lives of fresh seeds do no harm, and few of them find anything', async (t) => {
  const first = treeSeed();
  const finding = await lives(first, FRESH);
  for (const report of finding.slice(0, 4)) t.diagnostic(reportText(report));
  t.diagnostic(`${FRESH} lives from seed ${first}: ${finding.length} found something`);
  assert.deepEqual(finding.filter(({ messages }) => messages.some((message) => SEVERE.test(message))).map(reportText), []);
  assert.ok(finding.length <= MOST_FINDING * FRESH, `${finding.length} of ${FRESH} lives found something`);
});
