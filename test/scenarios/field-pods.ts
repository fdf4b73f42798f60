/** Histories from the field (docs/evidence/field-histories.md): addresses of pods and their workloads. */
import assert from 'node:assert/strict';
import { attachmentYaml, NETWORKS } from './attachments.ts';
import { port, rowsNamed } from './northbound.ts';
import {
  addressOf,
  condition,
  untilDeleted,
  namespaceYaml,
  podYaml,
  setPodStatus,
  deletePod,
  running,
  subnetYaml,
  tenantYaml,
  vpcYaml,
} from './pods.ts';
import type { Scenario } from './scenario.ts';
import { runningPods, statefulSet } from './workloads.ts';

const BOUND = 'kiln.io/NetworkBound';
const requests = (address: string): Readonly<Record<string, string>> => ({ 'ovn.kubernetes.io/ip_address': address });
const using = async (cluster: Parameters<Scenario['run']>[0], subnet: string): Promise<readonly unknown[]> => {
  await cluster.converged();
  const { status } = await cluster.get('subnet', subnet);
  return [status?.['v4usingIPs'], status?.['v4usingIPrange']];
};

export const fieldPods: readonly Scenario[] = [
  {
    name: "H01 another pod has the address of a Job's completed pod when the Job is deleted, and keeps it",
    run: async (cluster) => {
      const all = tenantYaml('h01', '10.210.0.0/29');
      await cluster.apply(all + podYaml('h01', 'job', { restartPolicy: 'Never', annotations: requests('10.210.0.4') }));
      await running(cluster, 'h01', 'job');
      await setPodStatus(cluster, 'h01', 'job', { phase: 'Succeeded' });
      await untilDeleted(cluster, 'ip', 'job.h01');
      await cluster.apply(podYaml('h01', 'heir', { annotations: requests('10.210.0.4') }));
      assert.equal(await addressOf(cluster, 'h01', 'heir'), '10.210.0.4');
      const { uid } = (await cluster.get('ip', 'heir.h01')).metadata;
      await cluster.delete('pod', 'job', 'h01');
      await untilDeleted(cluster, 'pod', 'job', 'h01');
      assert.deepEqual(await using(cluster, 'h01-net'), [1, '10.210.0.4']);
      assert.equal((await cluster.get('ip', 'heir.h01')).metadata.uid, uid);
      assert.match(String(port(await cluster.dump(), 'heir.h01')['addresses']), / 10\.210\.0\.4$/);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H02 a host-network pod that names an address and a Subnet gets none, and another pod has that address',
    run: async (cluster) => {
      const all = tenantYaml('h02', '10.211.0.0/29');
      const annotations = { ...requests('10.211.0.3'), 'ovn.kubernetes.io/logical_switch': 'h02-net' };
      await cluster.apply(all + podYaml('h02', 'agent', { annotations }).replace('spec:\n', 'spec:\n  hostNetwork: true\n'));
      await cluster.eventually('it runs', async () => (await cluster.get('pod', 'agent', 'h02')).status?.['phase'] === 'Running');
      await cluster.apply(podYaml('h02', 'web', { annotations: requests('10.211.0.3') }));
      assert.equal(await addressOf(cluster, 'h02', 'web'), '10.211.0.3');
      assert.deepEqual(await using(cluster, 'h02-net'), [1, '10.211.0.3']);
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'agent.h02'), []);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H03 only a pod that names an excluded address gets it, also when it is free again, and after its pool was created or edited',
    run: async (cluster) => {
      const all = tenantYaml('h03', '10.212.0.0/29', { excludeIps: ['10.212.0.2..10.212.0.4'] });
      await cluster.apply(all + podYaml('h03', 'named', { annotations: requests('10.212.0.3') }));
      assert.equal(await addressOf(cluster, 'h03', 'named'), '10.212.0.3');
      await deletePod(cluster, 'h03', 'named');
      const pool = `---\napiVersion: kubeovn.io/v1\nkind: IPPool\nmetadata: {name: h03-pool}\nspec: {subnet: h03-net, ips: [10.212.0.6]}\n`;
      await cluster.apply(pool + podYaml('h03', 'any'));
      assert.equal(await addressOf(cluster, 'h03', 'any'), '10.212.0.5');
      await cluster.apply(podYaml('h03', 'more'));
      await condition(cluster, 'pod', 'more', BOUND, 'False', 'h03');
      await cluster.kubectl(['delete', 'ippool', 'h03-pool', '--timeout=120s']);
      assert.equal(await addressOf(cluster, 'h03', 'more'), '10.212.0.6');
      assert.deepEqual(await using(cluster, 'h03-net'), [2, '10.212.0.5-10.212.0.6']);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H04 excluded addresses are added and removed under running pods: no address is in use twice, the ranges are exact, and no pod gets the broadcast address',
    run: async (cluster) => {
      const all = tenantYaml('h04', '10.213.0.0/29');
      await cluster.apply(all + podYaml('h04', 'a') + podYaml('h04', 'b'));
      const had = [await addressOf(cluster, 'h04', 'a'), await addressOf(cluster, 'h04', 'b')];
      await cluster.patch('subnet', 'h04-net', { spec: { excludeIps: ['10.213.0.2..10.213.0.5'] } });
      await cluster.converged();
      await cluster.patch('subnet', 'h04-net', { spec: { excludeIps: ['10.213.0.5'] } });
      await cluster.converged();
      await cluster.patch('subnet', 'h04-net', { spec: { excludeIps: [] } });
      await cluster.apply(['c', 'd', 'e', 'f'].map((name) => podYaml('h04', name)).join(''));
      const four = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => addressOf(cluster, 'h04', name)));
      assert.deepEqual(four.slice(0, 2), had);
      assert.equal(new Set(four).size, 5);
      const { reason } = await condition(cluster, 'pod', 'f', BOUND, 'False', 'h04');
      assert.equal(reason, 'NoAvailableAddress');
      assert.deepEqual(await using(cluster, 'h04-net'), [5, '10.213.0.2-10.213.0.6']);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H05 a pod that waits for an address is deleted: it goes, leaves no row, and the next pod gets its turn',
    run: async (cluster) => {
      const all = tenantYaml('h05', '10.214.0.0/30');
      await cluster.apply(all + podYaml('h05', 'has'));
      await running(cluster, 'h05', 'has');
      await cluster.apply(podYaml('h05', 'waits'));
      await condition(cluster, 'pod', 'waits', BOUND, 'False', 'h05');
      await cluster.apply(podYaml('h05', 'next'));
      await condition(cluster, 'pod', 'next', BOUND, 'False', 'h05');
      await cluster.kubectl(['delete', 'pod', 'waits', '-n', 'h05', '--timeout=120s']);
      await deletePod(cluster, 'h05', 'has');
      assert.equal(await addressOf(cluster, 'h05', 'next'), '10.214.0.2');
      assert.deepEqual(await using(cluster, 'h05-net'), [1, '10.214.0.2']);
      assert.equal(await cluster.find('ip', 'waits.h05'), undefined);
      await cluster.removeAll(all);
    },
  },
  {
    name: "H06 another program's finalizer keeps the IP object of a deleted pod: the pod that requests its address reports that object, and gets the address when it goes",
    run: async (cluster) => {
      const all = tenantYaml('h06', '10.215.0.0/29');
      await cluster.apply(all + podYaml('h06', 'old', { annotations: requests('10.215.0.3') }));
      await running(cluster, 'h06', 'old');
      await cluster.patch('ip', 'old.h06', { metadata: { finalizers: ['example.com/keep', 'kubeovn.io/kube-ovn-controller'] } });
      await cluster.delete('pod', 'old', 'h06');
      await untilDeleted(cluster, 'pod', 'old', 'h06');
      await cluster.apply(podYaml('h06', 'new', { annotations: requests('10.215.0.3') }) + podYaml('h06', 'any'));
      await running(cluster, 'h06', 'any');
      const ip = await cluster.find('ip', 'old.h06');
      if (ip !== undefined) {
        await cluster.kubectl(['patch', 'ip', 'old.h06', '--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]']);
        await untilDeleted(cluster, 'ip', 'old.h06');
      }
      assert.equal(await addressOf(cluster, 'h06', 'new'), '10.215.0.3');
      await cluster.converged();
      const ports = (await cluster.rows('Logical_Switch_Port')).filter(({ addresses }) => String(addresses).endsWith(' 10.215.0.3'));
      assert.deepEqual(
        ports.map(({ name }) => name),
        ['new.h06'],
      );
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H07 a StatefulSet pod is evicted again and again: each next pod has the same address, and no other pod gets it meanwhile',
    run: async (cluster) => {
      const all = tenantYaml('h07', '10.216.0.0/28');
      await cluster.apply(all + statefulSet('h07', 1));
      const [address] = (await runningPods(cluster, 'h07', 'db', 1)).values();
      for (let round = 0; round < 2; round++) {
        const { uid } = (await cluster.get('pod', 'db-0', 'h07')).metadata;
        await setPodStatus(cluster, 'h07', 'db-0', { phase: 'Failed', reason: 'Evicted' });
        await cluster.apply(podYaml('h07', `other-${round}`));
        await cluster.eventually('another db-0', async () => {
          const pod = await cluster.find('pod', 'db-0', 'h07');
          if (pod?.metadata.uid === uid) await cluster.delete('pod', 'db-0', 'h07');
          return pod !== undefined && pod.metadata.uid !== uid;
        });
        assert.deepEqual([...(await runningPods(cluster, 'h07', 'db', 1)).values()], [address]);
        assert.notEqual(await addressOf(cluster, 'h07', `other-${round}`), address);
      }
      assert.equal((await cluster.get('ip', 'db-0.h07')).spec['ipAddress'], address);
      await cluster.delete('statefulset', 'db', 'h07');
      await untilDeleted(cluster, 'ip', 'db-0.h07');
      assert.equal((await using(cluster, 'h07-net'))[0], 2);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H08 a StatefulSet pod hangs in Terminating while another pod requests its address: that one reports the holder; after a forced deletion the next pod of the set has the address',
    run: async (cluster) => {
      const all = tenantYaml('h08', '10.217.0.0/28');
      await cluster.apply(all + statefulSet('h08', 1));
      const [address = ''] = (await runningPods(cluster, 'h08', 'db', 1)).values();
      const { uid } = (await cluster.get('pod', 'db-0', 'h08')).metadata;
      await cluster.patch('pod', 'db-0', { metadata: { finalizers: ['example.com/volume'] } }, 'h08');
      await cluster.delete('pod', 'db-0', 'h08');
      await cluster.apply(podYaml('h08', 'thief', { annotations: requests(address) }));
      const { reason, message } = await condition(cluster, 'pod', 'thief', BOUND, 'False', 'h08');
      assert.equal(reason, 'AddressConflict');
      assert.match(message, /db-0\.h08/);
      await cluster.patch('pod', 'db-0', { metadata: { finalizers: null } }, 'h08');
      await cluster.eventually('another db-0', async () => {
        const pod = await cluster.find('pod', 'db-0', 'h08');
        return pod !== undefined && pod.metadata.uid !== uid;
      });
      assert.deepEqual([...(await runningPods(cluster, 'h08', 'db', 1)).values()], [address]);
      assert.deepEqual(await using(cluster, 'h08-net'), [1, address]);
      await cluster.delete('statefulset', 'db', 'h08');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H09 a StatefulSet is scaled down and up again, twice, while other pods come: no two pods have one address, and remaining pods keep theirs',
    run: async (cluster) => {
      const all = tenantYaml('h09', '10.218.0.0/28');
      await cluster.apply(all + statefulSet('h09', 4));
      const before = await runningPods(cluster, 'h09', 'db', 4);
      for (const round of [1, 2]) {
        await cluster.kubectl(['scale', 'statefulset', 'db', '-n', 'h09', '--replicas=1']);
        await cluster.apply(podYaml('h09', `other-${round}`));
        await cluster.kubectl(['scale', 'statefulset', 'db', '-n', 'h09', '--replicas=4']);
        await running(cluster, 'h09', `other-${round}`);
        const after = await runningPods(cluster, 'h09', 'db', 4);
        assert.equal(after.get('db-0'), before.get('db-0'));
        assert.equal(new Set(after.values()).size, 4);
      }
      await cluster.converged();
      const ports = (await cluster.rows('Logical_Switch_Port')).filter(({ name }) => String(name).endsWith('.h09'));
      assert.equal(new Set(ports.map(({ addresses }) => String(addresses).split(' ')[1])).size, 6);
      assert.equal(ports.length, 6);
      assert.equal((await using(cluster, 'h09-net'))[0], 6);
      await cluster.delete('statefulset', 'db', 'h09');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H10 StatefulSets of one name in two namespaces of one Subnet: one is deleted while its pod hangs, and the other keeps its address',
    run: async (cluster) => {
      const all =
        vpcYaml('h10') +
        subnetYaml('h10-net', { vpc: 'h10', cidrBlock: '10.219.0.0/28', namespaces: ['h10-a', 'h10-b'] }) +
        namespaceYaml('h10-a') +
        namespaceYaml('h10-b');
      await cluster.apply(all + statefulSet('h10-a', 1) + statefulSet('h10-b', 1));
      const [kept = ''] = (await runningPods(cluster, 'h10-a', 'db', 1)).values();
      await runningPods(cluster, 'h10-b', 'db', 1);
      await cluster.patch('pod', 'db-0', { metadata: { finalizers: ['example.com/volume'] } }, 'h10-b');
      await cluster.delete('statefulset', 'db', 'h10-b');
      await untilDeleted(cluster, 'statefulset', 'db', 'h10-b');
      await cluster.delete('pod', 'db-0', 'h10-a');
      await cluster.eventually('db-0 has its address again', async () => {
        const pods = await runningPods(cluster, 'h10-a', 'db', 1);
        return pods.get('db-0') === kept;
      });
      await cluster.patch('pod', 'db-0', { metadata: { finalizers: null } }, 'h10-b');
      await untilDeleted(cluster, 'ip', 'db-0.h10-b');
      assert.deepEqual(await using(cluster, 'h10-net'), [1, kept]);
      await cluster.delete('statefulset', 'db', 'h10-a');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H11 a StatefulSet with a second interface: its recreated pod has both addresses and both MACs, and a scale-down releases both',
    run: async (cluster) => {
      const all =
        tenantYaml('h11', '10.220.0.0/28') +
        attachmentYaml('h11', 'two', '{"cniVersion":"0.3.0","type":"kube-ovn"}') +
        subnetYaml('h11-two', { vpc: 'h11', cidrBlock: '10.220.1.0/28', provider: 'two.h11.ovn' });
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'h11-two', 'Ready', 'True');
      await cluster.apply(statefulSet('h11', 1, { [NETWORKS]: 'two' }));
      await runningPods(cluster, 'h11', 'db', 1);
      const facts = async (): Promise<readonly unknown[]> => {
        const { annotations = {}, uid } = (await cluster.get('pod', 'db-0', 'h11')).metadata;
        const of = (key: string): string | undefined => annotations[key];
        return [
          ...['ovn.kubernetes.io', 'two.h11.ovn.kubernetes.io'].flatMap((prefix) => [
            of(`${prefix}/ip_address`),
            of(`${prefix}/mac_address`),
          ]),
          uid,
        ];
      };
      const first = await facts();
      await cluster.delete('pod', 'db-0', 'h11');
      await cluster.eventually('another db-0 has the same', async () => {
        await runningPods(cluster, 'h11', 'db', 1);
        const next = await facts();
        assert.notEqual(next[4], first[4]);
        assert.deepEqual(next.slice(0, 4), first.slice(0, 4));
        return true;
      });
      assert.ok(first.every((fact) => fact !== undefined));
      await cluster.kubectl(['scale', 'statefulset', 'db', '-n', 'h11', '--replicas=0']);
      await untilDeleted(cluster, 'ip', 'db-0.h11');
      await untilDeleted(cluster, 'ip', 'db-0.h11.two.h11.ovn');
      assert.deepEqual([(await using(cluster, 'h11-net'))[0], (await using(cluster, 'h11-two'))[0]], [0, 0]);
      await cluster.delete('statefulset', 'db', 'h11');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H12 a namespace of two Vpcs with the same network: pods that name a Subnet and one static address each get them, in either order',
    run: async (cluster) => {
      const all =
        namespaceYaml('h12') +
        ['a', 'b']
          .map(
            (vpc) =>
              vpcYaml(`h12-${vpc}`, { defaultSubnet: `h12-${vpc}-net`, namespaces: ['h12'] }) +
              subnetYaml(`h12-${vpc}-net`, { vpc: `h12-${vpc}`, cidrBlock: '10.221.0.0/28', namespaces: ['h12'] }),
          )
          .join('');
      await cluster.apply(all);
      for (const order of [
        ['a', 'b'],
        ['b', 'a'],
      ]) {
        for (const vpc of order) {
          const annotations = { ...requests('10.221.0.5'), 'ovn.kubernetes.io/logical_switch': `h12-${vpc}-net` };
          await cluster.apply(podYaml('h12', `in-${vpc}`, { annotations }));
        }
        for (const vpc of order) {
          const { annotations } = (await running(cluster, 'h12', `in-${vpc}`)).metadata;
          const values = ['logical_switch', 'logical_router', 'ip_address'].map((key) => annotations?.[`ovn.kubernetes.io/${key}`]);
          assert.deepEqual(values, [`h12-${vpc}-net`, `h12-${vpc}`, '10.221.0.5']);
        }
        for (const vpc of order) await deletePod(cluster, 'h12', `in-${vpc}`);
      }
      await cluster.converged();
      await cluster.removeAll(all);
    },
  },
];
