/** Pods of StatefulSets and Deployments, made by real controllers or their stand-ins: rollouts, scaling, deletion of namespaces. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { addressOf, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import { rowNamed, rowsNamed, traces } from './northbound.ts';
import type { Scenario } from './scenario.ts';

export const statefulSet = (namespace: string, replicas: number, annotations: Readonly<Record<string, string>> = {}): string => `---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ${namespace}}
spec:
  serviceName: db
  replicas: ${replicas}
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}, annotations: ${JSON.stringify(annotations)}}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: none}]
`;

/** @param version of the pod template: another version causes a rollout */
const deployment = (
  namespace: string,
  replicas: number,
  version: number,
  annotations: Readonly<Record<string, string>> = {},
): string => `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}, annotations: ${JSON.stringify({ ...annotations, version: String(version) })}}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: none}]
`;

interface ListedPod {
  readonly metadata: {
    readonly name: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

/** The addresses of the pods of a workload by name, once exactly this number runs and none is being deleted. */
export async function runningPods(
  cluster: ScenarioCluster,
  namespace: string,
  app: string,
  count: number,
): Promise<ReadonlyMap<string, string>> {
  return await cluster.eventually(`${count} pods ${app} run in ${namespace}`, async () => {
    // A set that is scaled down and up at once may have as many pods as before, since its controller has not observed the change yet.
    const set = await cluster.find('statefulset', app, namespace);
    if (set !== undefined && set.status?.['observedGeneration'] !== set.metadata.generation)
      throw new Error(`StatefulSet ${app} was not looked at since it was edited`);
    const printed = await cluster.kubectl(['get', 'pods', '-n', namespace, '-l', `app=${app}`, '-o', 'json']);
    const pods = (JSON.parse(printed) as { readonly items: readonly ListedPod[] }).items;
    const ready = pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status.phase === 'Running' &&
        metadata.annotations?.['ovn.kubernetes.io/ip_address'] === status.podIP,
    );
    if (pods.length !== count || ready.length !== count) throw new Error(`${pods.length} pods, ${ready.length} of them run`);
    return new Map(ready.map(({ metadata, status }) => [metadata.name, status.podIP ?? '']));
  });
}

/** IP objects, the status of the Subnet and the ports of the namespace have exactly the addresses of these pods. */
async function agreesWith(cluster: ScenarioCluster, namespace: string, subnet: string, pods: ReadonlyMap<string, string>): Promise<void> {
  await cluster.converged();
  const ips = await Promise.all(
    (await cluster.names('ip')).filter((name) => name.endsWith(`.${namespace}`)).map((name) => cluster.get('ip', name)),
  );
  const found = ips.map(({ spec }) => `${String(spec['podName'])} ${String(spec['ipAddress'])}`);
  assert.deepEqual(found.toSorted(), [...pods].map(([name, address]) => `${name} ${address}`).toSorted());
  const ports = (await cluster.rows('Logical_Switch_Port')).filter(({ name }) => String(name).endsWith(`.${namespace}`));
  assert.deepEqual(
    ports.map(({ name, addresses }) => `${String(name)} ${String(addresses).split(' ')[1] ?? ''}`).toSorted(),
    [...pods].map(([name, address]) => `${name}.${namespace} ${address}`).toSorted(),
  );
  assert.equal((await cluster.get('subnet', subnet)).status?.['v4usingIPs'], pods.size);
}

export const workloads: readonly Scenario[] = [
  {
    name: 'a Deployment is scaled up and down, rolled out and deleted: addresses, ports and status are those of its pods each time',
    run: async (cluster) => {
      const all =
        vpcYaml('dep') + subnetYaml('dep-net', { vpc: 'dep', cidrBlock: '10.187.0.0/24', namespaces: ['dep'] }) + namespaceYaml('dep');
      await cluster.apply(all + deployment('dep', 4, 1));
      const first = await runningPods(cluster, 'dep', 'web', 4);
      await agreesWith(cluster, 'dep', 'dep-net', first);
      await cluster.kubectl(['scale', 'deployment', 'web', '-n', 'dep', '--replicas=9']);
      const more = await runningPods(cluster, 'dep', 'web', 9);
      for (const [name, address] of first) assert.equal(more.get(name), address);
      await agreesWith(cluster, 'dep', 'dep-net', more);
      await cluster.kubectl(['scale', 'deployment', 'web', '-n', 'dep', '--replicas=3']);
      const fewer = await runningPods(cluster, 'dep', 'web', 3);
      await agreesWith(cluster, 'dep', 'dep-net', fewer);
      await cluster.apply(deployment('dep', 3, 2));
      const next = await cluster.eventually('the rollout is done', async () => {
        const pods = await runningPods(cluster, 'dep', 'web', 3);
        return [...pods.keys()].some((name) => fewer.has(name)) ? undefined : pods;
      });
      await agreesWith(cluster, 'dep', 'dep-net', next);
      await cluster.delete('deployment', 'web', 'dep');
      await runningPods(cluster, 'dep', 'web', 0);
      await agreesWith(cluster, 'dep', 'dep-net', new Map());
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C27 a Deployment with as many pods as its list has addresses: its pods end while no controller runs, and the next ones have all of them',
    alone: true,
    run: async (cluster) => {
      const all =
        vpcYaml('c27') + subnetYaml('c27-net', { vpc: 'c27', cidrBlock: '10.188.0.0/24', namespaces: ['c27'] }) + namespaceYaml('c27');
      const list = ['10.188.0.40', '10.188.0.41', '10.188.0.42'];
      await cluster.apply(all + deployment('c27', 3, 1, { 'ovn.kubernetes.io/ip_pool': list.join(',') }));
      const has = async (): Promise<void> => {
        const pods = await runningPods(cluster, 'c27', 'web', 3);
        assert.deepEqual([...pods.values()].toSorted(), list);
        await agreesWith(cluster, 'c27', 'c27-net', pods);
      };
      await has();
      const deleting = cluster.kubectl(['delete', 'pods', '--all', '-n', 'c27', '--wait=false']);
      await cluster.controller.kill9();
      await deleting;
      cluster.startController();
      await has();
      await cluster.kubectl(['scale', 'deployment', 'web', '-n', 'c27', '--replicas=0']);
      await runningPods(cluster, 'c27', 'web', 0);
      await cluster.kubectl(['scale', 'deployment', 'web', '-n', 'c27', '--replicas=3']);
      await has();
      await cluster.delete('deployment', 'web', 'c27');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'kubectl rollout of a StatefulSet: a partition keeps pods in their Subnet, the history has each template, and undo restores the first one',
    run: async (cluster) => {
      const all =
        vpcYaml('undo') +
        subnetYaml('undo-one', { vpc: 'undo', cidrBlock: '10.178.0.0/24', namespaces: ['undo'] }) +
        subnetYaml('undo-two', { vpc: 'undo', cidrBlock: '10.178.1.0/24' }) +
        namespaceYaml('undo');
      const set = ['statefulset/db', '-n', 'undo'];
      const inSubnet = async (...networks: readonly string[]): Promise<void> => {
        await cluster.eventually(`the pods are in ${networks.join(', ')}`, async () => {
          const pods = await runningPods(cluster, 'undo', 'db', 3);
          const found = [...pods.keys()].toSorted().map((name) => pods.get(name)?.split('.')[2]);
          return found.join() === networks.join() ? pods : undefined;
        });
      };
      const partition = (at: number): Promise<string> =>
        cluster.kubectl(['patch', ...set, '-p', `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":${at}}}}}`]);
      // Both templates name the Subnet: an ordinal keeps its address where a template names none.
      await cluster.apply(all + statefulSet('undo', 3, { 'ovn.kubernetes.io/logical_switch': 'undo-one' }));
      await inSubnet('0', '0', '0');
      await partition(2);
      await cluster.apply(statefulSet('undo', 3, { 'ovn.kubernetes.io/logical_switch': 'undo-two' }));
      await inSubnet('0', '0', '1');
      assert.match(await cluster.kubectl(['rollout', 'status', ...set]), /partitioned roll out complete: 1 new pods have been updated/);
      await cluster.kubectl(['delete', 'pod', 'db-0', '-n', 'undo']);
      await inSubnet('0', '0', '1');
      await partition(0);
      await inSubnet('1', '1', '1');
      assert.match(await cluster.kubectl(['rollout', 'history', ...set]), /^1 .*\n2 /m);
      await cluster.kubectl(['rollout', 'undo', ...set]);
      await inSubnet('0', '0', '0');
      assert.match(await cluster.kubectl(['rollout', 'history', ...set]), /^2 .*\n3 /m);
      const owner = await cluster.kubectl(['get', 'controllerrevisions', '-n', 'undo', '--no-headers']);
      assert.match(owner, /^db-\S+ +statefulset\.apps\/db +\d +\S+\n/);

      await cluster.apply(deployment('undo', 2, 1));
      await runningPods(cluster, 'undo', 'web', 2);
      await cluster.kubectl(['scale', 'deployment', 'web', '-n', 'undo', '--replicas=1']);
      await cluster.eventually('its Events say how it was scaled', async () => {
        const description = await cluster.kubectl(['describe', 'deployment', 'web', '-n', 'undo']);
        return [
          /ScalingReplicaSet .*Scaled up replica set web-\w+ (?:from 0 )?to 2/,
          /ScalingReplicaSet .*Scaled down replica set web-\w+ (?:from 2 )?to 1/,
        ].every((one) => one.test(description));
      });
      await cluster.delete('deployment', 'web', 'undo');
      await cluster.delete('statefulset', 'db', 'undo');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C56 the template of a StatefulSet names another Subnet: its pods move there one after another, and the old Subnet is empty',
    run: async (cluster) => {
      const all =
        vpcYaml('c56') +
        subnetYaml('c56-one', { vpc: 'c56', cidrBlock: '10.189.0.0/24', namespaces: ['c56'] }) +
        subnetYaml('c56-two', { vpc: 'c56', cidrBlock: '10.189.1.0/24' }) +
        namespaceYaml('c56');
      await cluster.apply(all + statefulSet('c56', 3));
      await agreesWith(cluster, 'c56', 'c56-one', await runningPods(cluster, 'c56', 'db', 3));
      await cluster.apply(statefulSet('c56', 3, { 'ovn.kubernetes.io/logical_switch': 'c56-two' }));
      const moved = await cluster.eventually('all three have moved', async () => {
        const pods = await runningPods(cluster, 'c56', 'db', 3);
        return [...pods.values()].every((address) => address.startsWith('10.189.1.')) ? pods : undefined;
      });
      await agreesWith(cluster, 'c56', 'c56-two', moved);
      assert.equal((await cluster.get('subnet', 'c56-one')).status?.['v4usingIPs'], 0);
      const dump = await cluster.dump();
      for (const name of moved.keys())
        assert.equal(
          (rowNamed(dump, 'Logical_Switch_Port', `${name}.c56`)['external_ids'] as Readonly<Record<string, string>>)['ls'],
          'c56-two',
        );
      await cluster.delete('statefulset', 'db', 'c56');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'the template of a StatefulSet names another address: its pod has that one, and a pod that requests the old one gets it',
    run: async (cluster) => {
      const all =
        vpcYaml('readdress') +
        subnetYaml('readdress-net', { vpc: 'readdress', cidrBlock: '10.252.0.0/28', namespaces: ['readdress'] }) +
        namespaceYaml('readdress');
      const requests = (address: string): Readonly<Record<string, string>> => ({ 'ovn.kubernetes.io/ip_address': address });
      await cluster.apply(all + statefulSet('readdress', 1, requests('10.252.0.5')));
      await runningPods(cluster, 'readdress', 'db', 1);
      await cluster.apply(statefulSet('readdress', 1, requests('10.252.0.6')));
      await cluster.eventually('its port has the new address', async () => {
        const { addresses } = rowNamed(await cluster.dump(), 'Logical_Switch_Port', 'db-0.readdress');
        return String(addresses).endsWith(' 10.252.0.6');
      });
      await cluster.apply(podYaml('readdress', 'heir', { annotations: requests('10.252.0.5') }));
      assert.equal((await running(cluster, 'readdress', 'heir')).metadata.annotations?.['ovn.kubernetes.io/ip_address'], '10.252.0.5');
      await cluster.delete('statefulset', 'db', 'readdress');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C58 a StatefulSet deleted and recreated while the controller is stopped: the old ports do not conflict with the new pods',
    alone: true,
    run: async (cluster) => {
      const all =
        vpcYaml('c58') + subnetYaml('c58-net', { vpc: 'c58', cidrBlock: '10.190.0.0/24', namespaces: ['c58'] }) + namespaceYaml('c58');
      await cluster.apply(all + statefulSet('c58', 3));
      await runningPods(cluster, 'c58', 'db', 3);
      await cluster.converged();
      const { uid } = (await cluster.get('pod', 'db-0', 'c58')).metadata;
      await cluster.controller.pause();
      await cluster.kubectl(['delete', 'statefulset', 'db', '-n', 'c58', '--timeout=120s']);
      await untilDeleted(cluster, 'pod', 'db-0', 'c58');
      await cluster.apply(statefulSet('c58', 3));
      await cluster.eventually('another db-0', async () => {
        const pod = await cluster.find('pod', 'db-0', 'c58');
        return pod !== undefined && pod.metadata.uid !== uid;
      });
      await cluster.controller.resume();
      await agreesWith(cluster, 'c58', 'c58-net', await runningPods(cluster, 'c58', 'db', 3));
      await cluster.delete('statefulset', 'db', 'c58');
      await cluster.removeAll(all);
    },
  },
  {
    name: "C32 a StatefulSet's pods keep their addresses when they are recreated, also across kill -9; a scale-down and the deletion release them",
    alone: true,
    run: async (cluster) => {
      const all =
        vpcYaml('sts') + subnetYaml('sts-net', { vpc: 'sts', cidrBlock: '10.140.0.0/24', namespaces: ['sts'] }) + namespaceYaml('sts');
      await cluster.apply(all + statefulSet('sts', 3));
      await cluster.eventually('three pods', async () => (await cluster.names('pod', 'sts')).length === 3);
      const addresses = [
        await addressOf(cluster, 'sts', 'db-0'),
        await addressOf(cluster, 'sts', 'db-1'),
        await addressOf(cluster, 'sts', 'db-2'),
      ];
      const { uid } = (await cluster.get('pod', 'db-1', 'sts')).metadata;
      await cluster.controller.kill9();
      await cluster.delete('pod', 'db-1', 'sts');
      await cluster.apply(podYaml('sts', 'other-1') + podYaml('sts', 'other-2'));
      cluster.startController();
      await cluster.eventually(
        'db-1 is another pod',
        async () =>
          (await cluster.find('pod', 'db-1', 'sts'))?.metadata.uid !== uid && (await cluster.find('pod', 'db-1', 'sts')) !== undefined,
      );
      assert.equal(await addressOf(cluster, 'sts', 'db-1'), addresses[1]);
      for (const other of ['other-1', 'other-2']) assert.ok(!addresses.includes(await addressOf(cluster, 'sts', other)));
      await cluster.kubectl(['scale', 'statefulset', 'db', '-n', 'sts', '--replicas=1']);
      await untilDeleted(cluster, 'ip', 'db-2.sts');
      await untilDeleted(cluster, 'ip', 'db-1.sts');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'db-2.sts'), []);
      assert.equal(await addressOf(cluster, 'sts', 'db-0'), addresses[0]);
      await cluster.delete('statefulset', 'db', 'sts');
      await untilDeleted(cluster, 'ip', 'db-0.sts');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a namespace deleted with pods in it ends, and its addresses are free',
    run: async (cluster) => {
      const network = vpcYaml('ends') + subnetYaml('ends-net', { vpc: 'ends', cidrBlock: '10.141.0.0/24', namespaces: ['ends'] });
      await cluster.apply(
        network + namespaceYaml('ends') + ['a', 'b', 'c'].map((name) => podYaml('ends', name)).join('') + statefulSet('ends', 2),
      );
      for (const name of ['a', 'b', 'c', 'db-1']) await running(cluster, 'ends', name);
      await cluster.kubectl(['delete', 'namespace', 'ends', '--timeout=120s']);
      await cluster.eventually('all IP objects are gone', async () => !(await cluster.names('ip')).some((name) => name.endsWith('.ends')));
      await cluster.converged();
      assert.equal((await cluster.get('subnet', 'ends-net')).status?.['v4usingIPs'], 0);
      await cluster.removeAll(network);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'ends-net', '.ends'), []);
    },
  },
];
