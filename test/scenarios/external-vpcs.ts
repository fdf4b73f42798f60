/** Routers of other programs as external Vpcs. */
import assert from 'node:assert/strict';
import type { Scenario } from './scenario.ts';
import { changedRows, rowsOfOthers } from '../fixtures/neighbour-rows.ts';
import { deployed } from '../../src/testing/controller-account.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { condition, deletePod, namespaceYaml, podYaml, running } from './pods.ts';
import { makeForeignRows, removeForeignRows } from './foreign-rows.ts';

const PROJECT = 'neutron-6c0f1b0e-6a2f-4b7e-9d5b-0d2f8d8f7a11';

/** As its message says: with the flag Kiln makes such Vpcs. @returns what brings it back; undefined where the API server has no policies */
async function leaveOutPolicy(cluster: ScenarioCluster): Promise<(() => Promise<void>) | undefined> {
  const binding = ['validatingadmissionpolicybinding', 'kiln-controller-external-vpcs'];
  const found = await cluster.kubectl(['get', ...binding, '--ignore-not-found', '-o', 'name']).catch(() => '');
  if (found.trim() === '') return undefined;
  await cluster.kubectl(['delete', ...binding]);
  const vpc = `apiVersion: kubeovn.io/v1\nkind: Vpc\nmetadata: {name: probe, labels: {ovn.kubernetes.io/vpc_external: "true"}}\nspec: {}\n`;
  const asController = ['create', '--dry-run=server', '--as=system:serviceaccount:kube-system:kiln-controller', '-f', '-'];
  await cluster.eventually('the policy is gone', async () => {
    return await cluster.kubectl(asController, vpc).then(
      () => true,
      () => false,
    );
  });
  return async () => await cluster.applyAtOnce(deployed('admission-policy.yaml'));
}

export const externalVpcs: readonly Scenario[] = [
  {
    name: 'with --enable-external-vpc each foreign router is a read-only Vpc, comes back when it is deleted, and goes with the router',
    alone: true,
    run: async (cluster) => {
      await makeForeignRows(cluster);
      await cluster.ovn.nbctl(
        ...['lsp-add', PROJECT, 'to-router', '--', 'lsp-set-type', 'to-router', 'router', '--'],
        ...['lsp-set-options', 'to-router', 'router-port=lrp-b3c1'],
      );
      await cluster.converged();
      assert.equal(await cluster.find('vpc', `${PROJECT}-r`), undefined, 'off by default');
      const before = await cluster.foreignRows();
      await cluster.controller.stop();
      const withPolicy = await leaveOutPolicy(cluster);
      const controller = cluster.startController(['--enable-external-vpc=true']);
      cluster.settings = { enableExternalVpc: true };
      const shown = await cluster.eventually('the router is shown', async () => {
        const vpc = await cluster.find('vpc', `${PROJECT}-r`);
        const { standby, subnets } = (vpc?.status ?? {}) as { readonly standby?: boolean; readonly subnets?: readonly string[] };
        return standby === true && subnets?.[0] === PROJECT && vpc;
      });
      assert.equal(shown.metadata.labels?.['ovn.kubernetes.io/vpc_external'], 'true');
      await cluster.eventually('and the unmarked one', () => cluster.find('vpc', 'by-hand-router'));
      await cluster.delete('vpc', 'by-hand-router');
      await cluster.eventually('it is shown again', async () => (await cluster.find('vpc', 'by-hand-router'))?.status !== undefined);
      await cluster.converged();
      await cluster.invariantsHold(before);
      await podInTheirSwitch(cluster);
      await removeForeignRows(cluster);
      await cluster.eventually('the Vpcs go with their routers', async () => {
        const names = await cluster.names('vpc');
        const subnets = await cluster.names('subnet');
        return !names.includes('by-hand-router') && !names.includes(`${PROJECT}-r`) && !subnets.includes(PROJECT);
      });
      await cluster.converged();
      await controller.stop();
      await withPolicy?.();
      cluster.settings = {};
      await cluster.ensureController();
    },
  },
];

/** The switch is a Subnet; a pod comes in once its namespace is admitted, and leaves nothing but a new version of the switch's row. */
async function podInTheirSwitch(cluster: ScenarioCluster): Promise<void> {
  const subnet = await cluster.eventually('the switch is shown', () => cluster.find('subnet', PROJECT));
  assert.deepEqual([subnet.spec?.['vpc'], subnet.spec?.['cidrBlock']], [`${PROJECT}-r`, '10.91.0.0/24']);
  const home = (await cluster.ovn.nbctl('get', 'Logical_Switch', PROJECT, '_uuid')).trim();
  const ports = (await cluster.ovn.nbctl('lsp-list', PROJECT)).trim();
  const others = rowsOfOthers(await cluster.dump());
  await cluster.apply(namespaceYaml('guest') + podYaml('guest', 'web', { annotations: { 'ovn.kubernetes.io/logical_switch': PROJECT } }));
  assert.equal((await condition(cluster, 'pod', 'web', 'kiln.io/NetworkBound', 'False', 'guest')).reason, 'NamespaceNotAdmitted');
  assert.deepEqual(changedRows(others, rowsOfOthers(await cluster.dump())), []);
  await cluster.kubectl(['annotate', 'subnet', PROJECT, 'kiln.io/admit-namespaces=guest']);
  await running(cluster, 'guest', 'web');
  assert.match(await cluster.ovn.nbctl('lsp-list', PROJECT), /web\.guest/);
  await deletePod(cluster, 'guest', 'web');
  await cluster.converged();
  assert.equal((await cluster.ovn.nbctl('lsp-list', PROJECT)).trim(), ports);
  const changed = changedRows(others, rowsOfOthers(await cluster.dump()));
  assert.deepEqual(
    changed.filter((row) => !row.startsWith(`Logical_Switch/${home} `)),
    [],
  );
  await cluster.delete('namespace', 'guest');
}
