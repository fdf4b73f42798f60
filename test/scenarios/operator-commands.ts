/** The commands of an operator, run as separate processes against the API server of the scenario. */
import assert from 'node:assert/strict';
import { ProgramError, runProgram } from '../../lab/programs/run-program.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import { PROGRAM_UNDER_TEST } from '../../src/testing/program-under-test.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { withWebhook, untilDenied } from './admission.ts';
import { rowsNamed } from './northbound.ts';
import { condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

export interface Typed {
  readonly exit: number;
  /** Standard output; standard error if the exit code is not 0 and it is not empty. */
  readonly text: string;
}

export async function kiln(cluster: ScenarioCluster, ...args: readonly string[]): Promise<Typed> {
  const connection = [`--kubeconfig=${cluster.api.kubeconfig}`, `--ovn-nb=${cluster.ovn.nbEndpoint}`];
  try {
    return {
      exit: 0,
      text: await runProgram([process.execPath, PROGRAM_UNDER_TEST, ...args, ...connection], {
        env: testEnvironment(),
        timeoutMs: 3 * PATIENCE_MS,
      }),
    };
  } catch (error) {
    if (error instanceof ProgramError && error.exitCode !== undefined)
      return { exit: error.exitCode, text: error.stderr === '' ? error.stdout : error.stderr };
    throw error;
  }
}

export const operatorCommands: readonly Scenario[] = [
  {
    name: "an operator's commands: version, diff, explain, a blocked deletion, and kiln delete --cascade past the admission webhook",
    alone: true,
    run: async (cluster) => {
      await cluster.apply(
        vpcYaml('asked') +
          subnetYaml('asked-net', { vpc: 'asked', cidrBlock: '10.171.0.0/24', namespaces: ['asked'] }) +
          namespaceYaml('asked'),
      );
      await cluster.apply(podYaml('asked', 'web'));
      await running(cluster, 'asked', 'web');
      await cluster.converged();
      assert.equal((await kiln(cluster, 'version')).exit, 0);
      assert.equal((await kiln(cluster, 'diff')).exit, 0);
      const tree = await kiln(cluster, 'explain', 'vpc', 'asked');
      assert.equal(tree.exit, 0, tree.text);
      for (const part of ['Subnet/asked-net', 'IP/web.asked', 'Pod/asked/web', 'Logical_Router asked'])
        assert.ok(tree.text.includes(part), tree.text);

      await cluster.delete('vpc', 'asked');
      await condition(cluster, 'vpc', 'asked', 'DeletionBlocked', 'True');
      const waits = await kiln(cluster, 'explain', 'vpc', 'asked', '-o', 'json');
      assert.equal(waits.exit, 1, 'it waits');
      assert.equal((await kiln(cluster, 'explain', 'vpc', 'absent')).exit, 1);

      await withWebhook(
        cluster,
        async () => {
          await untilDenied(cluster, ['delete', '--wait=false', 'subnet', 'asked-net']);
          assert.match(
            await cluster.kubectlFails(['delete', 'subnet', 'asked-net']),
            /one object still uses it: IP web\.asked.*kiln delete subnet asked-net --cascade/,
          );
          const went = await kiln(cluster, 'delete', 'vpc', 'asked', '--cascade', '--yes', '--timeout=120s');
          assert.equal(went.exit, 0, went.text);
          // All are asked to go at once: the order in which the last of them are gone is theirs.
          for (const gone of ['pod/asked/web', 'subnet.kubeovn.io/asked-net', 'vpc.kubeovn.io/asked'])
            assert.ok(went.text.includes(`${gone} deleted\n`), went.text);
        },
        { flags: ['--webhook-deletion-in-use=deny'] },
      );
      await untilDeleted(cluster, 'vpc', 'asked');
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router', 'asked'), []);
      await cluster.delete('namespace', 'asked');
    },
  },
];
