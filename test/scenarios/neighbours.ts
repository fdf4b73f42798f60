/** Beside everything that other programs keep in the database: no row of theirs changes, its version included. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { changedRows, NEIGHBOURS, rowsOfOthers } from '../fixtures/neighbour-rows.ts';
import { kiln } from './operator-commands.ts';
import { deletePod, namespaceYaml, podYaml, running, subnetYaml, untilDeleted, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

interface LoadedRow {
  readonly table: string;
  readonly uuid: string;
}

async function transact(cluster: ScenarioCluster, text: string, what: string): Promise<readonly unknown[]> {
  const client = findOvn()?.command('ovsdb-client') ?? ['ovsdb-client'];
  const answer = await runProgram([...client, 'transact', cluster.ovn.nbEndpoint, text]);
  assert.doesNotMatch(answer, /"error"/, what);
  return JSON.parse(answer) as readonly unknown[];
}

/** The fixtures' rows. */
export async function loadNeighbours(cluster: ScenarioCluster): Promise<readonly LoadedRow[]> {
  const loaded: LoadedRow[] = [];
  for (const { text, name, inserts } of NEIGHBOURS) {
    const answers = (await transact(cluster, text, name)) as readonly { readonly uuid: readonly [string, string] }[];
    loaded.push(...inserts.map(({ table }, at) => ({ table, uuid: answers[at]?.uuid[1] ?? '' })));
  }
  return loaded;
}

/** In one transaction, since the rows refer to each other. */
export async function removeNeighbours(cluster: ScenarioCluster, rows: readonly LoadedRow[]): Promise<void> {
  const deletions = rows.map(({ table, uuid }) => ({ op: 'delete', table, where: [['_uuid', '==', ['uuid', uuid]]] }));
  await transact(cluster, JSON.stringify(['OVN_Northbound', ...deletions]), 'deletion');
}

export const neighbours: readonly Scenario[] = [
  {
    name: 'beside Neutron, Octavia, ovn-kubernetes, ovn-ic and unmarked rows: bit for bit the same, `_version` too, whatever is done',
    alone: true,
    run: async (cluster) => {
      await cluster.converged();
      const own = rowsOfOthers(await cluster.dump());
      const loaded = await loadNeighbours(cluster);
      await cluster.converged();
      const before = rowsOfOthers(await cluster.dump());
      assert.ok(before.size - own.size > 100, `${before.size - own.size} rows`);
      const unchanged = async (after: string): Promise<void> =>
        assert.deepEqual(changedRows(before, rowsOfOthers(await cluster.dump())), [], after);
      const around = await kiln(cluster, 'neighbours', '-o', 'name');
      assert.equal(around.exit, 0, around.text);
      assert.deepEqual(around.text.trim().split('\n'), ['neutron', 'ovn-ic', 'ovn-kubernetes', 'unmarked']);

      const network =
        vpcYaml('beside') +
        subnetYaml('beside-net', { vpc: 'beside', cidrBlock: '192.168.50.0/24', namespaces: ['beside'], private: true }) +
        namespaceYaml('beside');
      await cluster.apply(network + podYaml('beside', 'a') + podYaml('beside', 'b'));
      await running(cluster, 'beside', 'a');
      await running(cluster, 'beside', 'b');
      await cluster.converged();
      await unchanged('a network and pods');
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.converged();
      await unchanged('kill and start');
      const since = new Date().toISOString();
      await deletePod(cluster, 'beside', 'a');
      await cluster.removeAll(network);
      await untilDeleted(cluster, 'vpc', 'beside');
      await cluster.converged();
      await unchanged('deletion of all of it');
      const undone = await kiln(cluster, 'undo', `--since=${since}`, `--journal=${cluster.journal}`, '--owner=vpc/beside', '--yes');
      assert.equal(undone.exit, 0, undone.text);
      await unchanged('undo');
      const letGo = await kiln(cluster, 'undo', `--since=${since}`, `--journal=${cluster.journal}`, '--let-go', '--yes');
      assert.equal(letGo.exit, 0, letGo.text);
      await cluster.converged();
      await unchanged('collection of what was let go');

      const directory = await mkdtemp(join(tmpdir(), 'kiln-neighbours-'));
      const saved = await kiln(cluster, 'backup', join(directory, 'all.db.gz'));
      assert.equal(saved.exit, 0, saved.text);
      const nothing = await kiln(cluster, 'restore', join(directory, 'all.db.gz'), '--yes');
      assert.equal(nothing.exit, 1, nothing.text);
      await unchanged('a restore with nothing to do');
      await rm(directory, { recursive: true });
      await removeNeighbours(cluster, loaded);
    },
  },
];
