/** With the controllers of a real cluster: StatefulSets make their pods, namespaces end. */
import assert from 'node:assert/strict';
import { addressOf, gone, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import { rowsNamed, traces } from './northbound.ts';
import type { Scenario } from './scenario.ts';

const statefulSet = (namespace: string, replicas: number): string => `---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ${namespace}}
spec:
  serviceName: db
  replicas: ${replicas}
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: none}]
`;

export const workloads: readonly Scenario[] = [
  {
    name: "C32 a StatefulSet's pods keep their addresses when they are made again, also across kill -9; a scale-down and the deletion release them",
    alone: true,
    only: 'real',
    run: async (cluster) => {
      const all =
        vpcYaml('sts') + subnetYaml('sts-net', { vpc: 'sts', cidrBlock: '10.140.0.0/24', namespaces: ['sts'] }) + namespaceYaml('sts');
      await cluster.apply(all + statefulSet('sts', 3));
      await cluster.eventually('three pods', async () => (await cluster.names('pod', '-n', 'sts')).length === 3);
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
      await gone(cluster, 'ip', 'db-2.sts');
      await gone(cluster, 'ip', 'db-1.sts');
      await cluster.settled();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'db-2.sts'), []);
      assert.equal(await addressOf(cluster, 'sts', 'db-0'), addresses[0]);
      await cluster.delete('statefulset', 'db', 'sts');
      await gone(cluster, 'ip', 'db-0.sts');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a namespace deleted with pods in it ends, and its addresses are free',
    only: 'real',
    run: async (cluster) => {
      const network = vpcYaml('ends') + subnetYaml('ends-net', { vpc: 'ends', cidrBlock: '10.141.0.0/24', namespaces: ['ends'] });
      await cluster.apply(
        network + namespaceYaml('ends') + ['a', 'b', 'c'].map((name) => podYaml('ends', name)).join('') + statefulSet('ends', 2),
      );
      for (const name of ['a', 'b', 'c', 'db-1']) await running(cluster, 'ends', name);
      await cluster.kubectl(['delete', 'namespace', 'ends', '--timeout=60s']);
      await cluster.eventually('all IP objects are gone', async () => !(await cluster.names('ip')).some((name) => name.endsWith('.ends')));
      await cluster.settled();
      assert.equal((await cluster.get('subnet', 'ends-net')).status?.['v4usingIPs'], 0);
      await cluster.removeAll(network);
      await cluster.settled();
      assert.deepEqual(traces(await cluster.dump(), 'ends-net', '.ends'), []);
    },
  },
];
