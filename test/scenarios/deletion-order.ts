/** Deletion in the wrong order: nothing that is in use is deleted, everything is deleted in the end, and no leftover remains. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import type { NorthboundDump } from '../../src/testing/northbound-dump.ts';
import { members } from '../../src/testing/northbound-dump.ts';
import { policiesOf, port, rowNamed, rowsNamed, traces } from './northbound.ts';
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
  for (const kind of ['vpc', 'subnet', 'ip'])
    assert.deepEqual(
      (await cluster.names(kind)).filter((each) => each.includes(name)),
      [],
      kind,
    );
  await cluster.converged();
  assert.deepEqual(traces(await cluster.dump(), name), []);
}

/** A pod whose port has DHCP options of its own. */
const guestYaml = (namespace: string): string =>
  podYaml(namespace, 'pod', { annotations: { 'ovn.kubernetes.io/dhcp-v4-options': 'lease_time=600' } });

/** The DHCP options that a port refers to. */
function dhcpOf(dump: NorthboundDump, name: string): unknown {
  const uuid = port(dump, name)['dhcpv4_options'];
  const row = (dump.get('DHCP_Options') ?? []).find(({ _uuid }) => _uuid === uuid);
  assert.equal((row?.['external_ids'] as Readonly<Record<string, string>> | undefined)?.['port'], name);
  return uuid;
}

export const deletionOrder: readonly Scenario[] = [
  {
    name: 'C01 a Vpc deleted while its Subnets remain names them, keeps its router through a restart, and goes with the last one',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c01', '10.80.0.0/24') + podYaml('c01', 'pod'));
      await running(cluster, 'c01', 'pod');
      await cluster.delete('vpc', 'c01');
      const { message } = await condition(cluster, 'vpc', 'c01', 'DeletionBlocked', 'True');
      assert.match(message, /Subnet c01-net/);
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.converged();
      const dump = await cluster.dump();
      assert.equal(rowsNamed(dump, 'Logical_Router', 'c01').length, 1);
      assert.equal(rowsNamed(dump, 'Logical_Router_Port', 'c01-c01-net').length, 1);
      await cluster.apply(subnetYaml('c01-late', { vpc: 'c01', cidrBlock: '10.80.1.0/24' }));
      assert.equal((await condition(cluster, 'subnet', 'c01-late', 'Ready', 'False')).reason, 'VpcTerminating');
      await cluster.delete('subnet', 'c01-late');
      await untilDeleted(cluster, 'subnet', 'c01-late');
      await cluster.delete('subnet', 'c01-net');
      assert.match((await condition(cluster, 'subnet', 'c01-net', 'DeletionBlocked', 'True')).message, /IP pod\.c01/);
      await cluster.delete('pod', 'pod', 'c01');
      await untilDeleted(cluster, 'subnet', 'c01-net');
      await untilDeleted(cluster, 'vpc', 'c01');
      await cluster.delete('namespace', 'c01');
      await nothingLeft(cluster, 'c01');
    },
  },
  {
    name: 'C02 a Vpc removed by force under its Subnet keeps its router, the Subnet reports VpcMissing, and a new Vpc of that name gets the router',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c02', '10.81.0.0/24') + guestYaml('c02'));
      const address = await addressOf(cluster, 'c02', 'pod');
      await cluster.converged();
      const before = await cluster.dump();
      const uuids = (dump: typeof before): readonly unknown[] =>
        [
          rowNamed(dump, 'Logical_Router', 'c02'),
          rowNamed(dump, 'Logical_Router_Port', 'c02-c02-net'),
          port(dump, 'c02-net-c02'),
          port(dump, 'pod.c02'),
          { _uuid: dhcpOf(dump, 'pod.c02') },
        ].map(({ _uuid }) => _uuid);
      await cluster.delete('vpc', 'c02');
      await cluster.patch('vpc', 'c02', { metadata: { finalizers: [] } });
      await untilDeleted(cluster, 'vpc', 'c02');
      const { reason } = await condition(cluster, 'subnet', 'c02-net', 'Accepted', 'False');
      assert.equal(reason, 'VpcMissing');
      await cluster.converged();
      assert.deepEqual(uuids(await cluster.dump()), uuids(before), 'router, both ends of the link and the pod are the same rows');
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.converged();
      assert.deepEqual(uuids(await cluster.dump()), uuids(before), 'also after a restart');
      await cluster.apply(vpcYaml('c02'));
      await condition(cluster, 'subnet', 'c02-net', 'Ready', 'True');
      await cluster.converged();
      const after = await cluster.dump();
      assert.deepEqual(uuids(after), uuids(before));
      const vpc = await cluster.get('vpc', 'c02');
      assert.equal(
        (rowNamed(after, 'Logical_Router', 'c02')['external_ids'] as Readonly<Record<string, string>>)['kiln.io/uid'],
        vpc.metadata.uid,
      );
      assert.deepEqual(vpc.status?.['subnets'], ['c02-net']);
      assert.equal(await addressOf(cluster, 'c02', 'pod'), address);
      await cluster.removeAll(network('c02', '10.81.0.0/24'));
      await nothingLeft(cluster, 'c02');
    },
  },
  {
    name: 'C02 a router that lost its Vpc goes with the last Subnet',
    run: async (cluster) => {
      await cluster.apply(
        vpcYaml('c02b') +
          subnetYaml('c02b-x', { vpc: 'c02b', cidrBlock: '10.82.1.0/24' }) +
          subnetYaml('c02b-y', { vpc: 'c02b', cidrBlock: '10.82.2.0/24' }),
      );
      await condition(cluster, 'subnet', 'c02b-y', 'Ready', 'True');
      await condition(cluster, 'subnet', 'c02b-x', 'Ready', 'True');
      await cluster.delete('vpc', 'c02b');
      await cluster.patch('vpc', 'c02b', { metadata: { finalizers: [] } });
      await cluster.kubectl(['delete', 'subnet', 'c02b-x', '--timeout=120s']);
      await cluster.converged();
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Router', 'c02b').length, 1);
      await cluster.kubectl(['delete', 'subnet', 'c02b-y', '--timeout=120s']);
      await nothingLeft(cluster, 'c02b');
    },
  },
  {
    name: 'C03 a Subnet goes although another program removed its router first',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(vpcYaml('c03') + subnetYaml('c03-net', { vpc: 'c03', cidrBlock: '10.83.0.0/24' }));
      await condition(cluster, 'subnet', 'c03-net', 'Ready', 'True');
      await cluster.converged();
      await cluster.controller.pause();
      await cluster.ovn.nbctl('lr-del', 'c03');
      await cluster.deleteAll(vpcYaml('c03') + subnetYaml('c03-net', {}));
      await cluster.controller.resume();
      await untilDeleted(cluster, 'subnet', 'c03-net');
      await untilDeleted(cluster, 'vpc', 'c03');
      await nothingLeft(cluster, 'c03');
    },
  },
  {
    name: 'a router that a user deletes under its Subnets is created again, with its ports, routes and policies',
    run: async (cluster) => {
      await cluster.apply(network('torn', '10.84.0.0/24') + podYaml('torn', 'pod'));
      await running(cluster, 'torn', 'pod');
      await cluster.converged();
      await cluster.ovn.nbctl('lr-del', 'torn');
      await cluster.eventually(
        'the router is there again',
        async () => rowsNamed(await cluster.dump(), 'Logical_Router', 'torn').length === 1,
      );
      await cluster.converged();
      assert.equal(rowsNamed(await cluster.dump(), 'Logical_Router_Port', 'torn-torn-net').length, 1);
      await cluster.ovn.nbctl('ls-del', 'torn-net');
      await cluster.eventually(
        "the switch and the pod's port are there again",
        async () => rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'pod.torn').length === 1,
      );
      await cluster.converged();
      await cluster.removeAll(network('torn', '10.84.0.0/24'));
      await nothingLeft(cluster, 'torn');
    },
  },
  {
    name: 'C07 pod and Subnet deleted together during any step of the binding leave no row, and no finalizer is patched',
    run: async (cluster) => {
      for (const delayMs of [0, 20, 60, 150]) {
        await cluster.apply(network('c07', '10.85.0.0/24'));
        await condition(cluster, 'subnet', 'c07-net', 'Ready', 'True');
        await cluster.apply(['a', 'b', 'c', 'd', 'e'].map((name) => podYaml('c07', name)).join(''));
        await new Promise((resolve) => void setTimeout(resolve, delayMs));
        await cluster.kubectl(['delete', 'vpc/c07', 'subnet/c07-net', '--wait=false']);
        await cluster.kubectl(['delete', 'pods', '--all', '-n', 'c07', '--wait=false']);
        await untilDeleted(cluster, 'subnet', 'c07-net');
        await untilDeleted(cluster, 'vpc', 'c07');
        // Pods that the controller observes after the deletion of the Subnet belong to the default Subnet for a moment.
        await cluster.eventually('nothing of the pods is left', async () => {
          assert.deepEqual(await cluster.names('pod', 'c07'), []);
          assert.deepEqual(
            (await cluster.names('ip')).filter((name) => name.endsWith('.c07')),
            [],
          );
          return true;
        });
      }
      await cluster.delete('namespace', 'c07');
      await nothingLeft(cluster, 'c07');
    },
  },
  {
    name: 'a Subnet removed by force under its pod, then its Vpc: network, port and router stay the same rows, also through kill -9; new objects get these rows, or they go with the last pod',
    alone: true,
    run: async (cluster) => {
      const subnet = subnetYaml('gone-net', { vpc: 'gone', cidrBlock: '10.86.0.0/24', namespaces: ['gone'] });
      await cluster.apply(network('gone', '10.86.0.0/24') + guestYaml('gone'));
      const address = await addressOf(cluster, 'gone', 'pod');
      await cluster.converged();
      const uuids = async (): Promise<readonly unknown[]> => {
        const dump = await cluster.dump();
        return [
          rowNamed(dump, 'Logical_Switch', 'gone-net'),
          rowNamed(dump, 'Logical_Router', 'gone'),
          rowNamed(dump, 'Logical_Router_Port', 'gone-gone-net'),
          port(dump, 'gone-net-gone'),
          port(dump, 'pod.gone'),
          { _uuid: dhcpOf(dump, 'pod.gone') },
        ].map(({ _uuid }) => _uuid);
      };
      const before = await uuids();
      const tearOut = async (): Promise<void> => {
        await removeByForce(cluster, 'subnet', 'gone-net');
        await cluster.converged();
      };
      await tearOut();
      assert.deepEqual(await uuids(), before);
      await cluster.controller.kill9();
      await cluster.startController().untilLogged('writing');
      await cluster.converged();
      assert.deepEqual(await uuids(), before);
      await cluster.apply(subnet);
      await condition(cluster, 'subnet', 'gone-net', 'Ready', 'True');
      await cluster.converged();
      assert.deepEqual(await uuids(), before);
      assert.equal((await cluster.get('subnet', 'gone-net')).status?.['v4usingIPrange'], address);
      await cluster.apply(podYaml('gone', 'next'));
      assert.notEqual(await addressOf(cluster, 'gone', 'next'), address);
      await deletePod(cluster, 'gone', 'next');
      await tearOut();
      await cluster.delete('vpc', 'gone');
      const blocked = await condition(cluster, 'vpc', 'gone', 'DeletionBlocked', 'True');
      assert.match(blocked.message ?? '', /Vpc gone cannot be deleted: one object still uses it: IP pod\.gone\. /);
      await cluster.patch('vpc', 'gone', { metadata: { finalizers: [] } });
      await untilDeleted(cluster, 'vpc', 'gone');
      await cluster.converged();
      assert.deepEqual(await uuids(), before, 'the pod keeps its gateway');
      await cluster.apply(vpcYaml('gone') + subnet);
      await condition(cluster, 'subnet', 'gone-net', 'Ready', 'True');
      await cluster.converged();
      assert.deepEqual(await uuids(), before);
      await tearOut();
      await cluster.delete('vpc', 'gone');
      await deletePod(cluster, 'gone', 'pod');
      await untilDeleted(cluster, 'vpc', 'gone');
      await cluster.removeAll(namespaceYaml('gone'));
      await nothingLeft(cluster, 'gone-net');
      assert.deepEqual(
        (await cluster.rows('Logical_Router')).filter(({ name }) => name === 'gone'),
        [],
      );
    },
  },
  {
    name: 'C25 an IP object removed by force under its running pod is created again with its address; without its pod it frees the address',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c25', '10.87.0.0/24') + podYaml('c25', 'pod'));
      const address = await addressOf(cluster, 'c25', 'pod');
      await cluster.converged();
      const before = (await cluster.get('ip', 'pod.c25')).metadata.uid;
      const row = port(await cluster.dump(), 'pod.c25')['_uuid'];
      await cluster.delete('ip', 'pod.c25');
      await cluster.patch('ip', 'pod.c25', { metadata: { finalizers: [] } });
      const again = await cluster.eventually('the object is made again', async () => {
        const ip = await cluster.find('ip', 'pod.c25');
        return ip !== undefined && ip.metadata.uid !== before ? ip : undefined;
      });
      assert.equal(again.spec['ipAddress'], address);
      await cluster.converged();
      assert.equal(port(await cluster.dump(), 'pod.c25')['_uuid'], row, 'the port was never gone');
      assert.equal((await cluster.get('subnet', 'c25-net')).status?.['v4usingIPrange'], address);

      await cluster.controller.pause();
      await cluster.delete('pod', 'pod', 'c25');
      await untilDeleted(cluster, 'pod', 'pod', 'c25');
      await cluster.delete('ip', 'pod.c25');
      await cluster.patch('ip', 'pod.c25', { metadata: { finalizers: [] } });
      await cluster.controller.resume();
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'pod.c25'), []);
      assert.equal((await cluster.get('subnet', 'c25-net')).status?.['v4usingIPs'], 0);
      await cluster.removeAll(network('c25', '10.87.0.0/24'));
      await nothingLeft(cluster, 'c25');
    },
  },
  {
    name: 'an IP object deleted under its running pod waits for the pod and reports it',
    run: async (cluster) => {
      await cluster.apply(network('held', '10.88.0.0/24') + podYaml('held', 'pod'));
      const address = await addressOf(cluster, 'held', 'pod');
      await cluster.delete('ip', 'pod.held');
      await cluster.eventually('the condition names the blocker', async () =>
        (await cluster.get('ip', 'pod.held')).metadata.annotations?.['kiln.io/conditions']?.includes('Pod held/pod'),
      );
      await cluster.converged();
      assert.equal(await addressOf(cluster, 'held', 'pod'), address);
      await deletePod(cluster, 'held', 'pod');
      await cluster.removeAll(network('held', '10.88.0.0/24'));
      await nothingLeft(cluster, 'held');
    },
  },
  {
    name: 'C40 two Vpcs may have the same network; in one Vpc the second Subnet names the first, and is accepted once that is gone',
    run: async (cluster) => {
      const [one, two] = [network('c40-a', '10.89.0.0/24'), network('c40-b', '10.89.0.0/24')];
      await cluster.apply(
        one +
          two +
          podYaml('c40-a', 'pod', { annotations: { 'ovn.kubernetes.io/ip_address': '10.89.0.9' } }) +
          podYaml('c40-b', 'pod', { annotations: { 'ovn.kubernetes.io/ip_address': '10.89.0.9' } }),
      );
      assert.equal(await addressOf(cluster, 'c40-a', 'pod'), '10.89.0.9');
      assert.equal(await addressOf(cluster, 'c40-b', 'pod'), '10.89.0.9');
      await cluster.apply(subnetYaml('c40-clash', { vpc: 'c40-a', cidrBlock: '10.89.0.128/25' }));
      const { message } = await condition(cluster, 'subnet', 'c40-clash', 'Ready', 'False');
      assert.match(message, /c40-a-net/);
      assert.match(message, /10\.89\.0\.0\/24/);
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch', 'c40-clash'), []);
      assert.equal(await addressOf(cluster, 'c40-a', 'pod'), '10.89.0.9', 'who was there first is not disturbed');
      await cluster.kubectl(['delete', 'pods', '--all', '-n', 'c40-a', '--wait=false']);
      await cluster.kubectl(['delete', 'subnet', 'c40-a-net', '--timeout=120s']);
      await condition(cluster, 'subnet', 'c40-clash', 'Ready', 'True');
      await cluster.removeAll(subnetYaml('c40-clash', {}) + one + two);
      await nothingLeft(cluster, 'c40');
    },
  },
  {
    name: 'C70 an edit of the default Vpc leaves the rows of the system unchanged',
    alone: true,
    run: async (cluster) => {
      const system = async (): Promise<readonly unknown[]> => {
        const dump = await cluster.dump();
        const router = rowNamed(dump, 'Logical_Router', 'ovn-cluster');
        return [...members(router['policies']), ...members(router['static_routes']), ...members(router['ports'])].toSorted();
      };
      const before = await system();
      await cluster.kubectl(['annotate', 'vpc', 'ovn-cluster', '--overwrite', 'e2e=edited']);
      await cluster.converged();
      assert.deepEqual(await system(), before);
      await cluster.kubectl(['annotate', 'vpc', 'ovn-cluster', 'e2e-']);
    },
  },
  {
    name: 'C74 one policy route of a user in the default Vpc leaves the policies of nodes and Subnets the same rows',
    alone: true,
    run: async (cluster) => {
      const rows = async (): Promise<ReadonlySet<unknown>> =>
        new Set((await cluster.rows('Logical_Router_Policy')).map(({ _uuid }) => _uuid));
      const before = await rows();
      await cluster.patch('vpc', 'ovn-cluster', {
        spec: { policyRoutes: [{ priority: 31_500, match: 'ip4.src == 10.16.250.0/24', action: 'drop' }] },
      });
      await cluster.converged();
      assert.equal(policiesOf(await cluster.dump(), 'ovn-cluster')[0], '31500 ip4.src == 10.16.250.0/24 drop');
      const after = await rows();
      assert.deepEqual(
        [...before].filter((uuid) => !after.has(uuid)),
        [],
      );
      assert.equal(after.size, before.size + 1);
      await cluster.patch('vpc', 'ovn-cluster', { spec: { policyRoutes: null } });
      await cluster.converged();
      assert.deepEqual(await rows(), before);
    },
  },
  {
    name: 'C76 with a Subnet of the default Vpc go its policies, port groups and link',
    run: async (cluster) => {
      await cluster.apply(subnetYaml('c76-net', { cidrBlock: '10.90.0.0/24' }));
      await condition(cluster, 'subnet', 'c76-net', 'Ready', 'True');
      await cluster.converged();
      assert.ok(policiesOf(await cluster.dump(), 'ovn-cluster').includes('31000 ip4.dst == 10.90.0.0/24 allow'));
      await cluster.kubectl(['delete', 'subnet', 'c76-net', '--timeout=120s']);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), '10.90.0.0', 'c76'), []);
    },
  },
];
