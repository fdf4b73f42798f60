/** The network that a cluster has before any Vpc or Subnet is created. */
import assert from 'node:assert/strict';
import { entries, members } from '../../src/testing/northbound-dump.ts';
import { namespaceYaml, podYaml, deletePod, running } from './pods.ts';
import { ownerKeys, port, rowNamed } from './northbound.ts';
import type { Scenario } from './scenario.ts';

export const defaultNetwork: readonly Scenario[] = [
  {
    name: 'a pod without annotations is in ovn-default: IP object, port, port groups and annotations are as the contract has them',
    run: async (cluster) => {
      await cluster.apply(podYaml('default', 'plain'));
      const pod = await running(cluster, 'default', 'plain');
      const annotations = pod.metadata.annotations ?? {};
      const ip = annotations['ovn.kubernetes.io/ip_address'] ?? '';
      const mac = annotations['ovn.kubernetes.io/mac_address'] ?? '';
      const node = String(pod.spec['nodeName']);
      assert.match(ip, /^10\.16\.\d+\.\d+$/);
      const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...written } = annotations;
      assert.deepEqual(written, {
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/cidr': '10.16.0.0/16',
        'ovn.kubernetes.io/gateway': '10.16.0.1',
        'ovn.kubernetes.io/ip_address': ip,
        'ovn.kubernetes.io/logical_router': 'ovn-cluster',
        'ovn.kubernetes.io/logical_switch': 'ovn-default',
        'ovn.kubernetes.io/mac_address': mac,
        'ovn.kubernetes.io/pod_nic_type': 'veth-pair',
        'ovn.kubernetes.io/routed': 'true',
      });
      assert.equal(pod.status?.['podIP'], ip);

      const object = await cluster.get('ip', 'plain.default');
      assert.deepEqual(object.spec, {
        podName: 'plain',
        namespace: 'default',
        subnet: 'ovn-default',
        nodeName: node,
        ipAddress: ip,
        v4IpAddress: ip,
        v6IpAddress: '',
        macAddress: mac,
        attachIps: [],
        attachMacs: [],
        attachSubnets: [],
        containerID: '',
        podType: '',
      });
      assert.deepEqual(object.metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
      assert.deepEqual(object.metadata.labels, {
        'ovn.kubernetes.io/subnet': 'ovn-default',
        'ovn.kubernetes.io/node-name': node,
        'ovn.kubernetes.io/ip_reserved': 'false',
        'ovn-default': '',
      });

      const dump = await cluster.dump();
      const row = port(dump, 'plain.default');
      assert.equal(row['addresses'], `${mac} ${ip}`);
      assert.deepEqual(row['port_security'], []);
      assert.equal(row['type'], '');
      assert.deepEqual(row['external_ids'], {
        ls: 'ovn-default',
        pod: 'default/plain',
        ...ownerKeys('pod/default/plain', pod.metadata.uid, 'pod-port'),
      });
      const groups = (dump.get('Port_Group') ?? [])
        .filter((group) => members(group['ports']).includes(String(row['_uuid'])))
        .map((group) => String(group['name']));
      assert.deepEqual(groups.toSorted(), [`node.${node}`, `ovn.default.${node}`].map((group) => group.replaceAll('-', '.')).toSorted());
      assert.ok(members(rowNamed(dump, 'Logical_Switch', 'ovn-default')['ports']).includes(String(row['_uuid'])));

      await deletePod(cluster, 'default', 'plain');
      const after = await cluster.dump();
      assert.equal(
        (after.get('Logical_Switch_Port') ?? []).some(({ name }) => name === 'plain.default'),
        false,
      );
      assert.equal(await cluster.find('ip', 'plain.default'), undefined);
    },
  },
  {
    name: 'every node has its port in join, its annotations, and the policies that lead to it',
    run: async (cluster) => {
      const dump = await cluster.dump();
      for (const name of ['node-1', 'node-2']) {
        const { metadata, status } = await cluster.get('node', name);
        const say = (key: string): string => metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
        const [ip, mac] = [say('ip_address'), say('mac_address')];
        assert.match(ip, /^100\.64\.\d+\.\d+$/);
        assert.deepEqual(
          Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith('ovn.kubernetes.io/'))),
          {
            'ovn.kubernetes.io/allocated': 'true',
            'ovn.kubernetes.io/cidr': '100.64.0.0/16',
            'ovn.kubernetes.io/gateway': '100.64.0.1',
            'ovn.kubernetes.io/ip_address': ip,
            'ovn.kubernetes.io/logical_switch': 'join',
            'ovn.kubernetes.io/mac_address': mac,
            'ovn.kubernetes.io/port_name': `node-${name}`,
          },
        );
        assert.equal(port(dump, `node-${name}`)['addresses'], `${mac} ${ip}`);
        const { address } = ((status?.['addresses'] ?? []) as { readonly type: string; readonly address: string }[]).find(
          ({ type }) => type === 'InternalIP',
        ) ?? { address: '' };
        const policy = (dump.get('Logical_Router_Policy') ?? []).find(({ match }) => match === `ip4.dst == ${address}`);
        assert.equal(policy?.['priority'], 30_000);
        assert.equal(policy?.['action'], 'reroute');
        assert.deepEqual(members(policy?.['nexthops']), [ip]);
        const { vendor, node, 'address-family': family } = entries(policy?.['external_ids']);
        assert.deepEqual({ vendor, node, family }, { vendor: 'kube-ovn', node: name, family: '4' });
        const object = await cluster.get('ip', `node-${name}`);
        assert.equal(object.spec['ipAddress'], ip);
      }
    },
  },
  {
    name: 'ovn-trace: pods on different nodes reach each other, and a pod reaches the node through join',
    run: async (cluster) => {
      await cluster.apply(namespaceYaml('trace'));
      await cluster.apply(podYaml('trace', 'a', { node: 'node-1' }) + podYaml('trace', 'b', { node: 'node-2' }));
      const [a, b] = [await running(cluster, 'trace', 'a'), await running(cluster, 'trace', 'b')];
      await cluster.converged();
      await cluster.ovn.nbctl('--wait=sb', 'sync');
      const say = ({ metadata }: typeof a, key: string): string => metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
      const flow = (mac: string, ip: string): string =>
        `inport == "a.trace" && eth.src == ${say(a, 'mac_address')} && eth.dst == ${mac} && ip4.src == ${say(a, 'ip_address')} && ip4.dst == ${ip} && ip.ttl == 64 && icmp4.type == 8`;
      assert.deepEqual(await cluster.tracedTo('ovn-default', flow(say(b, 'mac_address'), say(b, 'ip_address'))), ['b.trace']);
      const router = String(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'ovn-cluster-ovn-default')['mac']);
      assert.deepEqual(await cluster.tracedTo('ovn-default', flow(router, '172.18.0.3')), ['node-node-2']);
      assert.deepEqual(
        await cluster.tracedTo('ovn-default', flow(router, '8.8.8.8')),
        ['node-node-1'],
        'a distributed gateway sends what leaves through the own node',
      );
      await cluster.deleteAll(namespaceYaml('trace'));
      await cluster.eventually('the namespace is gone', async () => (await cluster.find('namespace', 'trace')) === undefined);
    },
  },
];
