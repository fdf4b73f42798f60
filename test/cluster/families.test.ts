/** Clusters of IPv6 and of both families: pods, Services, names, probes and scaling as with IPv4 (`cluster.test.ts`, `kills.test.ts`). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Families } from '../../lab/cluster/families.ts';
import type { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import type { ProxyMode } from '../../lab/cluster/node-files.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { startCluster } from './start-cluster.ts';
import {
  assertKubectlReaches,
  assertScales,
  assertServices,
  gone,
  nothingLeft,
  podsOf,
  rolledOut,
  runWeb,
  statefulSet,
} from './workloads.ts';

const VARIANTS: readonly { readonly families: Families; readonly proxy: ProxyMode; readonly count: number }[] = [
  { families: 'ipv6', proxy: 'nftables', count: 1 },
  { families: 'dual', proxy: 'iptables', count: 2 },
];

const programs = findNodePrograms();
const skip = typeof programs === 'string' && programs;

for (const { families, proxy, count } of VARIANTS)
  describe(`${families}, kube-proxy with ${proxy}`, { skip }, () => {
    let cluster: KubernetesCluster;
    let end = (): Promise<void> => Promise.resolve();
    before(async () => {
      ({ cluster, end } = await startCluster({ families, proxy }));
    });
    after(() => end());

    test('pods of both nodes reach each other by every address, their probes pass, and the nodes reach them', async () => {
      for (const { name, addresses } of await runWeb(cluster)) {
        assert.equal(addresses.length, count, `addresses of ${name}: ${addresses.join()}`);
        for (const node of cluster.nodes)
          for (const address of addresses) await node.machine.run('ping', '-n', '-c', '1', '-w', '5', address);
      }
      await nothingLeft(cluster);
    });

    test('exec, logs and port-forward', () => assertKubectlReaches(cluster));

    test('Services of every family by kube-proxy, and names by CoreDNS, from pods', async () => {
      const both = families === 'dual' ? { ipFamilyPolicy: 'RequireDualStack' } : {};
      assert.equal((await assertServices(cluster, both)).length, count);
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
      await assertScales(cluster, 1, count);
    });
  });
