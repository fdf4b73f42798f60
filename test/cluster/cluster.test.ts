/** A whole Kubernetes, with containers, on our controller, node agent and CNI plugin; kube-proxy with nftables. In `kills.test.ts` it has iptables. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { eventually } from '../../src/testing/until.ts';
import { LONG_RUN } from '../../src/testing/long-run.ts';
import { startCluster } from './start-cluster.ts';
import {
  assertAllAnswer,
  assertKubectlReaches,
  assertScales,
  assertServices,
  assertTranslatedByNodes,
  gone,
  job,
  nothingLeft,
  podsOf,
  rolledOut,
  runWeb,
  webTemplate,
  workload,
} from './workloads.ts';

const programs = findNodePrograms();
const skip = typeof programs === 'string' && programs;
let cluster: KubernetesCluster;
let end = (): Promise<void> => Promise.resolve();

before(async () => {
  if (skip !== false) return;
  ({ cluster, end } = await startCluster({ proxy: 'nftables' }));
});
after(() => end());

test('pods of a Deployment run on both nodes and reach each other', { skip }, async () => {
  await runWeb(cluster);
  await nothingLeft(cluster);
});

test('exec, logs and port-forward', { skip }, () => assertKubectlReaches(cluster));

test('Services by kube-proxy and names by CoreDNS, from pods', { skip }, async () => void (await assertServices(cluster)));

test('what nodes translate themselves: a Local NodePort and a hostPort, asked by other nodes; no endpoints is refused', { skip }, () =>
  assertTranslatedByNodes(cluster),
);

test('StatefulSet, DaemonSet and Job', { skip }, async () => {
  const template = (app: string): object => ({ selector: { matchLabels: { app } }, template: webTemplate({ app }) });
  await cluster.apply(
    workload('StatefulSet', 'db', { replicas: 2, serviceName: 'db', ...template('db') }),
    workload('DaemonSet', 'every', template('every')),
    job('sums', 4, 'echo $((6 * 7))'),
  );
  await rolledOut(cluster, 'statefulset/db');
  await rolledOut(cluster, 'daemonset/every');
  await cluster.kubectl('wait', '--for=condition=complete', 'job/sums', '--timeout=600s');
  assert.equal(await cluster.kubectl('logs', '-l', 'app=sums', '--tail=-1'), '42\n'.repeat(4));
  assert.equal(new Set((await podsOf(cluster, 'every')).map(({ node }) => node)).size, 2);
  const address = async (): Promise<string> => (await podsOf(cluster, 'db')).find(({ name }) => name === 'db-0')?.addresses.join() ?? '';
  const earlier = await address();
  await cluster.kubectl('delete', 'pod', 'db-0');
  await rolledOut(cluster, 'statefulset/db');
  assert.equal(await address(), earlier, 'a pod of a StatefulSet keeps its address');
  // Pods of the Job that are done have no interface any more.
  await nothingLeft(cluster);
  await cluster.kubectl('delete', 'statefulset/db', 'daemonset/every', 'job/sums');
  for (const app of ['db', 'every', 'sums']) await gone(cluster, app);
  await nothingLeft(cluster);
});

test('0 to 40 pods and back, again and again', { skip }, () => assertScales(cluster, LONG_RUN ? 10 : 2));

test('a node is drained, removed, and joins again', { skip }, async () => {
  const everywhere = { selector: { matchLabels: { app: 'every' } }, template: webTemplate({ app: 'every' }) };
  await cluster.apply(workload('DaemonSet', 'every', everywhere));
  await rolledOut(cluster, 'daemonset/every');
  await cluster.kubectl('drain', 'node-2', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s');
  await rolledOut(cluster, 'deployment/web');
  assert.deepEqual(new Set((await podsOf(cluster, 'web')).map(({ node }) => node)), new Set(['node-1']));
  await nothingLeft(cluster);

  await cluster.removeNode('node-2');
  await cluster.kubectl('delete', 'node', 'node-2');
  const portOfNode = (): Promise<string> =>
    cluster.ovn.nbctl('--bare', '--columns=name', 'find', 'logical_switch_port', 'name=node-node-2');
  await eventually('the port of the node is deleted', async () => (await portOfNode()).trim() === '');
  // The pods of a machine that is gone are deleted by the pod garbage collector.
  await cluster.kubectl('delete', 'pod', '-l', 'app=every', '--field-selector=spec.nodeName=node-2', '--force', '--grace-period=0');
  await nothingLeft(cluster);

  await cluster.addNode(2);
  await cluster.kubectl('wait', '--for=condition=Ready', 'node/node-2', '--timeout=300s');
  await rolledOut(cluster, 'daemonset/every');
  await cluster.kubectl('scale', 'deployment/web', '--replicas=8');
  await rolledOut(cluster, 'deployment/web');
  const pods = [...(await podsOf(cluster, 'every')), ...(await podsOf(cluster, 'web'))];
  const ofDaemonSet = (await podsOf(cluster, 'every')).map(({ name }) => name);
  assert.equal(ofDaemonSet.length, 2);
  await assertAllAnswer(
    cluster,
    pods.filter(({ name }) => ofDaemonSet.includes(name)),
    pods,
  );
  const chassis = await cluster.ovn.sbctl('--bare', '--columns=hostname', 'list', 'chassis');
  assert.equal(chassis.split('\n').filter((line) => line.trim() !== '').length, 2, chassis);
  await cluster.kubectl('delete', 'daemonset/every', 'deployment/web', '--ignore-not-found');
  for (const app of ['every', 'web']) await gone(cluster, app);
  await nothingLeft(cluster);
});
