/** Concurrent changes. Whichever is observed first, the result is the same. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { rowsNamed, traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const network = (name: string, cidrBlock: string): string =>
  vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name] }) + namespaceYaml(name);

async function nothingLeft(cluster: ScenarioCluster, name: string): Promise<void> {
  await cluster.converged();
  assert.deepEqual(
    (await cluster.names('ip')).filter((each) => each.includes(name)),
    [],
  );
  assert.deepEqual(traces(await cluster.dump(), name), []);
}

export const races: readonly Scenario[] = [
  {
    name: 'kill -9 in the middle of a deletion: Vpc, Subnets, pods and namespaces go nevertheless',
    alone: true,
    run: async (cluster) => {
      const subnets = [1, 2, 3]
        .map((i) => subnetYaml(`cut-net-${i}`, { vpc: 'cut', cidrBlock: `10.160.${i}.0/24`, namespaces: [`cut-${i}`] }))
        .join('');
      const all = vpcYaml('cut') + subnets + [1, 2, 3].map((i) => namespaceYaml(`cut-${i}`)).join('');
      const pods = [1, 2, 3].flatMap((i) => ['a', 'b', 'c'].map((name) => podYaml(`cut-${i}`, name))).join('');
      await cluster.apply(all + pods);
      for (const i of [1, 2, 3]) await running(cluster, `cut-${i}`, 'c');
      await cluster.deleteAll(all + pods);
      for (let round = 0; round < 2; round++) {
        await sleep(Math.random() * 300);
        await cluster.controller.kill9();
        cluster.startController();
        await sleep(300);
      }
      for (const i of [1, 2, 3]) await untilDeleted(cluster, 'subnet', `cut-net-${i}`);
      await untilDeleted(cluster, 'vpc', 'cut');
      await nothingLeft(cluster, 'cut');
    },
  },
  {
    name: 'C31, C87 pods, Subnets and a Vpc come and go while no controller runs: the next one continues as if it had observed that',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('gap', '10.161.0.0/24') + podYaml('gap', 'goes') + podYaml('gap', 'stays'));
      const stays = await addressOf(cluster, 'gap', 'stays');
      const goes = await addressOf(cluster, 'gap', 'goes');
      await cluster.converged();
      await cluster.controller.kill9();
      await cluster.delete('pod', 'goes', 'gap');
      await untilDeleted(cluster, 'pod', 'goes', 'gap');
      await cluster.apply(
        podYaml('gap', 'comes', { annotations: { 'ovn.kubernetes.io/ip_address': goes } }) +
          vpcYaml('gap-two') +
          subnetYaml('gap-two-net', { vpc: 'gap-two', cidrBlock: '10.161.0.0/24' }),
      );
      await cluster.patch('vpc', 'gap', { spec: { staticRoutes: [{ cidr: '10.250.0.0/16', nextHopIP: '10.161.0.9' }] } });
      await cluster.ovn.nbctl('lsp-del', 'stays.gap');
      cluster.startController();
      assert.equal(await addressOf(cluster, 'gap', 'comes'), goes, 'a static address of a pod that went in the gap is free');
      await condition(cluster, 'subnet', 'gap-two-net', 'Ready', 'True');
      await cluster.converged();
      const dump = await cluster.dump();
      assert.equal(rowsNamed(dump, 'Logical_Switch_Port', 'goes.gap').length, 0);
      assert.match(
        String(rowsNamed(dump, 'Logical_Switch_Port', 'stays.gap')[0]?.['addresses']),
        new RegExp(`${stays.replaceAll('.', '\\.')}$`),
      );
      await cluster.removeAll(vpcYaml('gap-two') + subnetYaml('gap-two-net', {}) + network('gap', ''));
      await nothingLeft(cluster, 'gap');
    },
  },
  {
    name: 'two Vpcs linked to each other are deleted together; one whose peer is gone reports it and works',
    run: async (cluster) => {
      const all =
        vpcYaml('peer-a', { vpcPeerings: [{ remoteVpc: 'peer-b', localConnectIP: '169.254.7.1/30' }] }) +
        vpcYaml('peer-b', { vpcPeerings: [{ remoteVpc: 'peer-a', localConnectIP: '169.254.7.2/30' }] }) +
        subnetYaml('peer-a-net', { vpc: 'peer-a', cidrBlock: '10.162.0.0/24' });
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'peer-a-net', 'Ready', 'True');
      await cluster.converged();
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Router_Port', 'peer-b-peer-a').length, 1);
      await cluster.kubectl(['delete', 'vpc', 'peer-b', '--timeout=120s']);
      await condition(cluster, 'subnet', 'peer-a-net', 'Ready', 'True');
      await cluster.converged();
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Router_Port', 'peer-b-peer-a').length, 0);
      await cluster.apply(vpcYaml('peer-b', { vpcPeerings: [{ remoteVpc: 'peer-a', localConnectIP: '169.254.7.2/30' }] }));
      await cluster.eventually(
        'the link is back',
        async () => rowsNamed(await cluster.dump(), 'Logical_Router_Port', 'peer-b-peer-a').length === 1,
      );
      await cluster.removeAll(all);
      await nothingLeft(cluster, 'peer-');
    },
  },
  {
    name: 'a Subnet that is being deleted does not take a new pod; recreated, it takes the pod that waited',
    run: async (cluster) => {
      await cluster.apply(
        network('closing', '10.163.0.0/24') + vpcYaml('closing', { namespaces: ['closing'] }) + podYaml('closing', 'old'),
      );
      await running(cluster, 'closing', 'old');
      await cluster.delete('subnet', 'closing-net');
      await condition(cluster, 'subnet', 'closing-net', 'DeletionBlocked', 'True');
      await cluster.apply(podYaml('closing', 'new'));
      const { message } = await condition(cluster, 'pod', 'new', 'kiln.io/NetworkBound', 'False', 'closing');
      assert.match(message, /closing-net/);
      await cluster.delete('pod', 'old', 'closing');
      await untilDeleted(cluster, 'subnet', 'closing-net');
      await cluster.apply(subnetYaml('closing-net', { vpc: 'closing', cidrBlock: '10.163.0.0/24', namespaces: ['closing'] }));
      assert.match(await addressOf(cluster, 'closing', 'new'), /^10\.163\.0\./, 'a namespace that a Vpc claims waits for its Subnet');
      await cluster.removeAll(network('closing', ''));
      await nothingLeft(cluster, 'closing');
    },
  },
  {
    name: 'one manifest has the same address and MAC twice, a network address, and the gateway: one pod runs, each other reports its reason',
    run: async (cluster) => {
      const ask = (ip: string, mac = ''): { readonly annotations: Readonly<Record<string, string>> } => ({
        annotations: { 'ovn.kubernetes.io/ip_address': ip, ...(mac !== '' && { 'ovn.kubernetes.io/mac_address': mac }) },
      });
      await cluster.apply(network('twice', '10.164.0.0/24'));
      await condition(cluster, 'subnet', 'twice-net', 'Ready', 'True');
      await cluster.apply(
        podYaml('twice', 'one', ask('10.164.0.5', '0a:00:00:00:01:64')) +
          podYaml('twice', 'two', ask('10.164.0.6', '0a:00:00:00:01:64')) +
          podYaml('twice', 'net', ask('10.164.0.0')) +
          podYaml('twice', 'gw', ask('10.164.0.1')) +
          podYaml('twice', 'last', ask('10.164.0.255')),
      );
      await running(cluster, 'twice', 'one');
      for (const name of ['two', 'net', 'gw', 'last']) {
        const { message } = await condition(cluster, 'pod', name, 'kiln.io/NetworkBound', 'False', 'twice');
        assert.match(message, name === 'two' ? /0a:00:00:00:01:64/ : /10\.164\.0\.(0|1|255)/);
      }
      await cluster.converged();
      assert.equal((await cluster.get('subnet', 'twice-net')).status?.['v4usingIPrange'], '10.164.0.5');
      await cluster.removeAll(network('twice', ''));
      await nothingLeft(cluster, 'twice');
    },
  },
  {
    name: 'another program rewrites NB_Global with its term: the controller takes its term again and continues',
    alone: true,
    run: async (cluster) => {
      await cluster.ovn.nbctl(
        'set',
        'NB_Global',
        '.',
        'external_ids:other=1',
        '--',
        'remove',
        'NB_Global',
        '.',
        'external_ids',
        'kiln.io/term',
      );
      await cluster.apply(network('term', '10.165.0.0/24') + podYaml('term', 'pod'));
      await running(cluster, 'term', 'pod');
      await cluster.converged();
      await cluster.ovn.nbctl('remove', 'NB_Global', '.', 'external_ids', 'other');
      await cluster.removeAll(network('term', ''));
    },
  },
];
