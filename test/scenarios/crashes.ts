/** Processes that are killed at the worst time. In the end everything is correct, and nothing exists twice. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { traces } from './northbound.ts';
import { condition, untilDeleted, namespaceYaml, podYaml, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const network = (name: string, cidrBlock: string): string =>
  vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name] }) + namespaceYaml(name);

const podsYaml = (namespace: string, prefix: string, count: number): string =>
  Array.from({ length: count }, (_, i) => podYaml(namespace, `${prefix}-${i}`)).join('');

async function allRun(cluster: ScenarioCluster, namespace: string, count: number): Promise<readonly string[]> {
  return await cluster.eventually(`${count} pods of ${namespace} run`, async () => {
    const printed = await cluster.kubectl([
      'get',
      'pods',
      '-n',
      namespace,
      '-o',
      'jsonpath={range .items[*]}{.status.phase} {.status.podIP}{"\\n"}{end}',
    ]);
    const lines = printed.split('\n').filter((line) => line.startsWith('Running '));
    if (lines.length !== count) throw new Error(`${lines.length} run`);
    return lines.map((line) => line.slice('Running '.length));
  });
}

async function noneTwice(cluster: ScenarioCluster, name: string, addresses: readonly string[]): Promise<void> {
  assert.equal(new Set(addresses).size, addresses.length, 'no address twice');
  await cluster.converged();
  const ports = (await cluster.rows('Logical_Switch_Port')).filter((row) => String(row['name']).endsWith(`.${name}`));
  assert.equal(ports.length, addresses.length);
  assert.equal((await cluster.get('subnet', `${name}-net`)).status?.['v4usingIPs'], addresses.length);
}

async function clean(cluster: ScenarioCluster, name: string): Promise<void> {
  await cluster.removeAll(network(name, ''));
  await cluster.converged();
  assert.deepEqual(
    (await cluster.names('ip')).filter((each) => each.endsWith(`.${name}`)),
    [],
  );
  assert.deepEqual(traces(await cluster.dump(), `${name}-net`), []);
}

export const crashes: readonly Scenario[] = [
  {
    name: 'kill -9 of the controller again and again while 60 pods come and go',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('storm', '10.100.0.0/24'));
      await condition(cluster, 'subnet', 'storm-net', 'Ready', 'True');
      const creating = cluster.apply(podsYaml('storm', 'a', 60));
      for (let round = 0; round < 3; round++) {
        await sleep(150 + Math.random() * 900);
        await cluster.controller.kill9();
        cluster.startController();
      }
      await creating;
      await noneTwice(cluster, 'storm', await allRun(cluster, 'storm', 60));
      const deleting = cluster.kubectl(['delete', 'pods', '--all', '-n', 'storm', '--wait=false']);
      const again = cluster.apply(podsYaml('storm', 'b', 30));
      for (let round = 0; round < 2; round++) {
        await sleep(150 + Math.random() * 900);
        await cluster.controller.kill9();
        cluster.startController();
      }
      await deleting;
      await again;
      await cluster.kubectl([
        'delete',
        'pods',
        '-n',
        'storm',
        '--wait=false',
        '--ignore-not-found',
        ...Array.from({ length: 60 }, (_, i) => `a-${i}`),
      ]);
      await untilDeleted(cluster, 'pod', 'a-59', 'storm');
      // `delete --all` may also have deleted pods of the new set. A pod that is applied while it is being deleted is not created again.
      await cluster.eventually('none goes any more', async () => {
        const marks = ['-o', 'jsonpath={.items[*].metadata.deletionTimestamp}'];
        return (await cluster.kubectl(['get', 'pods', '-n', 'storm', ...marks])) === '';
      });
      await cluster.apply(podsYaml('storm', 'b', 30));
      await noneTwice(cluster, 'storm', await allRun(cluster, 'storm', 30));
      await clean(cluster, 'storm');
    },
  },
  {
    name: 'kill -9 of the Northbound ovsdb-server while 40 pods are bound',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('nbdies', '10.101.0.0/24'));
      await condition(cluster, 'subnet', 'nbdies-net', 'Ready', 'True');
      const creating = cluster.apply(podsYaml('nbdies', 'pod', 40));
      for (let round = 0; round < 2; round++) {
        await sleep(200 + Math.random() * 500);
        await cluster.ovn.kill('nb');
        await sleep(300);
        await cluster.ovn.restart('nb');
      }
      await creating;
      await noneTwice(cluster, 'nbdies', await allRun(cluster, 'nbdies', 40));
      await clean(cluster, 'nbdies');
    },
  },
  {
    name: 'kill -9 of kube-apiserver while 40 pods are bound',
    alone: true,
    only: 'real',
    run: async (cluster) => {
      await cluster.apply(network('apidies', '10.102.0.0/24') + podsYaml('apidies', 'pod', 40));
      await cluster.api.real?.kill('kube-apiserver');
      await sleep(500);
      await cluster.api.real?.restart('kube-apiserver');
      await cluster.eventually('the API server answers', async () => (await cluster.names('namespace')).includes('apidies'));
      await cluster.apply(podsYaml('apidies', 'pod', 40));
      await noneTwice(cluster, 'apidies', await allRun(cluster, 'apidies', 40));
      await clean(cluster, 'apidies');
    },
  },
];
