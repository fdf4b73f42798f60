/** External networks of Vpcs and NAT rules of OVN: rows and traces while they exist, and nothing after them. */
import assert from 'node:assert/strict';
import type { PrintedObject } from '../../src/testing/scenario-cluster.ts';
import { children, rowNamed, rowsNamed, traces } from './northbound.ts';
import { gatewayNodes, network, object, ready, said, v4 } from './nat-network.ts';
import { condition, namespaceYaml, podYaml, running, untilDeleted } from './pods.ts';
import type { Scenario } from './scenario.ts';

export const nat: readonly Scenario[] = [
  {
    name: 'C05, C50 an OvnFip, an OvnSnatRule and an OvnDnatRule: ovn-trace shows the translation in both directions, the Vpc waits for its rules, and nothing remains of both families',
    alone: true,
    run: async (cluster) => {
      await gatewayNodes(cluster, 'true');
      const rules =
        object('OvnEip', 'nat-fip-eip', { externalSubnet: 'nat-ext' }) +
        object('OvnEip', 'nat-eip', { externalSubnet: 'nat-ext', v4Ip: '172.171.0.60' }) +
        object('OvnFip', 'nat-fip', { ovnEip: 'nat-fip-eip', ipName: 'web.nat' }) +
        object('OvnSnatRule', 'nat-snat', { ovnEip: 'nat-eip', vpc: 'nat', v4IpCidr: '10.171.0.0/24', v6IpCidr: 'fd00:171::/64' }) +
        object('OvnDnatRule', 'nat-dnat', {
          ovnEip: 'nat-eip',
          ipName: 'web.nat',
          protocol: 'TCP',
          externalPort: '8080',
          internalPort: '80',
        });
      // The rules come first: each waits for what it names.
      await cluster.apply(rules);
      await condition(cluster, 'ovn-fip', 'nat-fip', 'Accepted', 'False');
      await cluster.apply(network('nat', 171));
      await cluster.apply(podYaml('nat', 'web') + podYaml('nat', 'api') + podYaml('nat-out', 'host'));
      const [web, api, host] = [
        await running(cluster, 'nat', 'web'),
        await running(cluster, 'nat', 'api'),
        await running(cluster, 'nat-out', 'host'),
      ];
      const fip = (await ready(cluster, 'ovn-fip', 'nat-fip')).status ?? {};
      for (const [kind, name] of [
        ['ovn-snat-rule', 'nat-snat'],
        ['ovn-dnat-rule', 'nat-dnat'],
      ] as const)
        await ready(cluster, kind, name);
      await cluster.converged();
      const dump = await cluster.dump();
      assert.equal(children(dump, rowNamed(dump, 'Logical_Router', 'nat'), 'nat', 'NAT').length, 4);
      const [outside, inside] = [
        String(rowNamed(dump, 'Logical_Router_Port', 'nat-nat-ext')['mac']),
        String(rowNamed(dump, 'Logical_Router_Port', 'nat-nat-net')['mac']),
      ];
      const from = (port: string, pod: PrintedObject, mac: string, to: string, more: string): readonly string[] => [
        '--ct=new',
        '--minimal',
        pod === host ? 'nat-ext' : 'nat-net',
        `inport == "${port}" && eth.src == ${said(pod, 'mac_address')} && eth.dst == ${mac} && ip4.src == ${v4(pod)} && ip4.dst == ${to} && ip.ttl == 64 && ${more}`,
      ];
      await cluster.eventually('packets are translated in both directions', async () => {
        const arrives = await cluster.ovn.trace(...from('host.nat-out', host, outside, String(fip['v4Eip']), 'icmp4.type == 8'));
        assert.match(arrives, new RegExp(`output\\("web\\.nat"\\)`));
        assert.match(
          await cluster.ovn.trace(...from('web.nat', web, inside, v4(host), 'icmp4.type == 8')),
          new RegExp(`${String(fip['v4Eip'])}[\\s\\S]*output\\("host\\.nat-out"\\)`),
        );
        assert.match(
          await cluster.ovn.trace(...from('api.nat', api, inside, v4(host), 'icmp4.type == 8')),
          /172\.171\.0\.60[\s\S]*output\("host\.nat-out"\)/,
        );
        assert.match(
          await cluster.ovn.trace(...from('host.nat-out', host, outside, '172.171.0.60', 'tcp && tcp.dst == 8080')),
          /output\("web\.nat"\)/,
        );
        return true;
      });
      const workloads = podYaml('nat', 'web') + podYaml('nat', 'api') + podYaml('nat-out', 'host');
      await cluster.deleteAll(network('nat', 171) + workloads);
      await cluster.eventually('the Vpc waits for the rule that needs no Subnet', async () => {
        const { message } = await condition(cluster, 'vpc', 'nat', 'DeletionBlocked', 'True');
        return /: one object still uses it: OvnSnatRule nat-snat/.test(message);
      });
      await cluster.deleteAll(rules);
      for (const [kind, name] of [
        ['ovn-fip', 'nat-fip'],
        ['ovn-snat-rule', 'nat-snat'],
        ['ovn-dnat-rule', 'nat-dnat'],
        ['vpc', 'nat'],
        ['ovn-eip', 'nat-nat-ext'],
        ['ovn-eip', 'nat-eip'],
        ['subnet', 'nat-ext'],
      ] as const)
        await untilDeleted(cluster, kind, name);
      await gatewayNodes(cluster, null);
      await cluster.converged();
      const after = await cluster.dump();
      assert.deepEqual([traces(after, 'nat-'), rowsNamed(after, 'Load_Balancer', 'nat-dnat'), after.get('NAT') ?? []], [[], [], []]);
    },
  },
  {
    name: 'C63, C64 floating addresses that are made and deleted at once leave no row, and their EIP is free; it is ready because it has its address alone',
    alone: true,
    run: async (cluster) => {
      await gatewayNodes(cluster, 'true');
      await cluster.apply(network('quick', 172) + podYaml('quick', 'web') + object('OvnEip', 'quick-eip', { externalSubnet: 'quick-ext' }));
      await running(cluster, 'quick', 'web');
      for (let round = 0; round < 5; round++) {
        await cluster.apply(object('OvnFip', 'quick-fip', { ovnEip: 'quick-eip', ipName: 'web.quick' }));
        await cluster.delete('ovn-fip', 'quick-fip');
        await untilDeleted(cluster, 'ovn-fip', 'quick-fip');
      }
      await cluster.eventually('the EIP is free and ready', async () => {
        const { nat: uses, ready: isReady } = (await cluster.get('ovn-eip', 'quick-eip')).status ?? {};
        return uses === '' && isReady === true;
      });
      await cluster.converged();
      assert.deepEqual((await cluster.dump()).get('NAT') ?? [], []);
      await cluster.delete('ovn-eip', 'quick-eip');
      await untilDeleted(cluster, 'ovn-eip', 'quick-eip');
      await cluster.removeAll(network('quick', 172) + podYaml('quick', 'web'));
      await gatewayNodes(cluster, null);
    },
  },
  {
    name: 'C70 annotations eip and snat of pods of the default Vpc by the ConfigMap of the external gateway: traces in both directions, an edit of the Vpc changes nothing, and nothing remains',
    alone: true,
    run: async (cluster) => {
      for (const node of ['node-1', 'node-2'])
        await cluster.patch('node', node, { metadata: { annotations: { 'ovn.kubernetes.io/chassis': `chassis-of-${node}` } } });
      const config = (data: object): string =>
        `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ovn-external-gw-config\n  namespace: kube-system\ndata: ${JSON.stringify(data)}\n`;
      const guide = {
        ...{ 'enable-external-gw': 'true', 'external-gw-nodes': 'node-1,node-2', 'external-gw-nic': 'eth1' },
        ...{ 'external-gw-addr': '172.56.0.1/16', 'nic-ip': '172.56.0.254/16', 'nic-mac': '16:52:f3:13:6a:25' },
      };
      const annotated = (name: string, key: string, address: string): string =>
        podYaml('gwpods', name, { annotations: { [`ovn.kubernetes.io/${key}`]: address } });
      const pods = annotated('web', 'eip', '172.56.0.221') + annotated('api', 'snat', '172.56.0.200');
      await cluster.apply(config(guide) + namespaceYaml('gwpods') + pods);
      await condition(cluster, 'vpc', 'ovn-cluster', 'External', 'True');
      const [web, api] = [await running(cluster, 'gwpods', 'web'), await running(cluster, 'gwpods', 'api')];
      for (const pod of ['web', 'api']) await condition(cluster, 'pod', pod, 'kiln.io/Translated', 'True', 'gwpods');
      await cluster.converged();
      const rows = async (): Promise<readonly string[]> => {
        const dump = await cluster.dump();
        const router = rowNamed(dump, 'Logical_Router', 'ovn-cluster');
        const policies = children(dump, router, 'policies', 'Logical_Router_Policy').filter(({ priority }) => priority === 29_250);
        return [...children(dump, router, 'nat', 'NAT'), ...policies].map((row) => JSON.stringify(row)).toSorted();
      };
      const before = await rows();
      assert.equal(before.length, 4);
      const mac = String(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'ovn-cluster-ovn-default')['mac']);
      // The gateway outside, so that its MAC is known.
      await cluster.ovn.nbctl('lsp-add', 'external', 'outside-gateway');
      await cluster.ovn.nbctl('lsp-set-addresses', 'outside-gateway', '0a:00:00:00:00:99 172.56.0.1');
      for (const [name, pod, address] of [
        ['web', web, '172.56.0.221'],
        ['api', api, '172.56.0.200'],
      ] as const)
        await cluster.eventually(`${name} sends from its external address`, async () => {
          const match = `inport == "${name}.gwpods" && eth.src == ${said(pod, 'mac_address')} && eth.dst == ${mac} && ip4.src == ${v4(pod)} && ip4.dst == 8.8.8.8 && ip.ttl == 64 && icmp4.type == 8`;
          assert.match(await cluster.ovn.trace('--ct=new', '--minimal', 'ovn-default', match), new RegExp(address.replaceAll('.', '\\.')));
          return true;
        });
      await cluster.ovn.nbctl('lsp-del', 'outside-gateway');
      await cluster.patch('vpc', 'ovn-cluster', { metadata: { annotations: { note: 'edited' } } });
      await cluster.converged();
      assert.deepEqual(await rows(), before);
      await cluster.deleteAll(config(guide) + pods);
      await cluster.eventually(
        'the Vpc has no external port',
        async () => (await cluster.get('vpc', 'ovn-cluster')).status?.['enableExternal'] === false,
      );
      await cluster.removeAll(namespaceYaml('gwpods'));
      await cluster.converged();
      const after = await cluster.dump();
      assert.deepEqual([await rows(), rowsNamed(after, 'Logical_Switch', 'external'), after.get('Gateway_Chassis') ?? []], [[], [], []]);
      for (const node of ['node-1', 'node-2']) {
        const { labels, annotations } = (await cluster.get('node', node)).metadata;
        assert.deepEqual([labels?.['ovn.kubernetes.io/external-gw'], annotations?.['kiln.io/gateway-of']], [undefined, undefined]);
      }
      await gatewayNodes(cluster, null);
      await cluster.patch('vpc', 'ovn-cluster', { metadata: { annotations: { note: null } } });
    },
  },
];
