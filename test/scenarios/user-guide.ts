/** Manifests of Kube-OVN's user guide, applied unchanged. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { children, rowNamed, rowsNamed, routesOf, traces } from './northbound.ts';
import { condition, namespaceYaml, podYaml, running } from './pods.ts';
import type { Scenario } from './scenario.ts';

const FOLDER = join(import.meta.dirname, '../../../shared/reference/manifests');
const unless = (): string | undefined => (existsSync(FOLDER) ? undefined : `${FOLDER} is not there`);

/** The guide sometimes omits a blank or a line between documents. */
function manifest(name: string): string {
  return `---\n${readFileSync(join(FOLDER, `${name}.yaml`), 'utf8').trimEnd()}\n`;
}

/** The images of the guide are not available; nothing here runs a container. */
const asPods = (yaml: string): string =>
  yaml.replaceAll(/^spec:\n {2}containers:/gm, 'spec:\n  terminationGracePeriodSeconds: 0\n  containers:');

export const userGuide: readonly Scenario[] = [
  {
    name: "the user guide's two Vpcs with a namespace each and the same network in both",
    unless,
    run: async (cluster) => {
      const subnets = `---
kind: Subnet
apiVersion: kubeovn.io/v1
metadata: {name: guide-net1}
spec: {vpc: test-vpc-1, cidrBlock: 10.0.1.0/24, protocol: IPv4, namespaces: [ns1]}
---
kind: Subnet
apiVersion: kubeovn.io/v1
metadata: {name: guide-net2}
spec: {vpc: test-vpc-2, cidrBlock: 10.0.1.0/24, protocol: IPv4, namespaces: [ns2]}
`;
      const all = manifest('vpc__vpc__1') + subnets + namespaceYaml('ns1') + namespaceYaml('ns2');
      await cluster.apply(all + podYaml('ns1', 'vpc1-pod') + podYaml('ns2', 'vpc2-pod'));
      for (const [namespace, pod, vpc, subnet] of [
        ['ns1', 'vpc1-pod', 'test-vpc-1', 'guide-net1'],
        ['ns2', 'vpc2-pod', 'test-vpc-2', 'guide-net2'],
      ] as const) {
        const { metadata } = await running(cluster, namespace, pod);
        assert.equal(metadata.annotations?.['ovn.kubernetes.io/ip_address'], '10.0.1.2');
        assert.equal(metadata.annotations['ovn.kubernetes.io/logical_switch'], subnet);
        assert.equal(metadata.annotations['ovn.kubernetes.io/logical_router'], vpc);
      }
      await cluster.converged();
      const dump = await cluster.dump();
      for (const [vpc, subnet] of [
        ['test-vpc-1', 'guide-net1'],
        ['test-vpc-2', 'guide-net2'],
      ] as const) {
        const { status, metadata } = await cluster.get('vpc', vpc);
        assert.deepEqual(metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
        const { conditions: _, ...fields } = status ?? {};
        assert.deepEqual(fields, {
          standby: true,
          default: false,
          defaultLogicalSwitch: '',
          router: vpc,
          tcpLoadBalancer: `vpc-${vpc}-tcp-load`,
          tcpSessionLoadBalancer: `vpc-${vpc}-tcp-sess-load`,
          udpLoadBalancer: `vpc-${vpc}-udp-load`,
          udpSessionLoadBalancer: `vpc-${vpc}-udp-sess-load`,
          sctpLoadBalancer: `vpc-${vpc}-sctp-load`,
          sctpSessionLoadBalancer: `vpc-${vpc}-sctp-sess-load`,
          subnets: [subnet],
          vpcPeerings: [],
          enableExternal: false,
          enableBfd: false,
        });
        const router = rowNamed(dump, 'Logical_Router', vpc);
        assert.deepEqual(router['options'], {
          always_learn_from_arp_request: 'false',
          dynamic_neigh_routers: 'true',
          mac_binding_age_threshold: '300',
        });
        assert.deepEqual(
          children(dump, router, 'ports', 'Logical_Router_Port').map(({ name, networks }) => [name, networks]),
          [[`${vpc}-${subnet}`, '10.0.1.1/24']],
        );
        assert.deepEqual(routesOf(dump, vpc), ['main src-ip 10.0.1.0/24 10.0.1.1']);
        const logicalSwitch = rowNamed(dump, 'Logical_Switch', subnet);
        const link = children(dump, logicalSwitch, 'ports', 'Logical_Switch_Port').find(({ type }) => type === 'router');
        assert.deepEqual(
          [link?.['name'], link?.['addresses'], link?.['options']],
          [`${subnet}-${vpc}`, 'router', { 'router-port': `${vpc}-${subnet}` }],
        );
        assert.equal(children(dump, logicalSwitch, 'load_balancer', 'Load_Balancer').length, 6);
      }
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'test-vpc-1', 'test-vpc-2', 'guide-net1', 'guide-net2', 'vpc1-pod'), []);
    },
  },
  {
    name: "the user guide's Subnets: distributed, centralized by selector, private, excluded ranges, dual stack",
    unless,
    run: async (cluster) => {
      const distributed = manifest('guide__subnet__1').replaceAll('ns1', 'guide-1').replaceAll('ns2', 'guide-2');
      const others =
        manifest('guide__subnet__5') + manifest('guide__subnet__7').replaceAll('- ns1', '- guide-3').replaceAll('- ns2', '- guide-4');
      await cluster.apply(distributed + others);
      for (const subnet of ['subnet1', 'private'])
        assert.match((await condition(cluster, 'subnet', subnet, 'Ready', 'True')).reason, /Success$/);
      await cluster.converged();
      const subnet1 = await cluster.get('subnet', 'subnet1');
      assert.equal(subnet1.status?.['v4availableIPrange'], '10.66.0.11-10.66.0.100,10.66.0.152-10.66.255.254');
      assert.equal(subnet1.status['v4availableIPs'], 65_534 - 10 - 51);
      assert.equal((await condition(cluster, 'subnet', 'centralized-selector', 'Ready', 'False')).reason, 'NoActiveGatewayFound');
      await cluster.kubectl(['label', 'node', 'node-2', 'node-type=egress']);
      await condition(cluster, 'subnet', 'centralized-selector', 'Ready', 'True');
      assert.equal((await cluster.get('subnet', 'centralized-selector')).status?.['activateGateway'], 'node-2');
      await cluster.kubectl(['label', 'node', 'node-2', 'node-type-']);
      await cluster.removeAll(distributed + others);
    },
  },
  {
    name: "the user guide's pod with a static address and MAC, and one with a single family",
    alone: true,
    unless,
    run: async (cluster) => {
      const pods = asPods(manifest('guide__static-ip-mac__1'));
      await cluster.apply(pods);
      const { metadata } = await running(cluster, 'default', 'static-ip');
      assert.equal(metadata.annotations?.['ovn.kubernetes.io/ip_address'], '10.16.0.15');
      assert.equal(metadata.annotations['ovn.kubernetes.io/mac_address']?.toLowerCase(), '00:00:00:53:6b:b6');
      const dump = await cluster.dump();
      assert.equal(
        String(rowNamed(dump, 'Logical_Switch_Port', 'static-ip.default')['addresses']).toLowerCase(),
        '00:00:00:53:6b:b6 10.16.0.15',
      );
      await cluster.removeAll(pods);
      await cluster.eventually(
        'its port is gone',
        async () => rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'static-ip.default').length === 0,
      );
    },
  },
  {
    name: "the user guide's peering: two Vpcs linked, and a packet crosses",
    unless,
    run: async (cluster) => {
      const all = manifest('vpc__vpc-peering__1');
      const pods = asPods(manifest('vpc__vpc-peering__3'));
      await cluster.apply(all);
      const side = (remoteVpc: string, local: string, cidr: string, nextHopIP: string): object => ({
        spec: { vpcPeerings: [{ remoteVpc, localConnectIP: `${local}/30` }], staticRoutes: [{ cidr, nextHopIP, policy: 'policyDst' }] },
      });
      await cluster.patch('vpc', 'vpc-1', side('vpc-2', '169.254.0.1', '172.31.0.0/16', '169.254.0.2'));
      await cluster.patch('vpc', 'vpc-2', side('vpc-1', '169.254.0.2', '10.0.0.0/16', '169.254.0.1'));
      await cluster.apply(pods);
      const [one, two] = [await running(cluster, 'default', 'vpc-1-pod'), await running(cluster, 'default', 'vpc-2-pod')];
      await cluster.converged();
      const dump = await cluster.dump();
      const link = rowNamed(dump, 'Logical_Router_Port', 'vpc-1-vpc-2');
      assert.deepEqual([link['networks'], link['peer']], ['169.254.0.1/30', 'vpc-2-vpc-1']);
      assert.deepEqual(rowNamed(dump, 'Logical_Router_Port', 'vpc-2-vpc-1')['peer'], 'vpc-1-vpc-2');
      assert.deepEqual((await cluster.get('vpc', 'vpc-1')).status?.['vpcPeerings'], ['vpc-2']);
      await cluster.ovn.nbctl('--wait=sb', 'sync');
      const say = ({ metadata }: typeof one, key: string): string => metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
      const router = String(rowNamed(dump, 'Logical_Router_Port', 'vpc-1-net1')['mac']);
      const flow = `inport == "vpc-1-pod.default" && eth.src == ${say(one, 'mac_address')} && eth.dst == ${router} && ip4.src == ${say(one, 'ip_address')} && ip4.dst == ${say(two, 'ip_address')} && ip.ttl == 64 && icmp4.type == 8`;
      assert.deepEqual(await cluster.tracedTo('net1', flow), ['vpc-2-pod.default']);
      await cluster.patch('vpc', 'vpc-1', { spec: { vpcPeerings: [], staticRoutes: [] } });
      await cluster.eventually(
        'the link is gone from this side',
        async () => rowsNamed(await cluster.dump(), 'Logical_Router_Port', 'vpc-1-vpc-2').length === 0,
      );
      await cluster.removeAll(pods + all);
    },
  },
];
