/** The objects that the cluster depends on are deleted: the default Vpc, its default Subnet and the join Subnet. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { port, rowNamed, rowsNamed } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, deletePod, running, subnetYaml, tenantYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const BUILT_IN = [
  ['vpc', 'ovn-cluster'],
  ['subnet', 'ovn-default'],
  ['subnet', 'join'],
] as const;

/** The UUIDs of the rows that traffic of running pods and nodes passes through. */
async function rowsOf(cluster: ScenarioCluster, ...ports: readonly string[]): Promise<readonly unknown[]> {
  const dump = await cluster.dump();
  const rows = [...ports, 'node-node-1', 'node-node-2'].map((name) => port(dump, name));
  return [...rows, rowNamed(dump, 'Logical_Router', 'ovn-cluster'), rowNamed(dump, 'Logical_Switch', 'join')].map(({ _uuid }) => _uuid);
}

async function addressesOfNodes(cluster: ScenarioCluster): Promise<readonly unknown[]> {
  const nodes = await Promise.all(['node-1', 'node-2'].map((name) => cluster.get('node', name)));
  return nodes.map(({ metadata }) => metadata.annotations?.['ovn.kubernetes.io/ip_address']);
}

/** The finalizers are removed by hand: each object is created again, with another uid. */
async function removeFinalizers(cluster: ScenarioCluster, all: readonly (readonly [kind: string, name: string])[]): Promise<void> {
  const had = await Promise.all(all.map(([kind, name]) => cluster.get(kind, name)));
  await Promise.all(all.map(([kind, name]) => cluster.patch(kind, name, { metadata: { finalizers: [] } })));
  for (const [i, [kind, name]] of all.entries())
    await cluster.eventually(`${kind} ${name} is there again`, async () => {
      const again = await cluster.find(kind, name);
      return again !== undefined && again.metadata.uid !== had[i]?.metadata.uid;
    });
  await cluster.converged();
}

const TENANT = tenantYaml('wiped', '10.171.0.0/24');
const EMPTY =
  vpcYaml('bare') +
  subnetYaml('bare-net', { vpc: 'bare', cidrBlock: '10.171.1.0/24' }) +
  subnetYaml('idle-net', { cidrBlock: '10.171.2.0/24' });
const LATE = subnetYaml('late-net', { cidrBlock: '10.171.3.0/24', namespaces: ['latecomers'] }) + namespaceYaml('latecomers');
const NODE = `---
apiVersion: v1
kind: Node
metadata: {name: latecomer}
`;

/** All Vpcs and Subnets are deleted. @param whileDown no controller runs meanwhile */
async function deleteAll(cluster: ScenarioCluster, whileDown: boolean): Promise<void> {
  await cluster.apply(TENANT + EMPTY + podYaml('wiped', 'inside') + podYaml('default', 'stays', { node: 'node-1' }));
  const had = [await addressOf(cluster, 'wiped', 'inside'), await addressOf(cluster, 'default', 'stays'), await addressesOfNodes(cluster)];
  await condition(cluster, 'subnet', 'bare-net', 'Ready', 'True');
  await cluster.converged();
  const before = await rowsOf(cluster, 'inside.wiped', 'stays.default');
  const nobodyLost = async (): Promise<void> => {
    const has = [
      await addressOf(cluster, 'wiped', 'inside'),
      await addressOf(cluster, 'default', 'stays'),
      await addressesOfNodes(cluster),
    ];
    assert.deepEqual(has, had);
    assert.deepEqual(await rowsOf(cluster, 'inside.wiped', 'stays.default'), before);
  };
  if (whileDown) await cluster.controller.kill9();
  await cluster.kubectl(['delete', 'vpcs,subnets', '--all', '--wait=false']);
  if (whileDown) {
    await cluster.apply(NODE + LATE);
    cluster.startController();
  }
  // An object without dependents is deleted. One with dependents stays and reports its blockers; a built-in one also reports that nothing
  // has to be done.
  for (const [kind, name] of [
    ['subnet', 'bare-net'],
    ['vpc', 'bare'],
    ['subnet', 'idle-net'],
  ] as const)
    await untilDeleted(cluster, kind, name);
  for (const [kind, name] of [BUILT_IN[0], BUILT_IN[2]]) {
    const { reason, message } = await condition(cluster, kind, name, 'DeletionBlocked', 'True');
    assert.equal(reason, 'NeededByCluster');
    assert.match(message, /The cluster needs it: it stays in effect and accepts new dependents; nothing needs to be done\./);
  }
  assert.match((await condition(cluster, 'subnet', 'ovn-default', 'DeletionBlocked', 'True')).message, /IP stays\.default/);
  assert.match((await condition(cluster, 'subnet', 'wiped-net', 'DeletionBlocked', 'True')).message, /IP inside\.wiped/);
  await cluster.converged();
  await nobodyLost();
  // New dependents are served meanwhile: a node, and a Subnet in the default Vpc with its pods.
  if (!whileDown) await cluster.apply(NODE + LATE);
  await cluster.eventually(
    'the new node is joined',
    async () => (await cluster.get('node', 'latecomer')).metadata.annotations?.['ovn.kubernetes.io/allocated'] === 'true',
  );
  await condition(cluster, 'subnet', 'late-net', 'Ready', 'True');
  await cluster.apply(podYaml('latecomers', 'first') + podYaml('default', 'waits', { node: 'node-2' }));
  assert.match(await addressOf(cluster, 'latecomers', 'first'), /^10\.171\.3\./);
  // A new pod of the default Subnet waits until the last old pod is deleted, and is served then.
  const bound = await condition(cluster, 'pod', 'waits', 'kiln.io/NetworkBound', 'False', 'default');
  assert.match(bound.message, /Subnet ovn-default is being deleted/);
  await nobodyLost();
  await deletePod(cluster, 'wiped', 'inside');
  await untilDeleted(cluster, 'vpc', 'wiped');
  const { uid } = (await cluster.get('subnet', 'ovn-default')).metadata;
  await deletePod(cluster, 'default', 'stays');
  assert.match(await addressOf(cluster, 'default', 'waits'), /^10\.16\./);
  const made = await cluster.get('subnet', 'ovn-default');
  assert.notEqual(made.metadata.uid, uid);
  await cluster.converged();
  const now = await cluster.dump();
  assert.equal(rowsNamed(now, 'Logical_Router_Port', 'ovn-cluster-ovn-default').length, 1);
  assert.deepEqual(await addressesOfNodes(cluster), had[2]);
  assert.deepEqual(await rowsOf(cluster), before.slice(2));
  // Nothing has to be deleted here any more. The built-in objects are removed by force, which changes no row, so that other scenarios find
  // fresh ones.
  await removeFinalizers(cluster, [BUILT_IN[0], BUILT_IN[2]]);
  assert.deepEqual([await addressesOfNodes(cluster), await rowsOf(cluster)], [had[2], before.slice(2)]);
  await deletePod(cluster, 'default', 'waits');
  await deletePod(cluster, 'latecomers', 'first');
  await cluster.kubectl(['delete', 'node', 'latecomer', '--wait=false']);
  await untilDeleted(cluster, 'ip', 'node-latecomer');
  await cluster.removeAll(LATE + namespaceYaml('wiped'));
}

export const builtIns: readonly Scenario[] = [
  {
    name: 'all Vpcs and Subnets are deleted together: running pods keep ports and addresses, new pods run, empty Subnets go, and no user action is needed',
    alone: true,
    run: async (cluster) => await deleteAll(cluster, false),
  },
  {
    name: 'the same while no controller runs: the next controller does all of it',
    alone: true,
    run: async (cluster) => await deleteAll(cluster, true),
  },
  {
    name: 'the built-in Subnets and the default Vpc, deleted and removed by force, one by one and together, are created again and pods keep their addresses',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(podYaml('default', 'stays'));
      const address = await addressOf(cluster, 'default', 'stays');
      const nodes = await addressesOfNodes(cluster);
      await cluster.converged();
      const before = await rowsOf(cluster, 'stays.default');
      for (const [kind, name] of BUILT_IN) {
        await cluster.delete(kind, name);
        await removeFinalizers(cluster, [[kind, name]]);
      }
      assert.deepEqual(await rowsOf(cluster, 'stays.default'), before);
      await cluster.kubectl(['delete', 'vpcs,subnets', '--all', '--wait=false']);
      await removeFinalizers(cluster, BUILT_IN);
      assert.deepEqual(await rowsOf(cluster, 'stays.default'), before);
      assert.deepEqual([await addressOf(cluster, 'default', 'stays'), await addressesOfNodes(cluster)], [address, nodes]);
      for (const [kind, name] of BUILT_IN) await condition(cluster, kind, name, 'Ready', 'True');
      await cluster.converged();
      assert.equal((await cluster.get('subnet', 'ovn-default')).status?.['v4usingIPrange'], address);
      await running(cluster, 'default', 'stays');
      await deletePod(cluster, 'default', 'stays');
    },
  },
];
