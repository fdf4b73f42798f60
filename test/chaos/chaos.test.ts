/**
 * As many random histories as fit in five minutes: first of a few fixed seeds, then of fresh ones, different for each commit. A failure is
 * reported with its seed and the command that replays it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingClusterPrograms } from '../../lab/real-cluster/real-cluster.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import type { ScenarioClusterOptions } from '../../src/testing/scenario-cluster.ts';
import { treeSeed } from '../../src/testing/tree-seed.ts';
import { drawHistory, historyText } from './history.ts';
import { reportText, runChaos, seedsFrom } from './run.ts';

const MINUTE = 60_000;
const noOvn = findOvn('system') === undefined ? 'OVN was not found: run `node scripts/setup.mjs test`' : undefined;

test('a seed always draws the same history, and another seed another', () => {
  const draw = (seed: number): string => historyText(drawHistory(seed, ['kill -9 the controller', 'a second controller']));
  assert.equal(draw(17), draw(17));
  assert.notEqual(draw(17), draw(18));
});

const PINNED = [2_000, 2_001, 2_002];

function* pinnedThenFresh(fresh: number): Generator<number> {
  yield* PINNED;
  yield* seedsFrom(fresh);
}

async function chaos(api: ScenarioClusterOptions['api'], forMs: number): Promise<string> {
  const fresh = treeSeed();
  const report = await runChaos({ api, seeds: pinnedThenFresh(fresh), runs: Number.MAX_SAFE_INTEGER, forMs });
  const [first] = report.failures;
  const again = `npm run chaos -- --api ${api} --runs 1 --seed ${first?.seed ?? ''}`;
  assert.equal(first, undefined, `again with: ${again}\n${reportText(report)}\n${first?.text ?? ''}`);
  assert.ok(report.histories > 0);
  return `fresh seeds from ${fresh}: ${reportText(report)}`;
}

test("random histories on the laboratory's API server", { timeout: 30 * MINUTE, skip: noOvn ?? false }, async (t) => {
  t.diagnostic(await chaos('lab', MINUTE));
});

test('random histories on a real kube-apiserver', { timeout: 30 * MINUTE, skip: noOvn ?? missingClusterPrograms() ?? false }, async (t) => {
  t.diagnostic(await chaos('real', 3.5 * MINUTE));
});
