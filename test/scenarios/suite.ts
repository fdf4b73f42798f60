/**
 * Runs scenarios on one cluster: first, a few at a time, those that touch only their own objects; then those that must run alone, one after
 * another. After the first group and after each that ran alone, the controller has nothing left to write and the invariants hold. After a
 * failure the next scenario gets a new cluster, so that leftovers of a failed one fail no other.
 * `SCENARIO=C01 node --test test/e2e/lab.test.ts` runs the scenarios whose name matches. `TEST_PART=2/3` runs every third one from the
 * second on, for parallel runs, each on its own cluster.
 */
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ForeignSnapshot } from '../../src/invariants/foreign-rows.ts';
import { apiServerMinor, missingClusterPrograms } from '../../lab/real-cluster/real-cluster.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import type { ScenarioClusterOptions } from '../../src/testing/scenario-cluster.ts';
import { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { scenariosOn, type Scenario } from './scenario.ts';

const SCENARIO_MS = 20 * 60_000;
const STOP_MS = 60_000;
/** More would only wait for each other: the machines that run this have two processors. */
const AT_A_TIME = 3;

export async function scenarioSuite(name: string, options: ScenarioClusterOptions, scenarios: readonly Scenario[]): Promise<void> {
  const missing = whatIsMissing(options);
  if (missing !== undefined) {
    test(name, { skip: missing }, () => undefined);
    return;
  }
  const pattern = new RegExp(process.env['SCENARIO'] ?? '');
  const minor = options.api === 'real' ? await apiServerMinor() : undefined;
  const chosen = scenariosOn(options.api, minor, scenarios).filter((scenario) => pattern.test(scenario.name));
  const [part = 1, parts = 1] = (process.env['TEST_PART'] ?? '1/1').split('/').map(Number);
  const inTurn = (_: Scenario, at: number): boolean => at % parts === part - 1;
  const together = chosen.filter((scenario) => scenario.alone !== true).filter(inTurn);
  const alone = chosen.filter((scenario) => scenario.alone === true).filter(inTurn);
  if (together.length + alone.length === 0) return;
  describe(name, () => {
    let cluster: ScenarioCluster | undefined;
    let foreign: ForeignSnapshot | undefined;
    /** Scenarios that have begun on this cluster and have not passed. One that timed out may still be running. */
    const unfinished = new Set<string>();
    const running = (): ScenarioCluster => {
      if (cluster === undefined) throw new Error('the cluster did not start');
      return cluster;
    };
    const start = async (): Promise<void> => {
      const failed = cluster;
      cluster = undefined;
      const stopped = failed
        ?.stop()
        .catch((error: unknown) => process.stderr.write(`the cluster that a scenario failed on does not stop: ${String(error)}\n`));
      await Promise.race([stopped, sleep(STOP_MS, undefined, { ref: false })]);
      cluster = await ScenarioCluster.start(options);
      isConverged = false;
      unfinished.clear();
    };
    const declare = (title: string, skip: string | false, run: () => Promise<void>, first?: () => Promise<void>): void => {
      void test(title, { timeout: SCENARIO_MS, skip }, async () => {
        await first?.();
        unfinished.add(title);
        await run();
        unfinished.delete(title);
      });
    };
    /** The previous scenario passed, and nothing has changed since. */
    let isConverged = false;
    const begin = async (): Promise<void> => {
      const runs = running().controllers.length === 1;
      await running().ensureController();
      const quiet = await running().namespacesEnded();
      if (!isConverged || !runs || !quiet) await running().converged();
      isConverged = false;
      foreign = await running().foreignRows();
    };
    const end = async (): Promise<void> => {
      // Deletions that the API server still performs would otherwise show up as changes in the check, which must find none.
      await running().namespacesEnded();
      await running().endsWell(foreign ?? (await running().foreignRows()));
      isConverged = true;
    };
    before(async () => {
      await start();
      await begin();
    });
    after(async () => {
      await cluster?.stop();
    });
    if (together.length > 0) {
      describe('side by side', { concurrency: AT_A_TIME }, () => {
        for (const scenario of together) declare(scenario.name, scenario.unless?.() ?? false, () => scenario.run(running()));
      });
      declare('after all of these a fresh controller plans nothing and the invariants hold', false, end);
    }
    for (const scenario of alone) {
      const run = async (): Promise<void> => {
        await begin();
        await scenario.run(running());
        await end();
      };
      declare(scenario.name, scenario.unless?.() ?? false, run, async () => {
        if (unfinished.size > 0) await start();
      });
    }
  });
}

function whatIsMissing({ api, ovn = 'system' }: ScenarioClusterOptions): string | undefined {
  if (findKubernetesProgram('kubectl') === undefined) return 'kubectl was not found: install kubectl, or the package kubernetes-client';
  if (findOvn(ovn) === undefined) return `OVN (${ovn}) was not found: run \`node scripts/setup.mjs test\``;
  return api === 'real' ? missingClusterPrograms() : undefined;
}
