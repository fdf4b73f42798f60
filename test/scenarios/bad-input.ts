/** Invalid input: it is reported with field, value and rule, it does not delay other objects, and it takes effect once it is corrected. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { entries } from '../../src/testing/northbound-dump.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import { aclsOf, policiesOf, rowsNamed } from './northbound.ts';
import type { Scenario } from './scenario.ts';

interface InvalidSubnet {
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly patterns: readonly RegExp[];
  readonly fixed: Readonly<Record<string, unknown>>;
}

const INVALID_SUBNETS: readonly InvalidSubnet[] = [
  {
    name: 'bad-cidr',
    spec: { vpc: 'bad', cidrBlock: '10.120.0.0/33' },
    patterns: [/cidrBlock/, /10\.120\.0\.0\/33/],
    fixed: { cidrBlock: '10.120.0.0/24' },
  },
  {
    name: 'bad-gateway',
    spec: { vpc: 'bad', cidrBlock: '10.121.0.0/24', gateway: '10.122.0.1' },
    patterns: [/gateway/, /10\.122\.0\.1/, /10\.121\.0\.0\/24/],
    fixed: { gateway: '10.121.0.1', excludeIps: ['10.121.0.1'] },
  },
  {
    name: 'bad-exclude',
    spec: { vpc: 'bad', cidrBlock: '10.123.0.0/24', excludeIps: ['10.123.0.9..10.123.0.3'] },
    patterns: [/excludeIps/, /10\.123\.0\.9\.\.10\.123\.0\.3/],
    fixed: { excludeIps: ['10.123.0.3..10.123.0.9'] },
  },
  {
    name: 'bad-vpc',
    spec: { vpc: 'bad-nowhere', cidrBlock: '10.124.0.0/24' },
    patterns: [/spec\.vpc "bad-nowhere" names a Vpc that does not exist/],
    fixed: { vpc: 'bad' },
  },
];

export const badInput: readonly Scenario[] = [
  {
    name: 'Subnets with an invalid CIDR, a gateway outside, a reversed range, a missing Vpc: each reports its fault, the others work, and each works once fixed',
    alone: true,
    run: async (cluster) => {
      const vpc = vpcYaml('bad');
      const good = subnetYaml('bad-good', { vpc: 'bad', cidrBlock: '10.125.0.0/24', namespaces: ['bad'] }) + namespaceYaml('bad');
      await cluster.apply(vpc + INVALID_SUBNETS.map(({ name, spec }) => subnetYaml(name, spec)).join('') + good + podYaml('bad', 'pod'));
      assert.equal(await addressOf(cluster, 'bad', 'pod'), '10.125.0.2');
      for (const { name, patterns } of INVALID_SUBNETS) {
        const { message } = await condition(cluster, 'subnet', name, 'Ready', 'False');
        for (const pattern of patterns) assert.match(message, pattern);
        await cluster.eventually(`an Event on ${name}`, async () =>
          (await cluster.events('Subnet', name)).some((event) => event.type === 'Warning' && event.message === message),
        );
        assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch', name), []);
      }
      await cluster.converged();
      // Events about earlier changes may still be sent, at most twenty a second.
      await cluster.eventually('a mistake that stands costs no write: five seconds without one', async () => {
        const before = await cluster.api.writes((...args) => cluster.kubectl(args));
        await sleep(5_000);
        return (await cluster.api.writes((...args) => cluster.kubectl(args))) === before;
      });
      for (const { name, fixed } of INVALID_SUBNETS) {
        await cluster.patch('subnet', name, { spec: fixed });
        await condition(cluster, 'subnet', name, 'Ready', 'True');
      }
      await cluster.converged();
      for (const { name } of INVALID_SUBNETS) assert.equal(rowsNamed(await cluster.dump(), 'Logical_Switch', name).length, 1);
      await cluster.removeAll(INVALID_SUBNETS.map(({ name }) => subnetYaml(name, {})).join('') + good + vpc);
    },
  },
  {
    name: 'an invalid Subnet can be deleted, and one that was never in effect leaves no row',
    run: async (cluster) => {
      await cluster.apply(subnetYaml('never', { cidrBlock: 'nonsense' }));
      await condition(cluster, 'subnet', 'never', 'Ready', 'False');
      await cluster.delete('subnet', 'never');
      await untilDeleted(cluster, 'subnet', 'never');
    },
  },
  {
    name: 'Subnet and Vpc report each match and option that OVN cannot parse; their other items are in effect, and the fixed ones too',
    run: async (cluster) => {
      const policy = (priority: number, match: string): object => ({ priority, match, action: 'drop' });
      const acl = (priority: number, match: string): object => ({ direction: 'to-lport', priority, match, action: 'drop' });
      const vpc = (...policyRoutes: readonly object[]): string => vpcYaml('lang', { policyRoutes });
      const net = (dhcpV4Options: string, ...acls: readonly object[]): string =>
        subnetYaml('lang-net', { vpc: 'lang', cidrBlock: '10.127.0.0/24', namespaces: ['lang'], enableDHCP: true, dhcpV4Options, acls });
      const wrong =
        vpc(policy(20, 'ip4.dst = 10.1.1.1'), policy(21, 'ip4.dst == 10.1.1.2 && !tcp'), policy(22, 'ip4.dst == 10.1.1.3')) +
        net('dns=8.8.8.8,lease_time=60', acl(5, 'ip4 and tcp.dst == 22'), acl(6, 'tcp.dst == 23'));
      await cluster.apply(wrong + namespaceYaml('lang') + podYaml('lang', 'web'));
      await running(cluster, 'lang', 'web');
      const ofVpc = (await condition(cluster, 'vpc', 'lang', 'Accepted', 'False')).message;
      for (const part of [
        'policyRoutes[0].match',
        'at character 9 (=)',
        'policyRoutes[1].match',
        'OVN has no !tcp',
        'kubectl edit vpc lang',
      ])
        assert.ok(ofVpc.includes(part), `${part}: ${ofVpc}`);
      const ofSubnet = (await condition(cluster, 'subnet', 'lang-net', 'Accepted', 'False')).message;
      for (const part of ['acls[0].match', 'at character 5 (and)', 'dhcpV4Options', '"dns=8.8.8.8"', 'kubectl edit subnet lang-net'])
        assert.ok(ofSubnet.includes(part), `${part}: ${ofSubnet}`);
      await cluster.converged();
      const dump = await cluster.dump();
      assert.deepEqual(aclsOf(dump, 'lang-net'), ['6 to-lport tcp.dst == 23 drop']);
      assert.deepEqual(
        policiesOf(dump, 'lang').filter((text) => text.includes('10.1.1.')),
        ['22 ip4.dst == 10.1.1.3 drop'],
      );
      await cluster.apply(
        vpc(policy(20, 'ip4.dst == 10.1.1.1'), policy(22, 'ip4.dst == 10.1.1.3')) +
          net('dns_server=8.8.8.8;1.1.1.1,lease_time=60', acl(5, 'ip4 && tcp.dst == 22'), acl(6, 'tcp.dst == 23')),
      );
      await condition(cluster, 'vpc', 'lang', 'Accepted', 'True');
      await condition(cluster, 'subnet', 'lang-net', 'Accepted', 'True');
      await cluster.converged();
      const after = await cluster.dump();
      assert.equal(aclsOf(after, 'lang-net').length, 2);
      assert.equal(policiesOf(after, 'lang').filter((text) => text.includes('10.1.1.')).length, 2);
      const dhcp = (after.get('DHCP_Options') ?? []).map((row) => entries(row['options'])['dns_server']);
      assert.ok(dhcp.includes('{8.8.8.8,1.1.1.1}'), dhcp.join('; '));
      await cluster.removeAll(podYaml('lang', 'web') + wrong + namespaceYaml('lang'));
    },
  },
  {
    name: 'each pod reports its invalid annotations, the other pods run, and a fixed pod runs',
    run: async (cluster) => {
      const all =
        vpcYaml('odd') + subnetYaml('odd-net', { vpc: 'odd', cidrBlock: '10.126.0.0/24', namespaces: ['odd'] }) + namespaceYaml('odd');
      const requests: Readonly<Record<string, readonly [key: string, value: string]>> = {
        address: ['ip_address', 'ten.nil.nil.one'],
        mac: ['mac_address', '00:00:00:zz:00:01'],
        family: ['ip_family', 'ipv5'],
        pool: ['ip_pool', '10.126.0.5,elsewhere'],
      };
      const pods = Object.entries(requests).map(([name, [key, value]]) =>
        podYaml('odd', name, { annotations: { [`ovn.kubernetes.io/${key}`]: value } }),
      );
      await cluster.apply(all + pods.join('') + podYaml('odd', 'fine'));
      await running(cluster, 'odd', 'fine');
      for (const [name, [key, value]] of Object.entries(requests)) {
        const { message } = await condition(cluster, 'pod', name, 'kiln.io/NetworkBound', 'False', 'odd');
        assert.match(message, new RegExp(key), name);
        assert.ok(message.includes(value) || value.split(',').some((part) => message.includes(part)), `${name} reports: ${message}`);
        await cluster.kubectl(['annotate', 'pod', name, '-n', 'odd', `ovn.kubernetes.io/${key}-`]);
        await running(cluster, 'odd', name);
      }
      await cluster.removeAll(all);
    },
  },
  {
    name: 'Kiln corrects a CIDR that is written as one of its addresses: condition and Event report the former value until the next edit',
    run: async (cluster) => {
      const all = vpcYaml('bits-vpc') + subnetYaml('bits-net', { vpc: 'bits-vpc', cidrBlock: '10.129.3.4/16,fd00:129::5/64' });
      await cluster.apply(all);
      const { message } = await condition(cluster, 'subnet', 'bits-net', 'Corrected', 'True');
      assert.match(message, /spec\.cidrBlock "10\.129\.3\.4\/16,fd00:129::5\/64" has bits set beyond the prefix/);
      await cluster.eventually('an Event as well', async () =>
        (await cluster.events('Subnet', 'bits-net')).some((event) => event.reason === 'HostBitsCleared' && event.message === message),
      );
      await condition(cluster, 'subnet', 'bits-net', 'Ready', 'True');
      await cluster.eventually('the network is in effect', async () => {
        const { spec } = (await cluster.get('subnet', 'bits-net')) as { spec?: { cidrBlock?: string } };
        return spec?.cidrBlock === '10.129.0.0/16,fd00:129::/64';
      });
      await cluster.converged();
      await condition(cluster, 'subnet', 'bits-net', 'Corrected', 'True');
      await cluster.kubectl(['patch', 'subnet', 'bits-net', '--type=merge', '-p', '{"spec":{"mtu":1300}}']);
      await cluster.eventually('the condition is gone', async () => {
        const { status } = (await cluster.get('subnet', 'bits-net')) as { status?: { conditions?: readonly { type: string }[] } };
        return status?.conditions?.every(({ type }) => type !== 'Corrected') === true;
      });
      await cluster.removeAll(all);
    },
  },
  {
    name: 'objects report invalid values that never reach OVN: the provider of another definition, namespaces that do not exist; Kiln corrects an annotation that binds no pod, with an Event',
    run: async (cluster) => {
      const definition = `---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: astray, namespace: said}
spec: {config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"other.said.ovn"}'}
`;
      const annotated = `---
apiVersion: v1
kind: Namespace
metadata: {name: said, annotations: {ovn.kubernetes.io/logical_switch: elsewhere}}
`;
      const net =
        vpcYaml('said-vpc') + subnetYaml('said-net', { vpc: 'said-vpc', cidrBlock: '10.128.0.0/24', namespaces: ['said', 'unmade'] });
      await cluster.apply(annotated + net + definition);
      const { message } = await condition(cluster, 'subnet', 'said-net', 'WithoutEffect', 'True');
      assert.match(message, /spec\.namespaces\[1\] "unmade" does not exist/);
      await cluster.eventually('the definition reports it in its annotation', async () => {
        const { metadata } = await cluster.get('net-attach-def', 'astray', 'said');
        assert.match(
          metadata.annotations?.['kiln.io/conditions'] ?? '',
          /spec\.config\.provider \\"other\.said\.ovn\\" .*: write astray\.said\.ovn/,
        );
        return true;
      });
      await cluster.eventually('an Event on the namespace', async () =>
        (await cluster.events('Namespace', 'said')).some(
          ({ reason, message: text }) => reason === 'FieldCorrected' && text.includes('"elsewhere" binds nothing'),
        ),
      );
      await cluster.eventually('the annotation names the Subnet', async () => {
        const { metadata } = await cluster.get('namespace', 'said');
        return metadata.annotations?.['ovn.kubernetes.io/logical_switch'] === 'said-net';
      });
      await cluster.apply(namespaceYaml('unmade'));
      await cluster.eventually('the Subnet has nothing to say', async () => {
        const { status } = (await cluster.get('subnet', 'said-net')) as { status?: { conditions?: readonly { type: string }[] } };
        assert.ok(status?.conditions?.every(({ type }) => type !== 'WithoutEffect'));
        return true;
      });
      await cluster.removeAll(definition + net + annotated + namespaceYaml('unmade'));
    },
  },
];
