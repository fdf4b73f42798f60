/** A backup, changes, the loss of the database's contents, a restore, and the controller after it. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entries } from '../../src/testing/northbound-dump.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { makeForeignRows, removeForeignRows } from './foreign-rows.ts';
import { rowsNamed } from './northbound.ts';
import { kiln } from './operator-commands.ts';
import { addressOf, deletePod, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

/** Foreign rows with their UUIDs, without what ovn-northd counts. */
async function rowsOfOthers(cluster: ScenarioCluster): Promise<readonly string[]> {
  return [...(await cluster.foreignRows())]
    .flatMap(([row, text]) => (row.includes(' ') || row.startsWith('NB_Global/') ? [] : [`${row} ${text}`]))
    .toSorted();
}

async function portAddress(cluster: ScenarioCluster, port: string): Promise<string> {
  const [row] = (await cluster.rows('Logical_Switch_Port')).filter(({ name }) => name === port);
  return String(row?.['addresses'] ?? 'no port').split(' ')[1] ?? '';
}

export const backups: readonly Scenario[] = [
  {
    name: 'an old backup after the loss of all rows: rows of others are as it has them, and each address is where its pod is now',
    alone: true,
    run: async (cluster) => {
      const directory = await mkdtemp(join(tmpdir(), 'kiln-backups-'));
      try {
        await makeForeignRows(cluster);
        const network =
          vpcYaml('saved') +
          subnetYaml('saved-net', { vpc: 'saved', cidrBlock: '10.177.0.0/24', namespaces: ['saved'] }) +
          namespaceYaml('saved');
        await cluster.apply(network + podYaml('saved', 'goes') + podYaml('saved', 'stays'));
        await running(cluster, 'saved', 'goes');
        await running(cluster, 'saved', 'stays');
        await cluster.converged();
        const before = await rowsOfOthers(cluster);
        const saved = await kiln(cluster, 'backup', directory, '--keep=2', '-o', 'json');
        assert.equal(saved.exit, 0, saved.text);
        const { path, tables } = JSON.parse(saved.text) as { readonly path: string; readonly tables: Readonly<Record<string, number>> };
        assert.ok((tables['Logical_Switch_Port'] ?? 0) > 4, saved.text);
        const again = await kiln(cluster, 'restore', path, '--yes');
        assert.equal(again.exit, 1, again.text);
        assert.match(again.text, /nothing to restore/);

        // The address of one pod is another's since then.
        const address = await addressOf(cluster, 'saved', 'goes');
        await deletePod(cluster, 'saved', 'goes');
        await cluster.apply(podYaml('saved', 'comes', { annotations: { 'ovn.kubernetes.io/ip_address': address } }));
        await running(cluster, 'saved', 'comes');
        await cluster.converged();
        await cluster.controller.stop();
        // Everything is lost, but for the shared row.
        for (const table of ['Logical_Switch', 'Logical_Router', 'Load_Balancer', 'Port_Group', 'Address_Set', 'DHCP_Options', 'Meter'])
          await cluster.ovn.nbctl('--all', 'destroy', table);
        assert.equal((await cluster.rows('Logical_Switch_Port')).length, 0);

        const truncated = join(directory, 'truncated.db.gz');
        await writeFile(truncated, (await readFile(path)).subarray(0, 2_000));
        const refused = await kiln(cluster, 'restore', truncated, '--yes');
        assert.equal(refused.exit, 1, refused.text);
        assert.match(refused.text, /is not a whole backup; nothing was changed[^]*truncated/);
        const planned = await kiln(cluster, 'restore', path, '--dry-run', '-o', 'wide');
        assert.equal(planned.exit, 0, planned.text);
        assert.match(planned.text, /^restore {4}Logical_Router saved of vpc\/saved$/m);
        assert.match(planned.text, /^restore {4}Logical_Switch_Port b3c1 of neutron$/m);
        assert.match(planned.text, /^stays gone 1 row of pod\/saved\/goes, which does not exist any more$/m);
        assert.equal((await cluster.rows('Logical_Switch_Port')).length, 0, 'a dry run changes nothing');

        const restored = await kiln(cluster, 'restore', path, '--yes');
        assert.equal(restored.exit, 0, restored.text);
        assert.deepEqual(await rowsOfOthers(cluster), before);
        assert.equal(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'goes.saved').length, 0);
        const scheduled = join(directory, 'scheduled');
        cluster.startController([`--backup=${scheduled}`]);
        await cluster.converged();
        assert.deepEqual(await rowsOfOthers(cluster), before);
        assert.equal(await portAddress(cluster, 'comes.saved'), address);
        assert.equal(await portAddress(cluster, 'stays.saved'), await addressOf(cluster, 'saved', 'stays'));
        assert.equal(
          entries((await cluster.rows('Logical_Switch')).find(({ name }) => name === 'saved-net')?.['external_ids'])['vendor'],
          'kube-ovn',
        );
        assert.ok((await readdir(directory)).some((name) => name.startsWith('before-restore-')));
        const [made = ''] = await cluster.eventually('the leader writes a backup', async () => {
          const names = await readdir(scheduled).catch(() => []);
          return names.some((name) => /^kiln-nb-.*gz$/.test(name)) && names;
        });
        const whole = await kiln(cluster, 'backup', `--verify=${join(scheduled, made)}`);
        assert.equal(whole.exit, 0, whole.text);
        await cluster.removeAll(network);
        await cluster.converged();
        await removeForeignRows(cluster);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  },
];
