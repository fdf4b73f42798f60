/** A person deleted the wrong Vpc: history, undo, and the objects again. The journal that cannot be written. */
import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import { PROGRAM_UNDER_TEST } from '../../src/testing/program-under-test.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { withoutUuids } from '../../src/testing/northbound-dump.ts';
import { rowsNamed } from './northbound.ts';
import { kiln } from './operator-commands.ts';
import { namespaceYaml, podYaml, running, subnetYaml, untilDeleted, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';
import { eventually } from '../../src/testing/until.ts';

/** What the controller makes of the cluster; its own counters and the term change with time. */
async function rowsOfNetwork(cluster: ScenarioCluster): Promise<readonly string[]> {
  return withoutUuids(await cluster.dump()).filter((row) => !row.startsWith('NB_Global '));
}

export const undoing: readonly Scenario[] = [
  {
    name: 'the wrong Vpc was deleted: kiln history names it, kiln undo restores every row, which the objects keep when they are made again',
    alone: true,
    run: async (cluster) => {
      const journal = `--journal=${cluster.journal}`;
      const network = vpcYaml('wrong') + subnetYaml('wrong-net', { vpc: 'wrong', cidrBlock: '10.172.0.0/24' });
      await cluster.apply(network);
      await cluster.converged();
      const before = await rowsOfNetwork(cluster);
      const began = new Date().toISOString();
      await cluster.delete('subnet', 'wrong-net');
      await cluster.delete('vpc', 'wrong');
      await untilDeleted(cluster, 'vpc', 'wrong');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router', 'wrong'), []);

      const told = await runProgram([process.execPath, PROGRAM_UNDER_TEST, 'history', 'vpc', 'wrong', journal], {
        env: testEnvironment(),
        timeoutMs: PATIENCE_MS,
      });
      assert.match(told, /delete {2}Logical_Router wrong {2}of vpc wrong: no object asks for it any more/);
      const since = [`--since=${began}`, journal];
      const both = [...since, '--owner=vpc/wrong', '--owner=subnet/wrong-net'];
      const planned = await kiln(cluster, 'undo', ...both, '--dry-run=client');
      assert.equal(planned.exit, 0, planned.text);
      assert.match(planned.text, /restore {3}Logical_Router wrong of vpc\/wrong/);
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router', 'wrong'), [], 'a dry run changes nothing');

      const undone = await kiln(cluster, 'undo', ...both, '--yes');
      assert.equal(undone.exit, 0, undone.text);
      assert.deepEqual(lost(before, await rowsOfNetwork(cluster)), []);
      const held = await kiln(cluster, 'gc', 'plan', '--quiet');
      assert.equal(held.exit, 1, held.text);
      assert.match(held.text, /restored .*Logical_Router wrong .*an undo restored it, and vpc\/wrong does not exist/);
      assert.doesNotMatch(held.text, /^collect/m);
      const status = await kiln(cluster, 'status', '-o', 'wide');
      assert.match(status.text, /Vpc wrong does not exist, and kiln undo restored [0-9]+ rows of it; they are in effect until it is back/);
      assert.match(status.text, /kiln undo --owner vpc\/wrong --let-go/);
      const twice = await kiln(cluster, 'undo', ...both, '--yes');
      assert.equal(twice.exit, 1, twice.text);
      assert.match(twice.text, /are in the database already; the last undo was at/);

      // A new leader holds them too.
      await cluster.controller.stop();
      await cluster.ensureController();
      await cluster.converged();
      assert.deepEqual(lost(before, await rowsOfNetwork(cluster)), [], 'held');

      await cluster.apply(network);
      await cluster.converged();
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Router', 'wrong').length, 1);
      await cluster.delete('subnet', 'wrong-net');
      await cluster.delete('vpc', 'wrong');
      await untilDeleted(cluster, 'vpc', 'wrong');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router', 'wrong'), [], 'the objects decide again');

      assert.equal((await kiln(cluster, 'undo', ...both, '--yes')).exit, 0);
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Router', 'wrong').length, 1);
      const letGo = await kiln(cluster, 'undo', ...since, '--let-go', '--yes');
      assert.equal(letGo.exit, 0, letGo.text);
      await eventually(
        'the controller collects what was let go',
        async () => rowsNamed(await cluster.dump(), 'Logical_Router', 'wrong').length === 0,
      );
      await cluster.converged();
      assert.equal((await kiln(cluster, 'gc', 'plan')).exit, 0);
    },
  },
  {
    name: 'while the journal cannot be written no row is deleted, kiln status and an Event say so, and new pods get their network',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(vpcYaml('stays') + namespaceYaml('unjournaled'));
      await cluster.converged();
      // As with a full disk: neither the open file nor a new one can be written.
      await rename(cluster.journal, `${cluster.journal}-away`).catch(() => undefined);
      await writeFile(cluster.journal, '');
      await cluster.delete('vpc', 'stays');
      await eventually('the status says it', async () =>
        /no row is deleted while the journal cannot be written: E/.test((await kiln(cluster, 'status')).text),
      );
      await cluster.apply(podYaml('unjournaled', 'web'));
      await running(cluster, 'unjournaled', 'web');
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Router', 'stays').length, 1);
      const events = await cluster.kubectl(['get', 'events', '-n', 'default', '--field-selector=reason=JournalFailed', '-o', 'name']);
      assert.notEqual(events.trim(), '');
      await rm(cluster.journal);
      await untilDeleted(cluster, 'vpc', 'stays');
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router', 'stays'), []);
      await cluster.delete('namespace', 'unjournaled');
    },
  },
];

function lost(before: readonly string[], after: readonly string[]): readonly string[] {
  const there = new Set(after);
  return before.filter((row) => !there.has(row)).map((row) => row.slice(0, 500));
}
