/** Addresses that pods request, that two pods claim by mistake, and that are retained and released. */
import assert from 'node:assert/strict';
import { port, rowsNamed } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, deletePod, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const network = (name: string, cidrBlock: string): string =>
  vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name] }) + namespaceYaml(name);

const requests = (ip: string, mac?: string): Readonly<Record<string, string>> => ({
  'ovn.kubernetes.io/ip_address': ip,
  ...(mac !== undefined && { 'ovn.kubernetes.io/mac_address': mac }),
});

export const addresses: readonly Scenario[] = [
  {
    name: 'a pod gets its static address and MAC; a pod with an address out of range reports it, and runs once the address is fixed',
    run: async (cluster) => {
      const all = network('static', '10.70.0.0/24');
      await cluster.apply(
        all +
          podYaml('static', 'good', { annotations: requests('10.70.0.77', '0a:00:00:00:00:77') }) +
          podYaml('static', 'bad', { annotations: requests('10.71.0.77') }),
      );
      assert.equal(await addressOf(cluster, 'static', 'good'), '10.70.0.77');
      assert.equal(port(await cluster.dump(), 'good.static')['addresses'], '0a:00:00:00:00:77 10.70.0.77');
      const { message } = await condition(cluster, 'pod', 'bad', 'kiln.io/NetworkBound', 'False', 'static');
      assert.match(message, /10\.71\.0\.77/);
      assert.match(message, /static-net/);
      await cluster.kubectl(['annotate', 'pod', 'bad', '-n', 'static', '--overwrite', 'ovn.kubernetes.io/ip_address=10.70.0.78']);
      assert.equal(await addressOf(cluster, 'static', 'bad'), '10.70.0.78');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'two pods request one address: the second reports the holder, and gets the address when the first is deleted',
    run: async (cluster) => {
      const all = network('rivals', '10.72.0.0/24');
      await cluster.apply(all + podYaml('rivals', 'first', { annotations: requests('10.72.0.9') }));
      await running(cluster, 'rivals', 'first');
      await cluster.apply(podYaml('rivals', 'second', { annotations: requests('10.72.0.9') }));
      const { reason, message } = await condition(cluster, 'pod', 'second', 'kiln.io/NetworkBound', 'False', 'rivals');
      assert.equal(reason, 'AddressConflict');
      assert.match(message, /10\.72\.0\.9/);
      assert.match(message, /first\.rivals/);
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'second.rivals'), []);
      assert.equal((await cluster.get('subnet', 'rivals-net')).status?.['v4usingIPs'], 1);
      await deletePod(cluster, 'rivals', 'first');
      assert.equal(await addressOf(cluster, 'rivals', 'second'), '10.72.0.9');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C27 pods share a list of addresses: as many pods run as there are addresses, the next one waits for a free address',
    run: async (cluster) => {
      const all = network('pool', '10.73.0.0/24');
      const request = { annotations: { 'ovn.kubernetes.io/ip_pool': '10.73.0.50,10.73.0.51' } };
      await cluster.apply(all + podYaml('pool', 'a', request) + podYaml('pool', 'b', request));
      assert.deepEqual([await addressOf(cluster, 'pool', 'a'), await addressOf(cluster, 'pool', 'b')].toSorted(), [
        '10.73.0.50',
        '10.73.0.51',
      ]);
      await cluster.apply(podYaml('pool', 'c', request));
      await condition(cluster, 'pod', 'c', 'kiln.io/NetworkBound', 'False', 'pool');
      const freed = await addressOf(cluster, 'pool', 'a');
      await deletePod(cluster, 'pool', 'a');
      assert.equal(await addressOf(cluster, 'pool', 'c'), freed);
      await cluster.removeAll(all);
    },
  },
  {
    name: "C58 a pod deleted and at once created again under its name: the port is the new pod's, with one address in use",
    run: async (cluster) => {
      const all = network('again', '10.74.0.0/24');
      await cluster.apply(all + podYaml('again', 'pod', { node: 'node-1' }));
      const first = await running(cluster, 'again', 'pod');
      for (let round = 0; round < 3; round++) {
        await cluster.kubectl(
          ['replace', '--force', '--validate=false', '-f', '-'],
          podYaml('again', 'pod', { node: round % 2 === 0 ? 'node-2' : 'node-1' }),
        );
      }
      const last = await cluster.eventually('the new pod runs', async () => {
        const pod = await running(cluster, 'again', 'pod');
        return pod.metadata.uid !== first.metadata.uid ? pod : undefined;
      });
      await cluster.converged();
      const row = port(await cluster.dump(), 'pod.again');
      assert.equal((row['external_ids'] as Readonly<Record<string, string>>)['kiln.io/uid'], last.metadata.uid);
      assert.match(
        String(row['addresses']),
        new RegExp(` ${last.metadata.annotations?.['ovn.kubernetes.io/ip_address']?.replaceAll('.', '\\.') ?? ''}$`),
      );
      assert.equal((await cluster.get('ip', 'pod.again')).metadata.annotations?.['kiln.io/pod-uid'], last.metadata.uid);
      assert.equal((await cluster.get('subnet', 'again-net')).status?.['v4usingIPs'], 1);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C28 completed and evicted pods release their addresses while their objects remain',
    run: async (cluster) => {
      const all = network('done', '10.75.0.0/24');
      await cluster.apply(
        all +
          podYaml('done', 'job', { restartPolicy: 'Never' }) +
          podYaml('done', 'evicted') +
          podYaml('done', 'on-failure', { restartPolicy: 'OnFailure' }),
      );
      for (const name of ['job', 'evicted', 'on-failure']) await running(cluster, 'done', name);
      const end = (name: string, status: object): Promise<string> =>
        cluster.kubectl(['replace', '--raw', `/api/v1/namespaces/done/pods/${name}/status`, '-f', '-'], JSON.stringify(status));
      for (const [name, status] of [
        ['job', { phase: 'Succeeded' }],
        ['evicted', { phase: 'Failed', reason: 'Evicted' }],
        ['on-failure', { phase: 'Failed' }],
      ] as const) {
        await cluster.eventually(`${name} ends`, async () => {
          const pod = await cluster.get('pod', name, 'done');
          await end(name, { ...pod, status: { ...pod.status, ...status } });
          return true;
        });
      }
      await untilDeleted(cluster, 'ip', 'job.done');
      await untilDeleted(cluster, 'ip', 'evicted.done');
      await cluster.converged();
      const dump = await cluster.dump();
      assert.deepEqual(
        ['job', 'evicted', 'on-failure'].map((name) => rowsNamed(dump, 'Logical_Switch_Port', `${name}.done`).length),
        [0, 0, 1],
        'OnFailure starts again',
      );
      assert.equal((await cluster.get('subnet', 'done-net')).status?.['v4usingIPs'], 1);
      assert.notEqual(await cluster.find('pod', 'job', 'done'), undefined);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a pod that terminates on a lost node releases its address when its grace period is over',
    run: async (cluster) => {
      const all = network('lost', '10.76.0.0/24');
      // No kubelet runs for this node, so the deletion of the pod is never confirmed.
      const node = '---\napiVersion: v1\nkind: Node\nmetadata:\n  name: lost-node\n';
      await cluster.apply(all + node);
      await cluster.apply(podYaml('lost', 'pod', { graceSeconds: 600 }).replace('spec:\n', 'spec:\n  nodeName: lost-node\n'));
      await cluster.eventually(
        'it has a port',
        async () => rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'pod.lost').length === 1,
      );
      await cluster.eventually(
        'it is allocated',
        async () => (await cluster.get('pod', 'pod', 'lost')).metadata.annotations?.['ovn.kubernetes.io/allocated'] === 'true',
      );
      await cluster.delete('pod', 'pod', 'lost');
      assert.notEqual(await cluster.find('ip', 'pod.lost'), undefined, 'it holds its address during its grace');
      // The grace period is shortened only after the check above, so that a slow check cannot outlast it.
      await cluster.kubectl(['delete', 'pod', 'pod', '-n', 'lost', '--grace-period=1', '--wait=false']);
      await untilDeleted(cluster, 'ip', 'pod.lost');
      assert.notEqual(await cluster.find('pod', 'pod', 'lost'), undefined, 'the pod is still there');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'pod.lost'), []);
      assert.equal((await cluster.get('subnet', 'lost-net')).status?.['v4usingIPs'], 0);
      await cluster.kubectl(['delete', 'pod', 'pod', '-n', 'lost', '--force', '--grace-period=0', '--wait=false']);
      await untilDeleted(cluster, 'pod', 'pod', 'lost');
      await cluster.removeAll(node + all);
    },
  },
];
