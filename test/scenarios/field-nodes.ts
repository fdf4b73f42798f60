/** Histories from the field (docs/evidence/field-histories.md): nodes that are added, deleted and added again. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { port, rowsNamed, traces } from './northbound.ts';
import { condition, untilDeleted, podYaml, setPodStatus, tenantYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const nodeYaml = (name: string, annotations: Readonly<Record<string, string>> = {}): string =>
  `---\napiVersion: v1\nkind: Node\nmetadata: {name: ${name}, annotations: ${JSON.stringify(annotations)}}\n`;

/** The node's address in the join Subnet, once its annotations, its port and its IP object agree. */
async function joined(cluster: ScenarioCluster, node: string): Promise<string> {
  return await cluster.eventually(`node ${node} has joined`, async () => {
    const { annotations = {} } = (await cluster.get('node', node)).metadata;
    const [address = '', mac = ''] = ['ip_address', 'mac_address'].map((key) => annotations[`ovn.kubernetes.io/${key}`]);
    assert.match(address, /^100\.64\./);
    assert.equal(port(await cluster.dump(), `node-${node}`)['addresses'], `${mac} ${address}`);
    const { spec } = await cluster.get('ip', `node-${node}`);
    assert.deepEqual([spec['v4IpAddress'], spec['macAddress']], [address, mac]);
    return address;
  });
}

/** A pod on a node without a kubelet. */
const podOn = (namespace: string, name: string, node: string, annotations: Readonly<Record<string, string>> = {}): string =>
  podYaml(namespace, name, { annotations }).replace('spec:\n', `spec:\n  nodeName: ${node}\n`);

async function allocated(cluster: ScenarioCluster, namespace: string, name: string): Promise<string> {
  return await cluster.eventually(`${name} has an address`, async () => {
    const { annotations } = (await cluster.get('pod', name, namespace)).metadata;
    return annotations?.['ovn.kubernetes.io/ip_address'];
  });
}

export const fieldNodes: readonly Scenario[] = [
  {
    name: 'H22 a node is deleted and created again under its name while its pods run: it joins as a new node, and its pods keep addresses and ports',
    run: async (cluster) => {
      const all = tenantYaml('h22', '10.230.0.0/28');
      await cluster.apply(all + nodeYaml('h22-node') + podOn('h22', 'stays', 'h22-node'));
      await joined(cluster, 'h22-node');
      const address = await allocated(cluster, 'h22', 'stays');
      const { uid } = (await cluster.get('node', 'h22-node')).metadata;
      const before = (await cluster.get('ip', 'stays.h22')).metadata.uid;
      await cluster.delete('node', 'h22-node');
      await untilDeleted(cluster, 'node', 'h22-node');
      await cluster.apply(nodeYaml('h22-node'));
      await joined(cluster, 'h22-node');
      await cluster.converged();
      const now = (await cluster.get('node', 'h22-node')).metadata.uid;
      assert.notEqual(now, uid);
      const dump = await cluster.dump();
      assert.equal((port(dump, 'node-h22-node')['external_ids'] as Readonly<Record<string, string>>)['kiln.io/uid'], now);
      assert.match(String(port(dump, 'stays.h22')['addresses']), new RegExp(` ${address.replaceAll('.', '\\.')}$`));
      assert.equal((await cluster.get('ip', 'stays.h22')).metadata.uid, before);
      await cluster.kubectl(['delete', 'pod', 'stays', '-n', 'h22', '--force', '--grace-period=0']);
      await cluster.removeAll(nodeYaml('h22-node') + all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h22'), []);
    },
  },
  {
    name: 'H23 a node goes before its pods, of which one waits for an address and one has completed: each pod that goes leaves no row, in either order',
    run: async (cluster) => {
      const all = tenantYaml('h23', '10.231.0.0/29');
      await cluster.apply(all);
      for (const order of [
        ['done', 'waits', 'runs'],
        ['runs', 'waits', 'done'],
      ]) {
        await cluster.apply(nodeYaml('h23-node') + podOn('h23', 'runs', 'h23-node') + podOn('h23', 'done', 'h23-node'));
        await allocated(cluster, 'h23', 'runs');
        await allocated(cluster, 'h23', 'done');
        await cluster.apply(podOn('h23', 'waits', 'h23-node', { 'ovn.kubernetes.io/ip_address': '10.231.9.9' }));
        await condition(cluster, 'pod', 'waits', 'kiln.io/NetworkBound', 'False', 'h23');
        await setPodStatus(cluster, 'h23', 'done', { phase: 'Failed' });
        await cluster.delete('node', 'h23-node');
        await untilDeleted(cluster, 'ip', 'node-h23-node');
        // A real control plane deletes the pods of a deleted node by itself, some forty seconds later.
        for (const name of order)
          await cluster.kubectl(['delete', 'pod', name, '-n', 'h23', '--force', '--grace-period=0', '--ignore-not-found']);
        for (const name of order) await untilDeleted(cluster, 'ip', `${name}.h23`);
        await cluster.converged();
        assert.deepEqual(traces(await cluster.dump(), '.h23', 'h23-node'), []);
        assert.equal((await cluster.get('subnet', 'h23-net')).status?.['v4usingIPs'], 0);
      }
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H24 a node has annotations of an older installation, with the address of another node, and annotations of other programs: it gets its own address, and these annotations stay',
    run: async (cluster) => {
      const taken = await cluster.eventually('a node has joined', async () => {
        const [first = ''] = cluster.nodes;
        return (await cluster.get('node', first)).metadata.annotations?.['ovn.kubernetes.io/ip_address'];
      });
      const old = {
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/ip_address': taken,
        'ovn.kubernetes.io/mac_address': '00:00:00:11:22:33',
        'ovn.kubernetes.io/cidr': '100.65.0.0/16',
        'ovn.kubernetes.io/chassis': '4f1c6b0e-0000-4000-8000-000000000001',
        'example.com/rack': '7',
      };
      await cluster.apply(nodeYaml('h24-node', old));
      const address = await cluster.eventually('it has another', async () => {
        const one = await joined(cluster, 'h24-node');
        return one === taken ? undefined : one;
      });
      await cluster.converged();
      const { annotations = {} } = (await cluster.get('node', 'h24-node')).metadata;
      assert.deepEqual(
        ['ovn.kubernetes.io/cidr', 'ovn.kubernetes.io/chassis', 'example.com/rack'].map((key) => annotations[key]),
        ['100.64.0.0/16', old['ovn.kubernetes.io/chassis'], '7'],
      );
      const ports = (await cluster.rows('Logical_Switch_Port')).filter(({ addresses }) => String(addresses).endsWith(` ${address}`));
      assert.deepEqual(
        ports.map(({ name }) => name),
        ['node-h24-node'],
      );
      await cluster.removeAll(nodeYaml('h24-node'));
      await untilDeleted(cluster, 'ip', 'node-h24-node');
    },
  },
  {
    name: 'H25 a user swaps the addresses of two nodes in OVN, and writes another MAC to a node: ports and annotations are repaired, and pods of both reach them as before',
    run: async (cluster) => {
      await cluster.apply(nodeYaml('h25-a') + nodeYaml('h25-b'));
      const had = [await joined(cluster, 'h25-a'), await joined(cluster, 'h25-b')];
      await cluster.converged();
      const dump = await cluster.dump();
      const [a, b] = ['node-h25-a', 'node-h25-b'].map((name) => String(port(dump, name)['addresses']));
      await cluster.ovn.nbctl(
        ...['set', 'Logical_Switch_Port', 'node-h25-a', `addresses="${b ?? ''}"`],
        ...['--', 'set', 'Logical_Switch_Port', 'node-h25-b', `addresses="${a ?? ''}"`],
      );
      await cluster.kubectl(['annotate', 'node', 'h25-a', '--overwrite', 'ovn.kubernetes.io/mac_address=00:00:00:11:22:33']);
      await cluster.converged();
      assert.deepEqual([await joined(cluster, 'h25-a'), await joined(cluster, 'h25-b')], had);
      const now = await cluster.dump();
      assert.deepEqual(
        ['node-h25-a', 'node-h25-b'].map((name) => String(port(now, name)['addresses'])),
        [a, b],
      );
      await cluster.removeAll(nodeYaml('h25-a') + nodeYaml('h25-b'));
      await untilDeleted(cluster, 'ip', 'node-h25-b');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'node-h25-a'), []);
    },
  },
];
