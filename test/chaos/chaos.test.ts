/**
 * As many random histories as fit in five minutes. Always the same ones: what is red was made red by a change. Fresh seeds are for
 * `npm run chaos`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingClusterPrograms } from '../../src/lab/real-cluster/real-cluster.ts';
import { findOvn } from '../../src/lab/programs/ovn.ts';
import type { ScenarioClusterOptions } from '../../src/testing/scenario-cluster.ts';
import { drawHistory, historyText } from './history.ts';
import { reportText, runChaos } from './run.ts';

const MINUTE = 60_000;
const noOvn = findOvn('system') === undefined ? 'OVN was not found: run `node scripts/setup.mjs test`' : undefined;

test('a seed always draws the same history, and another seed another', () => {
  const draw = (seed: number): string => historyText(drawHistory(seed, ['kill -9 the controller', 'a second controller']));
  assert.equal(draw(17), draw(17));
  assert.notEqual(draw(17), draw(18));
});

const seed = 2_000;

async function chaos(api: ScenarioClusterOptions['api'], forMs: number): Promise<string> {
  const report = await runChaos({ api, seed, runs: Number.MAX_SAFE_INTEGER, forMs });
  const [first] = report.failures;
  assert.equal(
    first,
    undefined,
    `again with: npm run chaos -- --api ${api} --seed ${first?.seed ?? seed} --runs 1\n${reportText(report)}\n${first?.text ?? ''}`,
  );
  assert.ok(report.histories > 0);
  return reportText(report);
}

test("random histories on the laboratory's API server", { timeout: 3 * MINUTE, skip: noOvn ?? false }, async (t) => {
  t.diagnostic(await chaos('lab', MINUTE));
});

test('random histories on a real kube-apiserver', { timeout: 6 * MINUTE, skip: noOvn ?? missingClusterPrograms() ?? false }, async (t) => {
  t.diagnostic(await chaos('real', 3.5 * MINUTE));
});
