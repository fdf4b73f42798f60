/** More than two thousand pods on each API server; in the end everything says the same, and then nothing is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingClusterPrograms } from '../../src/lab/real-cluster/real-cluster.ts';
import { findKubernetesProgram } from '../../src/lab/programs/kubernetes.ts';
import { findOvn } from '../../src/lab/programs/ovn.ts';
import { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { churn } from './churn.ts';

const missing =
  findOvn('system') === undefined || findKubernetesProgram('kubectl') === undefined
    ? 'OVN or kubectl was not found: run `node scripts/setup.mjs test`'
    : undefined;
const TIMEOUT = 30 * 60_000;

for (const api of ['lab', 'real'] as const) {
  const skip = missing ?? (api === 'real' ? missingClusterPrograms() : undefined) ?? false;
  test(`pods come and go by the thousand while controllers are killed (${api})`, { timeout: TIMEOUT, skip }, async (t) => {
    await using cluster = await ScenarioCluster.start({ api });
    const report = await churn(cluster, { names: 285, rounds: 4, killEvery: 500 });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.created >= 2_000, `${report.created} were created`);
    assert.ok(report.controllersKilled >= 4, `${report.controllersKilled} controllers were killed`);
  });
}
