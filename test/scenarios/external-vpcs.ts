/** Routers of other programs as external Vpcs. */
import assert from 'node:assert/strict';
import type { Scenario } from './scenario.ts';
import { changedRows, rowsOfOthers } from '../fixtures/neighbour-rows.ts';
import { deployed } from '../../src/testing/controller-account.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { LEASE_SECONDS } from '../../src/testing/controller-process.ts';
import { condition, deletePod, namespaceYaml, podYaml, running } from './pods.ts';
import { makeForeignRows, removeForeignRows } from './foreign-rows.ts';

/** Longer than another leader takes. */
const GRACE_SECONDS = 3 * LEASE_SECONDS.duration;
/** Times of conditions are in seconds. */
const SECOND = 1_000;
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
      const flags = ['--enable-external-vpc=true', `--absence-grace=${GRACE_SECONDS}s`];
      cluster.startController(flags);
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
      await portGoneForAMoment(cluster, flags);
      await removeForeignRows(cluster);
      await cluster.eventually('the Vpcs go with their routers', async () => {
        const names = await cluster.names('vpc');
        const subnets = await cluster.names('subnet');
        return !names.includes('by-hand-router') && !names.includes(`${PROJECT}-r`) && !subnets.includes(PROJECT);
      });
      await cluster.converged();
      await cluster.controller.stop();
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

/**
 * The port of their router is gone, the leader dies, and the port is back: the Subnet has what an administrator set, and the Vpc is the same
 * one. Without settings the Subnet goes, after the wait that the first leader began.
 */
async function portGoneForAMoment(cluster: ScenarioCluster, flags: readonly string[]): Promise<void> {
  const excludeIps = ['10.91.0.1', '10.91.0.100..10.91.0.200'];
  await cluster.patch('subnet', PROJECT, { spec: { excludeIps } });
  await cluster.kubectl(['annotate', 'subnet', PROJECT, '--overwrite', 'kiln.io/admit-namespaces=guest']);
  const before = await cluster.get('subnet', PROJECT);
  const vpc = await cluster.get('vpc', `${PROJECT}-r`);
  await cluster.ovn.nbctl('lrp-del', 'lrp-b3c1');
  const kept = await condition(cluster, 'subnet', PROJECT, 'CauseGone', 'True');
  assert.deepEqual(
    [kept.reason, kept.message?.includes('spec.excludeIps, annotation kiln.io/admit-namespaces')],
    ['KeptWithoutCause', true],
  );
  const leader = cluster.controller;
  cluster.startController(flags);
  await leader.kill9();
  await cluster.ovn.nbctl('lrp-add', `${PROJECT}-r`, 'lrp-b3c1', 'fa:16:3e:00:00:02', '10.91.0.1/24');
  const after = await cluster.eventually('the port is back, and the Subnet is told nothing', async () => {
    const subnet = await cluster.get('subnet', PROJECT);
    return !JSON.stringify(subnet.status ?? {}).includes('CauseGone') && subnet;
  });
  assert.deepEqual(
    [after.metadata.uid, after.spec?.['excludeIps'], after.metadata.annotations?.['kiln.io/admit-namespaces']],
    [before.metadata.uid, before.spec?.['excludeIps'], 'guest'],
  );
  assert.equal((await cluster.get('vpc', `${PROJECT}-r`)).metadata.uid, vpc.metadata.uid);
  await cluster.patch('subnet', PROJECT, { spec: { excludeIps: ['10.91.0.1'] } });
  await cluster.kubectl(['annotate', 'subnet', PROJECT, 'kiln.io/admit-namespaces-']);
  await cluster.converged();
  const gone = performance.now();
  await cluster.ovn.nbctl('lrp-del', 'lrp-b3c1');
  const waits = await condition(cluster, 'subnet', PROJECT, 'CauseGone', 'True');
  assert.equal(waits.reason, 'CauseGone');
  const second = cluster.controller;
  cluster.startController(flags);
  await second.kill9();
  await cluster.eventually('it goes', async () => (await cluster.find('subnet', PROJECT)) === undefined);
  assert.ok(performance.now() - gone >= GRACE_SECONDS * 1_000 - SECOND, 'it went before its time');
}
