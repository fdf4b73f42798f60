/** More than two thousand pods on each API server: in the end everything agrees, and after deletion nothing is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingClusterPrograms } from '../../lab/real-cluster/real-cluster.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { churn } from './churn.ts';
import { UnreliableNetwork } from './unreliable-network.ts';

const missing =
  findOvn('system') === undefined || findKubernetesProgram('kubectl') === undefined
    ? 'OVN or kubectl was not found: run `node scripts/setup.mjs test`'
    : undefined;
const TIMEOUT = 40 * 60_000;

const skipOn = (api: 'lab' | 'real'): string | false => missing ?? (api === 'real' ? missingClusterPrograms() : undefined) ?? false;

for (const api of ['lab', 'real'] as const) {
  test(
    `pods are created and deleted by the thousand while controllers are killed (${api})`,
    { timeout: TIMEOUT, skip: skipOn(api) },
    async (t) => {
      await using cluster = await ScenarioCluster.start({ api });
      const report = await churn(cluster, { names: 285, rounds: 4, killEvery: 500 });
      t.diagnostic(JSON.stringify(report));
      assert.ok(report.created >= 2_000, `${report.created} were created`);
      assert.ok(report.controllersKilled >= 4, `${report.controllersKilled} controllers were killed`);
    },
  );
}

test(
  'pods come and go while the connections of controllers are slow, broken and silent',
  { timeout: TIMEOUT, skip: skipOn('real') },
  async (t) => {
    await using cluster = await ScenarioCluster.start({ api: 'real' });
    await using network = await UnreliableNetwork.before(cluster);
    const report = await churn(cluster, { names: 60, rounds: 4, killEvery: 150, network, enough: () => network.broken >= 5 });
    t.diagnostic(JSON.stringify({ ...report, broken: network.broken }));
    assert.ok(network.broken >= 5, `${network.broken} connections were broken`);
  },
);
