/** Clusters of IPv6 and of both families, and kube-proxy with nftables: pods, Services, names, probes and scaling as with IPv4. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Families } from '../../lab/cluster/families.ts';
import { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import type { ProxyMode } from '../../lab/cluster/node-files.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { buildExecutable } from '../../scripts/build/executable.ts';
import { eventually } from '../../src/testing/until.ts';
import { ask, deployment, gone, inPod, nothingLeft, podsOf, rolledOut, service, statefulSet, traces } from './workloads.ts';

const VARIANTS: readonly { readonly families: Families; readonly proxy: ProxyMode; readonly count: number }[] = [
  { families: 'ipv6', proxy: 'nftables', count: 1 },
  { families: 'dual', proxy: 'iptables', count: 2 },
  { families: 'ipv4', proxy: 'nftables', count: 1 },
];

const programs = findNodePrograms();
const skip = typeof programs === 'string' && programs;

for (const { families, proxy, count } of VARIANTS)
  describe(`${families}, kube-proxy with ${proxy}`, { skip }, () => {
    let cluster: KubernetesCluster;
    let folder: string;
    before(async () => {
      folder = await makeTemporaryFolder('kiln-plugin-');
      const plugin = join(folder, 'kiln-cni');
      await buildExecutable('src/cni/main.ts', plugin);
      cluster = await KubernetesCluster.start({ plugin, families, proxy });
    });
    after(async () => {
      await cluster?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    });

    test('pods of both nodes reach each other by every address, their probes pass, and the nodes reach them', async () => {
      await cluster.apply(deployment('web', 4));
      await rolledOut(cluster, 'deployment/web');
      const pods = await podsOf(cluster, 'web');
      assert.equal(new Set(pods.map(({ node }) => node)).size, 2, 'on both nodes');
      for (const pod of pods) {
        assert.equal(pod.addresses.length, count, `addresses of ${pod.name}: ${pod.addresses.join()}`);
        const answers = await inPod(cluster, pod, pods.flatMap(({ addresses }) => addresses.map((address) => ask(address))).join('; '));
        assert.deepEqual(
          answers.split('\n'),
          pods.flatMap(({ name, addresses }) => addresses.map(() => name)),
        );
        for (const node of cluster.nodes)
          for (const address of pod.addresses) await node.machine.run('ping', '-n', '-c', '1', '-w', '5', address);
      }
      await nothingLeft(cluster);
    });

    test('exec, logs and port-forward', async () => {
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

    test('Services of every family by kube-proxy, and names by CoreDNS, from pods', async () => {
      const both = families === 'dual' ? { ipFamilyPolicy: 'RequireDualStack' } : {};
      await cluster.apply(service('web', 'web', both));
      await rolledOut(cluster, 'deployment/coredns', 'kube-system');
      const { spec } = JSON.parse(await cluster.kubectl('get', 'service', 'web', '--output=json')) as {
        readonly spec: { readonly clusterIPs: readonly string[] };
      };
      assert.equal(spec.clusterIPs.length, count);
      const pods = await podsOf(cluster, 'web');
      const names = new Set(pods.map(({ name }) => name));
      for (const pod of pods)
        for (const target of ['web.default.svc.cluster.local', ...spec.clusterIPs])
          await eventually(`pod ${pod.name} on ${pod.node} reaches ${target}`, async () => {
            return names.has(await inPod(cluster, pod, ask(target, 80)));
          });
    });

    test('a pod of a StatefulSet keeps its addresses; 0 to 40 pods and back leave nothing', async () => {
      await cluster.apply(statefulSet('db', 1));
      await rolledOut(cluster, 'statefulset/db');
      const [earlier] = await podsOf(cluster, 'db');
      await cluster.kubectl('delete', 'pod', 'db-0');
      await rolledOut(cluster, 'statefulset/db');
      const [later] = await podsOf(cluster, 'db');
      assert.deepEqual(later?.addresses, earlier?.addresses);
      await cluster.kubectl('delete', 'statefulset/db');
      await gone(cluster, 'db');
      await nothingLeft(cluster);
      const before = await traces(cluster);
      await cluster.apply(deployment('many', 40));
      await rolledOut(cluster, 'deployment/many');
      await nothingLeft(cluster);
      const addresses = (await podsOf(cluster, 'many')).flatMap((pod) => pod.addresses);
      assert.equal(new Set(addresses).size, 40 * count, 'each has addresses of its own');
      await cluster.kubectl('scale', 'deployment/many', '--replicas=0');
      await gone(cluster, 'many');
      await nothingLeft(cluster);
      await eventually('routes, rules and devices are as before', async () => {
        assert.equal(await traces(cluster), before);
        return true;
      });
    });
  });
