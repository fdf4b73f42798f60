/** Kiln is uninstalled in the order of `helm uninstall`: the controller that removes the finalizers is deleted first. */
import assert from 'node:assert/strict';
import { allKinds } from '../../src/api/kinds/crds.ts';
import { foreignRows } from '../../src/invariants/foreign-rows.ts';
import { installCrds } from '../../lab/crd-installation.ts';
import { entries } from '../../src/testing/northbound-dump.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { changedRows, rowsOfOthers } from '../fixtures/neighbour-rows.ts';
import { loadNeighbours, removeNeighbours } from './neighbours.ts';
import { kiln } from './operator-commands.ts';
import { namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const DEFINITIONS = allKinds.map(({ plural }) => `${plural}.kubeovn.io`);
/** The kinds that have objects here. */
const KINDS = 'ips,subnets,vpcs,vips,ovn-eips,ippools,qos-policies,security-groups,vlans';
const FINALIZERS = ['kubeovn.io/kube-ovn-controller'];

const object = (kind: string, name: string, spec: object): string =>
  `---\napiVersion: kubeovn.io/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  finalizers: ${JSON.stringify(FINALIZERS)}\nspec: ${JSON.stringify(spec)}\n`;

const network =
  vpcYaml('leaving', { staticRoutes: [{ cidr: '10.182.0.0/16', nextHopIP: '10.181.0.9' }] }) +
  subnetYaml('leaving-net', { vpc: 'leaving', cidrBlock: '10.181.0.0/24', namespaces: ['leaving'] }) +
  namespaceYaml('leaving');

/** Objects of many kinds, with the finalizer that an older version or Kube-OVN put on kinds that are not implemented. */
const objects =
  object('Vip', 'leaving-vip', { subnet: 'leaving-net' }) +
  object('IPPool', 'leaving-pool', { subnet: 'leaving-net', ips: ['10.181.0.100..10.181.0.110'] }) +
  object('OvnEip', 'leaving-eip', { externalSubnet: 'leaving-net', type: 'lsp' }) +
  object('OvnSnatRule', 'leaving-snat', { ovnEip: 'leaving-eip', vpcSubnet: 'leaving-net' }) +
  object('QoSPolicy', 'leaving-qos', { bindingType: 'EIP' }) +
  object('SecurityGroup', 'leaving-group', {}) +
  object('Vlan', 'leaving-vlan', { id: 7, provider: 'absent' });

async function rowsOfKiln(cluster: ScenarioCluster): Promise<readonly string[]> {
  const owned: string[] = [];
  for (const [table, rows] of await cluster.dump())
    for (const row of rows) if (entries(row['external_ids'])['kiln.io/owner'] !== undefined) owned.push(`${table} ${String(row['_uuid'])}`);
  return owned;
}

/** The options of NB_Global that Kiln has set, according to its record. */
async function optionsOfKiln(cluster: ScenarioCluster): Promise<Readonly<Record<string, unknown>>> {
  const record = 'kiln.io/set.options.';
  const all = Object.entries(entries((await cluster.rows('NB_Global'))[0]?.['external_ids']));
  return Object.fromEntries(all.flatMap(([key, value]) => (key.startsWith(record) ? [[key.slice(record.length), value]] : [])));
}

async function definitionsLeft(cluster: ScenarioCluster): Promise<readonly string[]> {
  return (await cluster.names('crd')).filter((name) => name.endsWith('.kubeovn.io'));
}

export const uninstallation: readonly Scenario[] = [
  {
    name: 'C16 the controller goes first, and the definitions hang: kiln uninstall removes every object, definition and row, foreign rows stay, and a new installation works',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network + podYaml('leaving', 'web'));
      await cluster.apply(objects);
      await running(cluster, 'leaving', 'web');
      await cluster.converged();
      await cluster.ovn.nbctl('set', 'NB_Global', '.', 'options:use_ct_inv_match=true');
      await cluster.eventually(
        'another program changes an option that Kiln set',
        async () => !('use_ct_inv_match' in (await optionsOfKiln(cluster))),
      );
      assert.deepEqual(await optionsOfKiln(cluster), { ls_ct_skip_dst_lport_ips: 'true', ls_dnat_mod_dl_dst: 'true' });
      const led = await kiln(cluster, 'uninstall', '--yes');
      assert.equal(led.exit, 1);
      assert.match(led.text, /why: a controller leads: \S+ holds Lease kube-system\/kiln-controller/);
      assert.equal((await cluster.get('vpc', 'leaving')).metadata.deletionTimestamp, undefined, 'nothing was touched');

      await cluster.controller.stop();
      await cluster.ovn.nbctl(
        ...['ls-add', 'leaving-foreign', '--', 'lsp-add', 'leaving-foreign', 'leaving-guest', '--'],
        ...['set', 'Logical_Switch', 'leaving-foreign', 'external_ids:neutron\\:name=x', '--', 'lr-add', 'leaving-bare'],
      );
      // Of the fixtures' rows ovn-northd writes the status of BFD: those have a comparison of their own.
      const foreign = await cluster.foreignRows();
      const loaded = await loadNeighbours(cluster);
      const others = rowsOfOthers(await cluster.dump());
      await cluster.kubectl(['delete', 'crd', '--wait=false', ...DEFINITIONS]);
      // A real API server deletes a few definitions at a time, and waits a minute for each.
      await cluster.eventually('objects are being deleted, and hang', async () => {
        const printed = await cluster.kubectl(['get', KINDS, '-o', 'jsonpath={.items[*].metadata.deletionTimestamp}']);
        return printed.trim() !== '';
      });
      assert.ok((await definitionsLeft(cluster)).includes('vpcs.kubeovn.io'));

      const shown = await kiln(cluster, 'uninstall', '--dry-run=client');
      assert.equal(shown.exit, 0, shown.text);
      assert.match(shown.text, /\nglobal options +ls_dnat_mod_dl_dst=true · ls_ct_skip_dst_lport_ips=true · kube-ovn-version=v1\.17\.0\n/);
      assert.match(shown.text, /\nstays .*options of NB_Global that another program set: use_ct_inv_match=true;/);
      assert.match(shown.text, /^Northbound rows .*Logical_Switch_Port \d+[^]*\ncustom resources .*SecurityGroup 1 [^]*Vpc \d+\n/);
      assert.notEqual((await rowsOfKiln(cluster)).length, 0);

      const left = ['create', 'Port_Group', 'name=ovn.sg.leaving', 'external_ids:vendor=kube-ovn'];
      const group = (await cluster.ovn.nbctl(...left)).trim();
      const done = await kiln(cluster, 'uninstall', '--yes');
      assert.equal(done.exit, 0, done.text);
      assert.ok(done.text.includes(`left by Kube-OVN, 1: Port_Group ovn.sg.leaving; ovn-nbctl list Port_Group ${group}\n`), done.text);
      await cluster.ovn.nbctl('pg-del', 'ovn.sg.leaving');
      assert.match(done.text, /\nstays .*; kiln\.io\/term in NB_Global\n/);
      assert.deepEqual(await definitionsLeft(cluster), []);
      assert.deepEqual(await rowsOfKiln(cluster), []);
      assert.deepEqual(changedRows(others, rowsOfOthers(await cluster.dump())), [], 'bit for bit, `_version` too');
      assert.match(
        done.text,
        /\nstays +rows of others, none of which is changed: .*neutron \d+, .*ovn-ic \d+, ovn-kubernetes \d+, unmarked \d+;/,
      );
      const { use_ct_inv_match: kept, ...options } = entries((await cluster.rows('NB_Global'))[0]?.['options']);
      assert.equal(kept, 'true');
      assert.deepEqual(
        Object.keys(options).filter((key) => key.startsWith('ls_')),
        [],
      );
      assert.deepEqual(foreignRows(foreign, await cluster.foreignRows()), []);
      assert.deepEqual(
        Object.keys(entries((await cluster.rows('NB_Global'))[0]?.['external_ids'])).filter((key) => /^(kiln\.io\/|kube-ovn-)/.test(key)),
        ['kiln.io/term'],
        'a process that wakes after the next installation must find a newer term than its own',
      );
      assert.equal(await cluster.find('lease', 'kiln-controller', 'kube-system'), undefined);
      const again = await kiln(cluster, 'uninstall', '--yes');
      assert.equal(again.exit, 0, again.text);
      assert.match(again.text, /^Northbound rows +none\nglobal options +none\ncustom resources +none\ndefinitions +none\nits own +none\n/);

      await removeNeighbours(cluster, loaded);
      await installCrds(cluster.client, cluster.api.cel);
      cluster.startController();
      await cluster.apply(network + podYaml('leaving', 'after'));
      await running(cluster, 'leaving', 'after');
      await cluster.ovn.nbctl('ls-del', 'leaving-foreign', '--', 'lr-del', 'leaving-bare');
      await cluster.ovn.nbctl('remove', 'NB_Global', '.', 'options', 'use_ct_inv_match');
      await cluster.removeAll(network);
    },
  },
];
