/** Pods with secondary interfaces: networks of OVN, and addresses that are allocated for other CNI plugins. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { port, rowsNamed, traces } from './northbound.ts';
import { condition, untilDeleted, namespaceYaml, podYaml, deletePod, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

export const NETWORKS = 'k8s.v1.cni.cncf.io/networks';

export function attachmentYaml(namespace: string, name: string, config: string): string {
  return `---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: ${name}, namespace: ${namespace}}
spec: {config: '${config}'}
`;
}

const network = (name: string, cidr: string): string =>
  namespaceYaml(name) +
  vpcYaml(name) +
  attachmentYaml(name, 'fast', '{"cniVersion":"0.3.0","type":"kube-ovn"}') +
  attachmentYaml(name, 'wide', '{"cniVersion":"0.3.0","type":"macvlan","ipam":{"type":"kube-ovn"}}') +
  subnetYaml(`${name}-own`, { vpc: name, cidrBlock: `${cidr}.0.0/24`, namespaces: [name] }) +
  subnetYaml(`${name}-fast`, { vpc: name, cidrBlock: `${cidr}.1.0/24`, provider: `fast.${name}.ovn` }) +
  subnetYaml(`${name}-wide`, { cidrBlock: `${cidr}.2.0/24`, provider: `wide.${name}` });

async function annotations(cluster: ScenarioCluster, namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
  return (await cluster.get('pod', name, namespace)).metadata.annotations ?? {};
}

export const attachments: readonly Scenario[] = [
  {
    name: 'C21 addresses for other plugins: more pods come and go than there are addresses, and no address remains in use',
    run: async (cluster) => {
      const all =
        namespaceYaml('c21') +
        vpcYaml('c21') +
        attachmentYaml('c21', 'wide', '{"cniVersion":"0.3.0","type":"macvlan","ipam":{"type":"kube-ovn"}}') +
        subnetYaml('c21-own', { vpc: 'c21', cidrBlock: '10.176.0.0/24', namespaces: ['c21'] }) +
        subnetYaml('c21-wide', { cidrBlock: '10.176.1.0/29', provider: 'wide.c21' });
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'c21-wide', 'Ready', 'True');
      const names = ['a', 'b', 'c', 'd', 'e'];
      // Five addresses fill the network; four rounds allocate more than twice its size.
      for (let round = 0; round < 4; round++) {
        await cluster.apply(names.map((name) => podYaml('c21', name, { annotations: { [NETWORKS]: 'wide' } })).join(''));
        for (const name of names) await running(cluster, 'c21', name);
        await cluster.kubectl(['delete', 'pods', '--all', '-n', 'c21', '--wait=false']);
        for (const name of names) await untilDeleted(cluster, 'ip', `${name}.c21.wide.c21`);
      }
      await cluster.apply(podYaml('c21', 'last', { annotations: { [NETWORKS]: 'wide' } }));
      await running(cluster, 'c21', 'last');
      await cluster.converged();
      assert.equal((await cluster.get('subnet', 'c21-wide')).status?.['v4usingIPs'], 1);
      assert.deepEqual(traces(await cluster.dump(), 'wide.c21'), []);
      await deletePod(cluster, 'c21', 'last');
      await cluster.converged();
      const { v4usingIPs, v4availableIPs } = (await cluster.get('subnet', 'c21-wide')).status ?? {};
      assert.deepEqual([v4usingIPs, v4availableIPs], [0, 5]);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a pod starts with two attached networks, is detached from both and attached again',
    run: async (cluster) => {
      const all = network('multi', '10.160');
      const request = { annotations: { [NETWORKS]: 'fast,wide', 'fast.multi.kubernetes.io/ip_address.net1': '10.160.1.99' } };
      await cluster.apply(all + podYaml('multi', 'web', request));
      await running(cluster, 'multi', 'web');
      const first = await annotations(cluster, 'multi', 'web');
      assert.equal(first['fast.multi.ovn.kubernetes.io/ip_address'], '10.160.1.2');
      assert.equal(first['wide.multi.kubernetes.io/ip_address'], '10.160.2.2');
      assert.equal(first['wide.multi.kubernetes.io/mac_address'], undefined);
      const dump = await cluster.dump();
      assert.match(String(port(dump, 'web.multi.fast.multi.ovn')['addresses']), / 10\.160\.1\.2$/);
      assert.deepEqual(rowsNamed(dump, 'Logical_Switch_Port', 'web.multi.wide.multi'), []);

      await cluster.kubectl(['annotate', 'pod', 'web', '-n', 'multi', `${NETWORKS}-`]);
      await untilDeleted(cluster, 'ip', 'web.multi.fast.multi.ovn');
      await untilDeleted(cluster, 'ip', 'web.multi.wide.multi');
      await cluster.converged();
      const left = Object.keys(await annotations(cluster, 'multi', 'web')).filter((key) => /^(fast\.multi\.ovn|wide\.multi)\./.test(key));
      assert.deepEqual(left, []);
      assert.equal((await cluster.get('subnet', 'multi-wide')).status?.['v4usingIPs'], 0);

      await cluster.kubectl(['annotate', 'pod', 'web', '-n', 'multi', `${NETWORKS}=fast@net1,fast@net2`]);
      await cluster.eventually('both interfaces are allocated', async () => {
        const found = await annotations(cluster, 'multi', 'web');
        return ['net1', 'net2'].every((name) => found[`fast.multi.ovn.${name}.kubernetes.io/allocated`] === 'true');
      });
      assert.match(String(port(await cluster.dump(), 'web.multi.fast.multi.ovn.net1')['addresses']), / 10\.160\.1\.99$/);
      await deletePod(cluster, 'multi', 'web');
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'multi'), []);
    },
  },
  {
    alone: true,
    name: 'C09 a network deleted before its Subnet and its pod removes no other object and leaves no row, through a restart',
    run: async (cluster) => {
      const all = network('c09', '10.161');
      await cluster.apply(all + podYaml('c09', 'web', { annotations: { [NETWORKS]: 'fast,wide' } }));
      await running(cluster, 'c09', 'web');
      const before = await annotations(cluster, 'c09', 'web');
      for (const name of ['fast', 'wide']) await cluster.delete('network-attachment-definition', name, 'c09');
      for (const name of ['c09-own', 'c09-fast', 'c09-wide']) await cluster.delete('subnet', name);
      assert.match((await condition(cluster, 'subnet', 'c09-wide', 'DeletionBlocked', 'True')).message, /IP web\.c09\.wide\.c09/);
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.converged();
      assert.deepEqual(await annotations(cluster, 'c09', 'web'), before);
      await cluster.delete('pod', 'web', 'c09');
      for (const name of ['c09-own', 'c09-fast', 'c09-wide']) await untilDeleted(cluster, 'subnet', name);
      await cluster.delete('vpc', 'c09');
      await untilDeleted(cluster, 'vpc', 'c09');
      await cluster.delete('namespace', 'c09');
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c09'), []);
    },
  },
];
