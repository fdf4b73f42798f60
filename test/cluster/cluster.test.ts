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
import { ask, deployment, inPod, nothingLeft, podsOf, rolledOut } from './workloads.ts';

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
