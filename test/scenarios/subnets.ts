/** Settings of a Subnet (families, ranges, private access, DHCP, router advertisements) and its status. */
import assert from 'node:assert/strict';
import { entries } from '../../src/testing/northbound-dump.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { aclsOf, children, port, rowNamed, traces } from './northbound.ts';
import { addressOf, condition, namespaceYaml, podYaml, deletePod, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

async function statusOf(cluster: ScenarioCluster, subnet: string): Promise<Readonly<Record<string, unknown>>> {
  const { status = {} } = await cluster.get('subnet', subnet);
  return Object.fromEntries(Object.entries(status).filter(([key]) => /^v[46](using|available)/.test(key)));
}

const NOTHING_V6 = { v6availableIPs: 0, v6availableIPrange: '', v6usingIPs: 0, v6usingIPrange: '' };
const NOTHING_V4 = { v4availableIPs: 0, v4availableIPrange: '', v4usingIPs: 0, v4usingIPrange: '' };

export const subnets: readonly Scenario[] = [
  {
    name: 'an IPv4 Subnet with its own gateway and excluded ranges: defaults in the spec, counts and ranges exact',
    run: async (cluster) => {
      const all =
        vpcYaml('fam4') +
        subnetYaml('fam4-net', {
          vpc: 'fam4',
          cidrBlock: '10.40.0.7/24',
          gateway: '10.40.0.254',
          excludeIps: ['10.40.0.10..10.40.0.20', '10.40.0.30'],
          namespaces: ['fam4'],
        }) +
        namespaceYaml('fam4');
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'fam4-net', 'Ready', 'True');
      await cluster.converged();
      const { spec, metadata } = await cluster.get('subnet', 'fam4-net');
      assert.deepEqual(
        {
          cidrBlock: spec['cidrBlock'],
          gateway: spec['gateway'],
          protocol: spec['protocol'],
          provider: spec['provider'],
          excludeIps: spec['excludeIps'],
          vpc: spec['vpc'],
          private: spec['private'],
          natOutgoing: spec['natOutgoing'],
          default: spec['default'],
        },
        {
          cidrBlock: '10.40.0.0/24',
          gateway: '10.40.0.254',
          protocol: 'IPv4',
          provider: 'ovn',
          excludeIps: ['10.40.0.10..10.40.0.20', '10.40.0.30', '10.40.0.254'],
          vpc: 'fam4',
          private: false,
          natOutgoing: false,
          default: false,
        },
      );
      const columns = (await cluster.kubectl(['get', 'subnet', 'fam4-net', '--no-headers'])).split(/ +/);
      // Blank columns would move the later ones.
      assert.deepEqual(columns.filter((one) => one === 'false').length, 3, columns.join(' '));
      const { status } = await cluster.get('subnet', 'fam4-net');
      const error = (status?.conditions ?? []).find(({ type }) => type === 'Error');
      assert.deepEqual([error?.status, error?.reason, error?.message], ['Unknown', 'Init', 'Not Observed']);
      assert.deepEqual(metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
      assert.deepEqual(await statusOf(cluster, 'fam4-net'), {
        v4availableIPs: 241,
        v4availableIPrange: '10.40.0.1-10.40.0.9,10.40.0.21-10.40.0.29,10.40.0.31-10.40.0.253',
        v4usingIPs: 0,
        v4usingIPrange: '',
        ...NOTHING_V6,
      });
      await cluster.apply(
        podYaml('fam4', 'one') + podYaml('fam4', 'two', { annotations: { 'ovn.kubernetes.io/ip_address': '10.40.0.30' } }),
      );
      assert.equal(await addressOf(cluster, 'fam4', 'one'), '10.40.0.1');
      assert.equal(await addressOf(cluster, 'fam4', 'two'), '10.40.0.30', 'an excluded address can be requested by name');
      await cluster.converged();
      assert.deepEqual(await statusOf(cluster, 'fam4-net'), {
        v4availableIPs: 240,
        v4availableIPrange: '10.40.0.2-10.40.0.9,10.40.0.21-10.40.0.29,10.40.0.31-10.40.0.253',
        v4usingIPs: 1,
        v4usingIPrange: '10.40.0.1',
        ...NOTHING_V6,
      });
      const namespace = await cluster.get('namespace', 'fam4');
      assert.equal(namespace.metadata.annotations?.['ovn.kubernetes.io/logical_switch'], 'fam4-net');
      assert.equal(namespace.metadata.annotations['ovn.kubernetes.io/cidr'], '10.40.0.0/24');
      await deletePod(cluster, 'fam4', 'one');
      await cluster.converged();
      assert.equal((await statusOf(cluster, 'fam4-net'))['v4usingIPs'], 0);
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'fam4'), []);
    },
  },
  {
    name: 'an IPv6 Subnet of a /64: its count is beyond 2^63, and its status is written once',
    run: async (cluster) => {
      const all =
        vpcYaml('fam6') + subnetYaml('fam6-net', { vpc: 'fam6', cidrBlock: 'fd00:40::/64', namespaces: ['fam6'] }) + namespaceYaml('fam6');
      await cluster.apply(all + podYaml('fam6', 'one'));
      assert.equal(await addressOf(cluster, 'fam6', 'one'), 'fd00:40::2');
      await cluster.converged();
      const status = await statusOf(cluster, 'fam6-net');
      assert.deepEqual(
        { ...status, v6availableIPs: 0 },
        {
          ...NOTHING_V4,
          v6availableIPs: 0,
          v6availableIPrange: 'fd00:40::3-fd00:40::ffff:ffff:ffff:fffe',
          v6usingIPs: 1,
          v6usingIPrange: 'fd00:40::2',
        },
      );
      assert.equal(Number(status['v6availableIPs']), 2 ** 64);
      assert.equal((await cluster.get('subnet', 'fam6-net')).spec['protocol'], 'IPv6');
      const router = rowNamed(await cluster.dump(), 'Logical_Router_Port', 'fam6-fam6-net');
      assert.equal(router['networks'], 'fd00:40::1/64');
      const { resourceVersion } = (await cluster.get('subnet', 'fam6-net')).metadata;
      await new Promise((resolve) => void setTimeout(resolve, 2_000));
      assert.equal((await cluster.get('subnet', 'fam6-net')).metadata.resourceVersion, resourceVersion);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a dual-stack Subnet: pods have both families, or the one they request',
    run: async (cluster) => {
      const all =
        vpcYaml('both46') +
        subnetYaml('both46-net', { vpc: 'both46', cidrBlock: '10.46.0.0/24,fd00:46::/112', namespaces: ['both46'] }) +
        namespaceYaml('both46');
      await cluster.apply(
        all +
          podYaml('both46', 'both') +
          podYaml('both46', 'four', { annotations: { 'ovn.kubernetes.io/ip_family': 'ipv4' } }) +
          podYaml('both46', 'six', { annotations: { 'ovn.kubernetes.io/ip_family': 'ipv6' } }),
      );
      const [v4 = '', v6 = ''] = (await addressOf(cluster, 'both46', 'both')).split(',');
      assert.match(v4, /^10\.46\.0\.\d+$/);
      assert.match(v6, /^fd00:46::/);
      assert.match(await addressOf(cluster, 'both46', 'four'), /^10\.46\.0\.\d+$/);
      assert.match(await addressOf(cluster, 'both46', 'six'), /^fd00:46::[0-9a-f]+$/);
      await cluster.converged();
      const dump = await cluster.dump();
      const { metadata } = await cluster.get('pod', 'both', 'both46');
      assert.equal(port(dump, 'both.both46')['addresses'], `${metadata.annotations?.['ovn.kubernetes.io/mac_address'] ?? ''} ${v4} ${v6}`);
      assert.equal(metadata.annotations?.['ovn.kubernetes.io/cidr'], '10.46.0.0/24,fd00:46::/112');
      assert.equal(metadata.annotations['ovn.kubernetes.io/gateway'], '10.46.0.1,fd00:46::1');
      assert.deepEqual(rowNamed(dump, 'Logical_Router_Port', 'both46-both46-net')['networks'], ['10.46.0.1/24', 'fd00:46::1/112']);
      const status = await statusOf(cluster, 'both46-net');
      assert.deepEqual(
        [status['v4usingIPs'], status['v4availableIPs'], status['v6usingIPs'], status['v6availableIPs']],
        [2, 251, 2, 65_531],
        'each family counts its own',
      );
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a private Subnet lets in its own pods, allowSubnets and nodes; custom ACLs with allowEWTraffic; opened again',
    run: async (cluster) => {
      const all =
        vpcYaml('walls') + subnetYaml('walled', { vpc: 'walls', cidrBlock: '10.47.0.0/24', private: true, allowSubnets: ['10.48.0.0/24'] });
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'walled', 'Ready', 'True');
      await cluster.converged();
      const wall = [
        '3000 to-lport ip4.src == 100.64.0.0/16 allow-related',
        '1001 to-lport (ip4.src == 10.47.0.0/24 && ip4.dst == 10.48.0.0/24) || (ip4.src == 10.48.0.0/24 && ip4.dst == 10.47.0.0/24) allow-related',
        '1001 to-lport ip4.src == 10.47.0.0/24 && ip4.dst == 10.47.0.0/24 allow-related',
        '1000 to-lport ip drop',
      ];
      const dump = await cluster.dump();
      assert.deepEqual(aclsOf(dump, 'walled'), wall);
      const acls = children(dump, rowNamed(dump, 'Logical_Switch', 'walled'), 'acls', 'ACL');
      assert.ok(
        acls.every((acl) => entries(acl['external_ids'])['parent'] === 'walled' && (acl['tier'] === undefined || acl['tier'] === 2)),
      );
      const drop = acls.find(({ action }) => action === 'drop');
      assert.deepEqual([drop?.['log'], drop?.['severity'], drop?.['name']], [true, 'warning', 'walled']);
      await cluster.patch('subnet', 'walled', {
        spec: {
          acls: [{ direction: 'to-lport', priority: 1111, match: 'ip4.src == 10.99.0.0/16', action: 'allow-related' }],
          allowEWTraffic: true,
        },
      });
      await cluster.converged();
      assert.deepEqual(aclsOf(await cluster.dump(), 'walled'), [
        wall[0],
        '1900 from-lport ip4.src == 10.47.0.0/24 && ip4.dst == 10.47.0.0/24 allow',
        '1900 to-lport ip4.src == 10.47.0.0/24 && ip4.dst == 10.47.0.0/24 allow',
        '1111 to-lport ip4.src == 10.99.0.0/16 allow-related',
        ...wall.slice(1),
      ]);
      await cluster.patch('subnet', 'walled', { spec: { private: false, acls: null, allowEWTraffic: false } });
      await cluster.converged();
      assert.deepEqual(aclsOf(await cluster.dump(), 'walled'), []);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'DHCP and router advertisements: options rows, their UUIDs in the status, ports that refer to them; switched off again',
    run: async (cluster) => {
      const all =
        vpcYaml('dhcp') +
        subnetYaml('dhcp-net', {
          vpc: 'dhcp',
          cidrBlock: '10.49.0.0/24,fd00:49::/64',
          enableDHCP: true,
          dhcpV4Options: 'lease_time=7200,dns_server=8.8.8.8',
          enableIPv6RA: true,
          namespaces: ['dhcp'],
        }) +
        namespaceYaml('dhcp');
      await cluster.apply(all + podYaml('dhcp', 'client'));
      await running(cluster, 'dhcp', 'client');
      await cluster.converged();
      const dump = await cluster.dump();
      const options = (dump.get('DHCP_Options') ?? []).filter((row) => entries(row['external_ids'])['ls'] === 'dhcp-net');
      const [v4, v6] = ['IPv4', 'IPv6'].map((protocol) => options.find((row) => entries(row['external_ids'])['protocol'] === protocol));
      const { server_mac: serverMac, ...dhcpOptions } = entries(v4?.['options']);
      assert.deepEqual(dhcpOptions, {
        lease_time: '7200',
        dns_server: '8.8.8.8',
        router: '10.49.0.1',
        server_id: '169.254.0.254',
        mtu: '1400',
      });
      assert.match(serverMac ?? '', /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
      assert.equal(v4?.['cidr'], '10.49.0.0/24');
      assert.equal(v6?.['cidr'], 'fd00:49::/64');
      const { status } = await cluster.get('subnet', 'dhcp-net');
      assert.deepEqual([status?.['dhcpV4OptionsUUID'], status?.['dhcpV6OptionsUUID']], [v4['_uuid'], v6['_uuid']]);
      assert.deepEqual(
        [port(dump, 'client.dhcp')['dhcpv4_options'], port(dump, 'client.dhcp')['dhcpv6_options']],
        [v4['_uuid'], v6['_uuid']],
      );
      assert.deepEqual(rowNamed(dump, 'Logical_Router_Port', 'dhcp-dhcp-net')['ipv6_ra_configs'], {
        address_mode: 'dhcpv6_stateful',
        max_interval: '30',
        min_interval: '5',
        send_periodic: 'true',
      });
      await cluster.patch('subnet', 'dhcp-net', { spec: { enableDHCP: false, enableIPv6RA: false } });
      await cluster.converged();
      const after = await cluster.dump();
      assert.equal(
        (after.get('DHCP_Options') ?? []).some((row) => entries(row['external_ids'])['ls'] === 'dhcp-net'),
        false,
      );
      assert.deepEqual(port(after, 'client.dhcp')['dhcpv4_options'], []);
      assert.deepEqual(rowNamed(after, 'Logical_Router_Port', 'dhcp-dhcp-net')['ipv6_ra_configs'], {});
      await cluster.removeAll(all);
    },
  },
];
