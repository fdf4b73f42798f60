/**
 * Lives of a row of seeds that is always the same, where what is red was made red by a change; and in a long run lives of fresh seeds, which count on
 * from a number that is made of the sources: other lives for each commit, and the same again for the same files. What fresh lives find is told with
 * its history, and fails the test where it is severe, or where more of them find something than did when that was measured.
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
/** Lives of the row. */
const ROW = LONG_RUN ? 40 : 14;
const FRESH = LONG_RUN ? 110 : 6;
/** Replays to make a failure short: some seconds. */
const SHRINK = 120;
/** Of fresh lives, those that may find something. Of few lives that is a matter of luck. */
const MOST_FINDING = LONG_RUN ? 0.05 : 0.3;
/** Rows of other programs harmed, two writers, a rule that throws, a controller that never comes to rest, work without an end: not one may do that. */
const SEVERE = /^I4:|^I10:|rule failed|still not quiet|did not come to an end|no time passes any more/;

function told({ order, messages, history, tried }: LifeReport): string {
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
  assert.deepEqual((await lives(FIRST, ROW)).map(told), []);
});

test('lives of fresh seeds do no harm, and few of them find anything', async (t) => {
  const first = treeSeed();
  const finding = await lives(first, FRESH);
  for (const report of finding.slice(0, 4)) t.diagnostic(told(report));
  t.diagnostic(`${FRESH} lives from seed ${first}: ${finding.length} found something`);
  assert.deepEqual(finding.filter(({ messages }) => messages.some((message) => SEVERE.test(message))).map(told), []);
  assert.ok(finding.length <= MOST_FINDING * FRESH, `${finding.length} of ${FRESH} lives found something`);
});
