/**
 * Leftovers without a parent, and without an event or object that names them: they are found and collected. All other rows stay unchanged.
 */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { attachmentYaml, NETWORKS } from './attachments.ts';
import { port, rowNamed, rowsNamed, traces } from './northbound.ts';
import {
  addressOf,
  condition,
  untilDeleted,
  namespaceYaml,
  podYaml,
  deletePod,
  running,
  subnetYaml,
  removeByForce,
  vpcYaml,
} from './pods.ts';
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

/** `ovn-nbctl` arguments that give a row the ownership keys of a row of Kiln's whose row owner does not exist. */
const ownershipKeys = (table: string, record: string, owner: string): readonly string[] => [
  ...['--', 'set', table, record, 'external_ids:vendor=kube-ovn', `external_ids:kiln.io/owner=${owner}`],
  ...['external_ids:kiln.io/uid=5d8f7a11-0000-4b7e-9d5b-0d2f8d8f7a11', 'external_ids:kiln.io/rule=pod'],
];

export const leftovers: readonly Scenario[] = [
  {
    name: "C08 the Subnet of a pod's first interface is removed by force, then the pod goes: every interface of it is released",
    run: async (cluster) => {
      const all =
        namespaceYaml('c08') +
        vpcYaml('c08') +
        attachmentYaml('c08', 'second', '{"cniVersion":"0.3.0","type":"kube-ovn"}') +
        subnetYaml('c08-one', { vpc: 'c08', cidrBlock: '10.170.0.0/24', namespaces: ['c08'] }) +
        subnetYaml('c08-two', { vpc: 'c08', cidrBlock: '10.170.1.0/24', provider: 'second.c08.ovn' });
      await cluster.apply(all + podYaml('c08', 'pod', { annotations: { [NETWORKS]: 'second' } }));
      await running(cluster, 'c08', 'pod');
      await cluster.converged();
      await removeByForce(cluster, 'subnet', 'c08-one');
      await cluster.converged();
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'pod.c08').length, 1, 'the pod keeps its port while it lives');
      await cluster.delete('pod', 'pod', 'c08');
      await untilDeleted(cluster, 'ip', 'pod.c08');
      await untilDeleted(cluster, 'ip', 'pod.c08.second.c08.ovn');
      await cluster.converged();
      const { v4usingIPs, v4availableIPrange } = (await cluster.get('subnet', 'c08-two')).status ?? {};
      assert.deepEqual([v4usingIPs, v4availableIPrange], [0, '10.170.1.2-10.170.1.254']);
      await cluster.removeAll(all);
      await nothingLeft(cluster, 'c08');
    },
  },
  {
    name: 'C12 a deletion ends although the event it waits for is never delivered',
    alone: true,
    only: 'real',
    run: async (cluster) => {
      await cluster.apply(network('c12', '10.171.0.0/24') + podYaml('c12', 'pod'));
      await running(cluster, 'c12', 'pod');
      await cluster.delete('subnet', 'c12-net');
      await condition(cluster, 'subnet', 'c12-net', 'DeletionBlocked', 'True');
      await cluster.converged();
      await cluster.controller.pause();
      await cluster.delete('pod', 'pod', 'c12');
      await untilDeleted(cluster, 'pod', 'pod', 'c12');
      await removeByForce(cluster, 'ip', 'pod.c12');
      // The restarted API server has no history: the watch of the controller resumes from a list that has neither the pod nor the IP
      // object.
      await cluster.api.real?.kill('kube-apiserver');
      await cluster.api.real?.restart('kube-apiserver');
      await cluster.controller.resume();
      await cluster.eventually('the Subnet is gone', async () => (await cluster.find('subnet', 'c12-net')) === undefined);
      await cluster.removeAll(vpcYaml('c12') + namespaceYaml('c12'));
      await nothingLeft(cluster, 'c12');
    },
  },
  {
    name: 'C15 objects and all their parents are removed by force while no controller runs: the next one finds their rows by their ownership keys and collects them',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c15', '10.172.0.0/24') + podYaml('c15', 'pod'));
      await running(cluster, 'c15', 'pod');
      await cluster.converged();
      assert.notDeepEqual(traces(await cluster.dump(), 'c15'), []);
      await cluster.controller.kill9();
      await removeByForce(cluster, 'vpc', 'c15');
      await removeByForce(cluster, 'subnet', 'c15-net');
      await cluster.kubectl(['delete', 'pod', 'pod', '-n', 'c15', '--force', '--grace-period=0']);
      await removeByForce(cluster, 'ip', 'pod.c15');
      await cluster.delete('namespace', 'c15');
      cluster.startController();
      await cluster.eventually('every row is gone', async () => traces(await cluster.dump(), 'c15').length === 0);
      await nothingLeft(cluster, 'c15');
    },
  },
  {
    name: 'C81 a port of ours without a pod is collected in any switch: its own, another one, a foreign one, after a restart too',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c81', '10.173.0.0/24') + podYaml('c81', 'pod'));
      await running(cluster, 'c81', 'pod');
      await cluster.converged();
      await cluster.ovn.nbctl('ls-add', 'c81-foreign', '--', 'lsp-add', 'c81-foreign', 'c81-theirs');
      const before = await cluster.foreignRows();
      const strand = async (): Promise<void> => {
        const add = (logicalSwitch: string, name: string, switchKey: string): readonly string[] => [
          ...[
            '--',
            'lsp-add',
            logicalSwitch,
            name,
            ...ownershipKeys('Logical_Switch_Port', name, `pod/c81/${name}`),
            `external_ids:ls=${switchKey}`,
          ],
        ];
        await cluster.ovn.nbctl(
          ...add('c81-net', 'ghost-a.c81', 'c81-net').slice(1),
          ...add('ovn-default', 'ghost-b.c81', 'c81-net'),
          ...add('c81-foreign', 'ghost-c.c81', 'c81-net'),
        );
      };
      const collected = async (): Promise<void> => {
        await cluster.eventually('the ports without a pod are collected', async () => traces(await cluster.dump(), 'ghost-').length === 0);
        await cluster.converged();
        await cluster.invariantsHold(before);
      };
      await strand();
      await collected();
      await cluster.controller.kill9();
      await strand();
      cluster.startController();
      await collected();
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'pod.c81').length, 1);
      await cluster.ovn.nbctl('ls-del', 'c81-foreign');
      await cluster.removeAll(network('c81', ''));
      await nothingLeft(cluster, 'c81');
    },
  },
  {
    name: 'C78 routes and switches that an interconnection has learned stay, in our routers too',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c78', '10.174.0.0/24') + podYaml('c78', 'pod'));
      await running(cluster, 'c78', 'pod');
      await cluster.converged();
      const learned = (router: string, prefix: string, id: string): readonly string[] => [
        ...['--', `--id=@${id}`, 'create', 'Logical_Router_Static_Route', `ip_prefix=${prefix}`, 'nexthop=169.254.100.9'],
        ...[
          'external_ids:ic-learned-route=0f8c63a4-37c9-4f09-a3bb-7d0e0e9d3a01',
          '--',
          'add',
          'Logical_Router',
          router,
          'static_routes',
          `@${id}`,
        ],
      ];
      await cluster.ovn.nbctl(
        ...['ls-add', 'ts', '--', 'set', 'Logical_Switch', 'ts', 'other_config:interconn-ts=ts'],
        ...learned('ovn-cluster', '10.201.0.0/16', 'a'),
        ...learned('c78', '10.202.0.0/16', 'b'),
        ...['--', 'lrp-add', 'c78', 'c78-ts', '02:00:00:00:78:01', '169.254.100.1/24', '--', 'lsp-add', 'ts', 'ts-c78'],
        ...['--', 'lsp-set-type', 'ts-c78', 'router', '--', 'lsp-set-options', 'ts-c78', 'router-port=c78-ts'],
      );
      const before = await cluster.foreignRows();
      await cluster.patch('vpc', 'c78', { spec: { staticRoutes: [{ cidr: '10.203.0.0/16', nextHopIP: '10.174.0.7' }] } });
      await cluster.converged();
      await cluster.patch('vpc', 'c78', { spec: { staticRoutes: null } });
      await cluster.converged();
      await cluster.invariantsHold(before);
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.converged();
      await cluster.invariantsHold(before);
      await cluster.ovn.nbctl('ls-del', 'ts', '--', 'lrp-del', 'c78-ts', '--', 'lr-route-del', 'c78', '10.202.0.0/16');
      await cluster.ovn.nbctl('lr-route-del', 'ovn-cluster', '10.201.0.0/16');
      await cluster.removeAll(network('c78', ''));
      await nothingLeft(cluster, 'c78');
    },
  },
  {
    name: 'C90 objects and rows of an older version are adopted unchanged, and each is released completely',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c90', '10.175.0.0/24') + ['stays', 'goes', 'gone'].map((name) => podYaml('c90', name)).join(''));
      await running(cluster, 'c90', 'gone');
      const addresses = [await addressOf(cluster, 'c90', 'stays'), await addressOf(cluster, 'c90', 'goes')];
      await cluster.converged();
      const uuids = async (): Promise<readonly unknown[]> => {
        const dump = await cluster.dump();
        return [
          rowNamed(dump, 'Logical_Router', 'c90'),
          rowNamed(dump, 'Logical_Switch', 'c90-net'),
          port(dump, 'stays.c90'),
          port(dump, 'c90-net-c90'),
        ].map(({ _uuid }) => _uuid);
      };
      const before = await uuids();
      await cluster.controller.kill9();
      await asOlderVersion(cluster, 'c90');
      await cluster.kubectl(['delete', 'pod', 'gone', '-n', 'c90', '--force', '--grace-period=0']);
      cluster.startController();
      await cluster.converged();
      assert.equal(await cluster.find('ip', 'gone.c90'), undefined);
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'gone.c90'), []);
      assert.deepEqual(await uuids(), before, 'the same rows');
      await deletePod(cluster, 'c90', 'goes');
      await cluster.converged();
      const dump = await cluster.dump();
      assert.equal((port(dump, 'stays.c90')['external_ids'] as Readonly<Record<string, string>>)['kiln.io/owner'], 'pod/c90/stays');
      assert.deepEqual(rowsNamed(dump, 'Logical_Switch_Port', 'goes.c90'), []);
      assert.deepEqual((await cluster.get('ip', 'stays.c90')).metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
      assert.equal(await addressOf(cluster, 'c90', 'stays'), addresses[0]);
      assert.equal((await cluster.get('subnet', 'c90-net')).status?.['v4usingIPrange'], addresses[0]);
      await cluster.removeAll(network('c90', ''));
      await nothingLeft(cluster, 'c90');
    },
  },
];

/** Turns the rows into legacy rows, with the vendor's key alone, and removes finalizers and annotations from the IP objects. */
async function asOlderVersion(cluster: ScenarioCluster, name: string): Promise<void> {
  const dump = await cluster.dump();
  for (const [table, rows] of dump) {
    for (const row of rows) {
      const owner = (row['external_ids'] as Readonly<Record<string, string>> | undefined)?.['kiln.io/owner'];
      if (owner?.includes(name) !== true) continue;
      const keys = ['kiln.io/owner', 'kiln.io/uid', 'kiln.io/rule'];
      await cluster.ovn.nbctl('remove', table, String(row['_uuid']), 'external_ids', ...keys);
    }
  }
  for (const ip of (await cluster.names('ip')).filter((each) => each.endsWith(`.${name}`))) {
    const { annotations = {} } = (await cluster.get('ip', ip)).metadata;
    const without = Object.fromEntries(Object.keys(annotations).map((key) => [key, null]));
    await cluster.patch('ip', ip, { metadata: { finalizers: [], annotations: without } });
  }
}
