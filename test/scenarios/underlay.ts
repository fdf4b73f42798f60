/** Networks of the underlay as a user makes them: ProviderNetwork, Vlan, Subnet and pods, in any order, and deleted in any order. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { entries } from '../../src/testing/northbound-dump.ts';
import { port, rowNamed, rowsNamed, traces } from './northbound.ts';
import { addressOf, condition, custom, namespaceYaml, podYaml, running, subnetYaml, untilDeleted, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const network = (name: string, spec: object = {}): string => custom('ProviderNetwork', name, { defaultInterface: 'eth1', ...spec });
const vlan = (name: string, provider: string, id: number): string => custom('Vlan', name, { id, provider });

/** Nodes get what their agents write; `null` takes it away. */
async function agentsSay(cluster: ScenarioCluster, name: string, ready: 'true' | null): Promise<void> {
  for (const node of ['node-1', 'node-2'])
    await cluster.patch('node', node, { metadata: { labels: { [`${name}.provider-network.kubernetes.io/ready`]: ready } } });
}

/** `network tag` of the localnet port. */
async function localnet(cluster: ScenarioCluster, subnet: string): Promise<string> {
  const row = port(await cluster.dump(), `localnet.${subnet}`);
  return `${String(row['type'])} ${entries(row['options'])['network_name']} ${String(row['tag'])}`;
}

/** A permutation of what there is, by its names. */
interface Part {
  readonly kind: string;
  readonly name: string;
  readonly yaml: string;
}

export const underlay: readonly Scenario[] = [
  {
    name: 'T67 an underlay network by the guide, then in the wrong order; deleted in any order it leaves nothing',
    run: async (cluster) => {
      const name = 'guide';
      const parts: readonly Part[] = [
        { kind: 'provider-network', name, yaml: network(name) },
        { kind: 'vlan', name: `${name}-vlan`, yaml: vlan(`${name}-vlan`, name, 66) },
        {
          kind: 'subnet',
          name: `${name}-net`,
          yaml: subnetYaml(`${name}-net`, {
            ...{ protocol: 'IPv4', cidrBlock: '10.166.0.0/24', gateway: '10.166.0.1', vlan: `${name}-vlan` },
            ...{ excludeIps: ['10.166.0.2..10.166.0.9'], namespaces: [name] },
          }),
        },
      ];
      const [pn, lan, net] = parts as [Part, Part, Part];
      const pods = namespaceYaml(name) + podYaml(name, 'web', { node: 'node-1' }) + podYaml(name, 'db', { node: 'node-2' });
      const orders: readonly (readonly Part[])[] = [
        [pn, lan, net],
        [net, lan, pn],
        [lan, net, pn],
      ];
      for (const [at, order] of orders.entries()) {
        if (at === 0) {
          await cluster.apply(order.map(({ yaml }) => yaml).join('') + pods);
          const { message } = await condition(cluster, 'provider-network', name, 'Ready', 'False').catch(async () => {
            // Conditions of this kind are in an annotation.
            const object = await cluster.get('provider-network', name);
            return { message: object.metadata.annotations?.['kiln.io/conditions'] ?? '' };
          });
          assert.match(message, /has not reported it yet/);
        } else {
          await cluster.apply(namespaceYaml(name));
          for (const { yaml } of order) {
            await cluster.apply(yaml);
            if (at === 1) await cluster.stable();
          }
          await cluster.apply(pods);
        }
        await agentsSay(cluster, name, 'true');
        await cluster.eventually('kubectl shows the network ready', async () => {
          const { status } = await cluster.get('provider-network', name);
          return (
            status?.['ready'] === true && String(status['readyNodes']) === 'node-1,node-2' && String(status['vlans']) === `${name}-vlan`
          );
        });
        await condition(cluster, 'subnet', `${name}-net`, 'Ready', 'True');
        assert.equal(await addressOf(cluster, name, 'web').then((address) => address.startsWith('10.166.0.')), true);
        const { annotations = {} } = (await running(cluster, name, 'db')).metadata;
        const said = ['vlan_id', 'provider_network', 'gateway', 'logical_router'].map((key) => annotations[`ovn.kubernetes.io/${key}`]);
        assert.deepEqual(said, ['66', name, '10.166.0.1', undefined]);
        assert.equal(await localnet(cluster, `${name}-net`), `localnet ${name} 66`);
        assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router_Port', `ovn-cluster-${name}-net`), []);
        assert.deepEqual((await cluster.get('vlan', `${name}-vlan`)).status?.['subnets'], [`${name}-net`]);

        // Each waits for what uses it, whatever was deleted first.
        for (const { kind, name: one } of order) await cluster.delete(kind, one);
        await cluster.eventually('each says what it waits for', async () => {
          const { status } = await cluster.get('vlan', `${name}-vlan`);
          return status?.conditions?.some(({ type, message = '' }) => type === 'DeletionBlocked' && message.includes(`Subnet ${name}-net`));
        });
        assert.equal(await localnet(cluster, `${name}-net`), `localnet ${name} 66`, 'its pods run on');
        await cluster.removeAll(podYaml(name, 'web') + podYaml(name, 'db'));
        for (const { kind, name: one } of parts) await untilDeleted(cluster, kind, one);
        await agentsSay(cluster, name, null);
        await cluster.converged();
        assert.deepEqual(traces(await cluster.dump(), `${name}-net`, `${name}-vlan`), []);
      }
      await cluster.removeAll(namespaceYaml(name));
    },
  },
  {
    name: 'T66 of two Vlans with one tag the older one has it, both say so, and the conflict ends when either gives the tag up',
    run: async (cluster) => {
      const name = 'twins';
      const nets =
        subnetYaml('twins-a', { cidrBlock: '10.167.0.0/24', vlan: 'twins-old' }) +
        subnetYaml('twins-b', { cidrBlock: '10.167.1.0/24', vlan: 'twins-new' });
      await cluster.apply(network(name) + vlan('twins-old', name, 67));
      await cluster.eventually('the older one is older by a second', async () => {
        const { metadata } = await cluster.get('vlan', 'twins-old');
        return Date.now() - Date.parse(String((metadata as { creationTimestamp?: string }).creationTimestamp)) > 1_000;
      });
      const conflict = async (one: string): Promise<boolean> => (await cluster.get('vlan', one)).status?.['conflict'] === true;
      const twin = vlan('twins-new', name, 67);
      await cluster.apply(twin + nets);
      assert.match(
        (await condition(cluster, 'vlan', 'twins-old', 'VlanConflict', 'True')).message,
        /Vlan twins-new, which is newer, waits/,
      );
      assert.match((await condition(cluster, 'vlan', 'twins-new', 'Accepted', 'False')).message, /is the tag of Vlan twins-old/);
      assert.deepEqual([await conflict('twins-old'), await conflict('twins-new')], [false, true]);
      await condition(cluster, 'subnet', 'twins-a', 'Ready', 'True');
      assert.match((await condition(cluster, 'subnet', 'twins-b', 'Ready', 'False')).message, /is the tag of Vlan twins-old/);

      await cluster.patch('vlan', 'twins-old', { spec: { id: 68 } });
      await condition(cluster, 'subnet', 'twins-b', 'Ready', 'True');
      assert.deepEqual([await conflict('twins-old'), await conflict('twins-new')], [false, false]);
      const old = (await cluster.get('vlan', 'twins-old')).status?.conditions ?? [];
      assert.ok(old.every(({ type }) => type !== 'VlanConflict'));
      assert.deepEqual(
        [await localnet(cluster, 'twins-a'), await localnet(cluster, 'twins-b')],
        ['localnet twins 68', 'localnet twins 67'],
      );

      await cluster.patch('vlan', 'twins-new', { spec: { id: 68 } });
      await cluster.eventually('the newer one is in conflict again', () => conflict('twins-new'));
      await cluster.removeAll(subnetYaml('twins-a', {}) + vlan('twins-old', name, 68));
      await cluster.eventually('and not without the older one', async () => !(await conflict('twins-new')));
      await cluster.converged();
      assert.equal(await localnet(cluster, 'twins-b'), 'localnet twins 68');
      await cluster.removeAll(nets + twin + network(name));
    },
  },
  {
    name: 'T69 u2o by ovn-trace: overlay to underlay and back, the rest by the physical gateway, in the default and a custom Vpc; off it takes exactly its own away',
    run: async (cluster) => {
      const name = 'u2o';
      await cluster.apply(network(name) + vlan('u2o-a', name, 69) + vlan('u2o-b', name, 70));
      for (const [vpc, octet, lan] of [
        ['ovn-cluster', 168, 'u2o-a'],
        ['u2o-vpc', 169, 'u2o-b'],
      ] as const) {
        const [under, over] = [`u2o-under-${octet}`, `u2o-over-${octet}`];
        const spec = { vpc, vlan: lan, cidrBlock: `10.${octet}.0.0/24,fd00:${octet}::/64`, namespaces: [under] };
        const all =
          (vpc === 'ovn-cluster' ? '' : vpcYaml(vpc)) +
          subnetYaml(under, spec) +
          subnetYaml(over, { vpc, cidrBlock: `10.${octet}.1.0/24,fd00:${octet}:1::/64`, namespaces: [over] }) +
          namespaceYaml(under) +
          namespaceYaml(over);
        await cluster.apply(all + podYaml(under, 'web') + podYaml(over, 'app'));
        const [web, app] = [await running(cluster, under, 'web'), await running(cluster, over, 'app')];
        await cluster.converged();
        const before = new Set(traces(await cluster.dump(), under));
        await cluster.patch('subnet', under, { spec: { u2oInterconnection: true } });
        const router = await cluster.eventually('the router has an address', async () => {
          const { status = {} } = await cluster.get('subnet', under);
          return String(status['u2oInterconnectionIP'] ?? '') === '' ? undefined : String(status['u2oInterconnectionIP']);
        });
        assert.equal(router.split(',').length, 2, router);
        await cluster.converged();
        const dump = await cluster.dump();
        const mac = (subnet: string): string => String(rowNamed(dump, 'Logical_Router_Port', `${vpc}-${subnet}`)['mac']);
        const said = (pod: typeof web, key: string): readonly string[] =>
          (pod.metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '').split(',');
        const [v4, v6] = [0, 1].map((i) => (pod: typeof web) => said(pod, 'ip_address')[i] ?? '') as [
          (pod: typeof web) => string,
          (pod: typeof web) => string,
        ];
        const trace = async (from: typeof web, to: string): Promise<string> => {
          const subnet = from === web ? under : over;
          const ip = to.includes(':') ? 'ip6' : 'ip4';
          const source = ip === 'ip6' ? v6(from) : v4(from);
          const flow = [
            `inport == "${from === web ? `web.${under}` : `app.${over}`}"`,
            `eth.src == ${said(from, 'mac_address')[0]} && eth.dst == ${mac(subnet)}`,
            `${ip}.src == ${source} && ${ip}.dst == ${to} && ip.ttl == 64 && ${ip === 'ip6' ? 'icmp6.type == 128' : 'icmp4.type == 8'}`,
          ];
          return await cluster.ovn.trace('--ct=new', '--minimal', subnet, flow.join(' && '));
        };
        await cluster.eventually('packets go between overlay and underlay, and out by the physical gateway', async () => {
          assert.match(await trace(app, v4(web)), new RegExp(`output\\("web\\.${under}"\\)`));
          assert.match(await trace(web, v4(app)), new RegExp(`output\\("app\\.${over}"\\)`));
          assert.match(await trace(app, v6(web)), new RegExp(`output\\("web\\.${under}"\\)`));
          assert.match(await trace(web, v6(app)), new RegExp(`output\\("app\\.${over}"\\)`));
          // The MAC of the gateway is not known: the router asks for it in the VLAN.
          const outside = await trace(web, '198.51.100.7');
          assert.match(outside, new RegExp(`output\\("localnet\\.${under}"\\)`));
          assert.ok(outside.includes(`arp.tpa = 0x${((10 << 24) | (octet << 16) | 1).toString(16)};`), outside);
          assert.doesNotMatch(outside, /join/);
          if (vpc !== 'ovn-cluster') return true;
          // The reply of a node to a hostPort would come by the physical network.
          const { addresses } = ((await cluster.get('node', 'node-1')).status ?? {}) as {
            readonly addresses: readonly { readonly address: string }[];
          };
          const toNode = await trace(web, addresses[0]?.address ?? '');
          assert.match(toNode, new RegExp(`output\\("localnet\\.${under}"\\)`));
          assert.doesNotMatch(toNode, /node-node-1/);
          return true;
        });
        await cluster.patch('subnet', under, { spec: { u2oInterconnection: false } });
        await cluster.eventually('exactly its own is gone', async () => {
          const now = traces(await cluster.dump(), under);
          return now.length === before.size && now.every((one) => before.has(one));
        });
        assert.equal(await cluster.find('ip', `u2o-interconnection.${vpc}.${under}`), undefined);
        await cluster.removeAll(all + podYaml(under, 'web') + podYaml(over, 'app'));
      }
      await cluster.removeAll(vlan('u2o-a', name, 69) + vlan('u2o-b', name, 70) + network(name));
    },
  },
  {
    name: 'u2o without load balancers of OVN: what pods send to Services goes to their node, and nothing of it stays',
    run: async (cluster) => {
      const name = 'nolb';
      const all =
        network(name) +
        vlan('nolb-vlan', name, 71) +
        subnetYaml('nolb-net', {
          ...{ cidrBlock: '10.170.0.0/24', vlan: 'nolb-vlan', namespaces: [name] },
          ...{ u2oInterconnection: true, enableLb: false },
        }) +
        namespaceYaml(name);
      await cluster.apply(all + podYaml(name, 'web', { node: 'node-1' }));
      const web = await running(cluster, name, 'web');
      await cluster.converged();
      const dump = await cluster.dump();
      const group = rowNamed(dump, 'Port_Group', 'nolb.net.node.1');
      const { lr, ls, u2o } = entries(group['external_ids']);
      assert.deepEqual({ lr, ls, u2o }, { lr: 'ovn-cluster', ls: 'nolb-net', u2o: 'true' });
      const said = (key: string): string => web.metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
      const mac = String(rowNamed(dump, 'Logical_Router_Port', 'ovn-cluster-nolb-net')['mac']);
      await cluster.eventually('a Service is reached through the node', async () => {
        const traced = await cluster.ovn.trace(
          '--ct=new',
          '--minimal',
          'nolb-net',
          `inport == "web.nolb" && eth.src == ${said('mac_address')} && eth.dst == ${mac} && ip4.src == ${said('ip_address')} && ip4.dst == 10.96.0.10 && ip.ttl == 64 && tcp && tcp.dst == 443`,
        );
        return /output\("node-node-1"\)/.test(traced);
      });
      await cluster.patch('subnet', 'nolb-net', { spec: { enableLb: true } });
      await cluster.eventually('with load balancers of OVN it is not', async () => {
        const now = await cluster.dump();
        const policies = (now.get('Logical_Router_Policy') ?? []).filter(
          (row) => entries(row['external_ids'])['isU2ONoLBRoutePolicy'] === 'true',
        );
        return policies.length === 0 && rowsNamed(now, 'Port_Group', 'nolb.net.node.1').length === 0;
      });
      await cluster.removeAll(all + podYaml(name, 'web'));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'nolb'), []);
    },
  },
];
