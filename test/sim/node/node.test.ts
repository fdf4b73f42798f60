/** Lives of simulated nodes: the agent's rules, diffs and commands under crashes, faults and other programs' hands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG_RUN } from '../../../src/testing/long-run.ts';
import { treeSeed } from '../../../src/testing/tree-seed.ts';
import { drawNode, type NodeLife, replayNode, shrinkNode } from './life.ts';

const STEPS = 120;
const FIRST = 1_000;
const LIVES = LONG_RUN ? 100 : 5;
/** Other lives for each state of the sources. */
const FRESH = LONG_RUN ? 100 : 3;
const SHRINK = 120;
/** Things of another program, or of a pod that runs. */
const SEVERE = /was taken away|^seed \d+: [^\n]* was .* and is |did not|thrown|a rule failed/;

async function finding(first: number, count: number): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let seed = first; seed < first + count && texts.length < 4; seed++) {
    const life = await drawNode(seed, STEPS);
    if (life.findings.length > 0) texts.push(reportText(await shrinkNode(life, {}, SHRINK)));
    // A program of the host that is new to the simulator does nothing: that is for the long run to tell.
    if (LONG_RUN && life.unknown.length > 0) texts.push(`seed ${seed}: the simulated node does not know ${life.unknown.join('; ')}`);
  }
  return texts;
}

function reportText({ seed, steps, findings }: NodeLife): string {
  const history = steps.map((step) => JSON.stringify(step)).join('\n');
  return `seed ${seed}: ${findings.map(({ message }) => message.slice(0, 400)).join('\n')}\n${history}`;
}

test('lives of simulated nodes find nothing', async () => {
  assert.deepEqual(await finding(FIRST, LIVES), []);
});

test('lives of fresh seeds do no harm; in a long run they find nothing', async (t) => {
  const first = treeSeed();
  t.diagnostic(`${FRESH} lives from seed ${first}`);
  const texts = await finding(first, FRESH);
  for (const text of texts) t.diagnostic(text);
  // What is wrong for a moment in rare lives is for the long run.
  assert.deepEqual(
    texts.filter((text) => LONG_RUN || SEVERE.test(text)),
    [],
  );
});

test('the same seed gives the same life, and its steps are replayed to the same end', async () => {
  const [life, again, other] = [await drawNode(3, 40), await drawNode(3, 40), await drawNode(4, 40)];
  assert.deepEqual([again.hash, (await replayNode(3, life.steps)).hash], [life.hash, life.hash]);
  assert.notEqual(other.hash, life.hash);
});
