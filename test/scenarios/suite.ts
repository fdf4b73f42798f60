/**
 * Runs scenarios one after another on one cluster; each begins and ends with a cluster that is as its objects want it.
 * `SCENARIO=C01 node --test test/e2e/lab.test.ts` runs those whose name matches.
 */
import { after, before, describe, test } from 'node:test';
import { missingClusterPrograms } from '../../src/lab/real-cluster/real-cluster.ts';
import { findKubernetesProgram } from '../../src/lab/programs/kubernetes.ts';
import { findOvn } from '../../src/lab/programs/ovn.ts';
import type { ScenarioClusterOptions } from '../../src/testing/scenario-cluster.ts';
import { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import type { Scenario } from './scenario.ts';

const SCENARIO_MS = 120_000;

export function scenarioSuite(name: string, options: ScenarioClusterOptions, scenarios: readonly Scenario[]): void {
  const missing = whatIsMissing(options);
  if (missing !== undefined) {
    test(name, { skip: missing }, () => undefined);
    return;
  }
  describe(name, () => {
    let cluster: ScenarioCluster | undefined;
    const running = (): ScenarioCluster => {
      if (cluster === undefined) throw new Error('the cluster did not start');
      return cluster;
    };
    before(async () => {
      cluster = await ScenarioCluster.start(options);
    });
    after(async () => {
      await cluster?.stop();
    });
    for (const scenario of scenarios) {
      if (scenario.only !== undefined && scenario.only !== options.api) continue;
      if (process.env['SCENARIO'] !== undefined && !new RegExp(process.env['SCENARIO']).test(scenario.name)) continue;
      test(scenario.name, { timeout: SCENARIO_MS, skip: scenario.unless?.() ?? false }, async () => {
        await running().ensureController();
        await running().settled();
        const foreign = await running().foreignRows();
        await scenario.run(running());
        await running().endsWell(foreign);
      });
    }
  });
}

function whatIsMissing({ api, ovn = 'system' }: ScenarioClusterOptions): string | undefined {
  if (findKubernetesProgram('kubectl') === undefined) return 'kubectl was not found: install kubectl, or the package kubernetes-client';
  if (findOvn(ovn) === undefined) return `OVN (${ovn}) was not found: run \`node scripts/setup.mjs test\``;
  return api === 'real' ? missingClusterPrograms() : undefined;
}
