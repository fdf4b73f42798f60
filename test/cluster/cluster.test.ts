/** A whole Kubernetes, with containers, on our controller, node agent and CNI plugin. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { buildExecutable } from '../../scripts/build/executable.ts';
import { eventually } from '../../src/testing/until.ts';
import { LONG_RUN } from '../../src/testing/long-run.ts';
import { ask, deployment, gone, inPod, job, nothingLeft, podsOf, rolledOut, service, traces, webTemplate, workload } from './workloads.ts';

const programs = findNodePrograms();
const skip = typeof programs === 'string' && programs;
let cluster: KubernetesCluster;
let folder: string;

before(async () => {
  if (skip !== false) return;
  folder = await makeTemporaryFolder('kiln-plugin-');
  const plugin = join(folder, 'kiln-cni');
  await buildExecutable('src/cni/main.ts', plugin);
  cluster = await KubernetesCluster.start({ plugin });
});
after(async () => {
  if (skip !== false) return;
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

test('pods of a Deployment run on both nodes and reach each other', { skip }, async () => {
  await cluster.apply(deployment('web', 4));
  await rolledOut(cluster, 'deployment/web');
  const pods = await podsOf(cluster, 'web');
  assert.equal(new Set(pods.map(({ node }) => node)).size, 2, 'on both nodes');
  for (const pod of pods) {
    const addresses = pods.flatMap((other) => other.addresses);
    const names = await inPod(cluster, pod, addresses.map((address) => ask(address)).join('; '));
    assert.deepEqual(
      names.split('\n'),
      pods.map(({ name }) => name),
    );
  }
  await nothingLeft(cluster);
});

test('exec, logs and port-forward', { skip }, async () => {
  const [pod] = await podsOf(cluster, 'web');
  assert.ok(pod);
  assert.equal(await inPod(cluster, pod, 'hostname'), pod.name);
  assert.match(await cluster.kubectl('logs', pod.name), /^serving$/m);
  const kubectl = findKubernetesProgram('kubectl') ?? 'kubectl';
  const forward = spawn(kubectl, [`--kubeconfig=${cluster.control.kubeconfig}`, 'port-forward', `pod/${pod.name}`, ':8080'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let printed = '';
    forward.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const port = await eventually('kubectl forwards', () => /127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);
    assert.equal((await (await fetch(`http://127.0.0.1:${port}/`)).text()).trim(), pod.name);
  } finally {
    forward.kill();
  }
});

test('Services by kube-proxy and names by CoreDNS, from pods', { skip }, async () => {
  await cluster.apply(service('web', 'web'));
  await rolledOut(cluster, 'deployment/coredns', 'kube-system');
  const pods = await podsOf(cluster, 'web');
  const names = new Set(pods.map(({ name }) => name));
  for (const pod of pods)
    await eventually(`pod ${pod.name} on ${pod.node} reaches the Service by its name`, async () => {
      const answer = await inPod(cluster, pod, ask('web.default.svc.cluster.local', 80));
      return names.has(answer);
    });
});

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

test('0 to 40 pods and back, again and again', { skip }, async () => {
  await cluster.apply(deployment('many', 0));
  const before = await traces(cluster);
  for (let round = 0; round < (LONG_RUN ? 10 : 2); round++) {
    await cluster.kubectl('scale', 'deployment/many', '--replicas=40');
    await rolledOut(cluster, 'deployment/many');
    await nothingLeft(cluster);
    const addresses = (await podsOf(cluster, 'many')).flatMap((pod) => pod.addresses);
    assert.equal(new Set(addresses).size, 40, 'each has an address of its own');
    await cluster.kubectl('scale', 'deployment/many', '--replicas=0');
    await gone(cluster, 'many');
    await nothingLeft(cluster);
    await eventually('routes, rules and devices are as before', async () => {
      assert.equal(await traces(cluster), before);
      return true;
    });
  }
});

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
  for (const pod of pods.filter(({ name }) => ofDaemonSet.includes(name))) {
    const answers = await inPod(cluster, pod, pods.flatMap(({ addresses }) => addresses.map((address) => ask(address))).join('; '));
    assert.deepEqual(
      answers.split('\n'),
      pods.map(({ name }) => name),
      `from ${pod.node}`,
    );
  }
  const chassis = await cluster.ovn.sbctl('--bare', '--columns=hostname', 'list', 'chassis');
  assert.equal(chassis.split('\n').filter((line) => line.trim() !== '').length, 2, chassis);
  await cluster.kubectl('delete', 'daemonset/every', 'deployment/web', '--ignore-not-found');
  for (const app of ['every', 'web']) await gone(cluster, app);
  await nothingLeft(cluster);
});
