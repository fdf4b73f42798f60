/** What NAT rules translate, by ovn-trace: each kind, both families, there and back. */
import assert from 'node:assert/strict';
import type { PrintedObject, ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { gatewayNodes, network, object, ready, said } from './nat-network.ts';
import { rowNamed } from './northbound.ts';
import { podYaml, running, untilDeleted } from './pods.ts';
import type { Scenario } from './scenario.ts';

const EIPS = { central: 21, distributed: 22, shared: 23 } as const;
type Eip = keyof typeof EIPS;
const PODS = ['central', 'distributed', 'plain'] as const;

interface Station {
  /** Of its pod. */
  readonly port: string;
  readonly pod: PrintedObject;
}

interface Packet {
  readonly from: Station;
  readonly to: string;
  /** Of a connection of TCP; without it an echo request. */
  readonly tcp?: string;
  /** The answer of a connection. */
  readonly reply?: boolean;
}

interface Traced {
  /** Ports of pods at which it arrives. */
  readonly arrives: readonly string[];
  /** Without blanks. */
  readonly text: string;
}

function addressOf({ pod }: Station, family: 4 | 6): string {
  return said(pod, 'ip_address').split(',')[family === 4 ? 0 : 1] ?? '';
}

const eipAddress = (eip: Eip, family: 4 | 6): string => (family === 4 ? `172.173.0.${EIPS[eip]}` : `fd00:173:ff::${EIPS[eip]}`);

/** Sends packets between a pod of the Vpc and a pod in its external Subnet. */
function tracer(cluster: ScenarioCluster, macs: Readonly<Record<'inside' | 'outside', string>>) {
  return async ({ from, to, tcp, reply = false }: Packet): Promise<Traced> => {
    const family = to.includes(':') ? 6 : 4;
    const isOutside = from.port.endsWith('.traced-out');
    const flow = [
      `inport == "${from.port}" && eth.src == ${said(from.pod, 'mac_address')}`,
      `eth.dst == ${isOutside ? macs.outside : macs.inside}`,
      `ip${family}.src == ${addressOf(from, family)} && ip${family}.dst == ${to} && ip.ttl == 64`,
      tcp === undefined ? `icmp${family}.type == ${family === 4 ? 8 : 128}` : `tcp && ${tcp}`,
    ].join(' && ');
    // One for each time that conntrack looks at the packet: also in a switch with vips of Services.
    const states = Array.from({ length: 3 }, () => (reply ? '--ct=est,rpl' : '--ct=new'));
    const trace = await cluster.ovn.trace(...states, '--detailed', isOutside ? 'traced-ext' : 'traced-net', flow);
    return {
      arrives: [...trace.matchAll(/output to "([^"]+\.traced(?:-out)?)"/g)].map(([, port]) => port ?? ''),
      text: trace.replaceAll(/\s/g, ''),
    };
  };
}

export const natTraces: readonly Scenario[] = [
  {
    name: 'OvnFips of both types, an OvnSnatRule and an OvnDnatRule: ovn-trace shows the translation of both families there and back, and nothing after their deletion',
    alone: true,
    run: async (cluster) => {
      await gatewayNodes(cluster, 'true');
      const eips = (Object.keys(EIPS) as Eip[])
        .map((name) => object('OvnEip', name, { externalSubnet: 'traced-ext', v4Ip: eipAddress(name, 4), v6Ip: eipAddress(name, 6) }))
        .join('');
      const port = { protocol: 'tcp', externalPort: '8080', internalPort: '80' };
      const rules =
        object('OvnFip', 'central', { ovnEip: 'central', ipName: 'central.traced', type: 'centralized' }) +
        object('OvnFip', 'distributed', { ovnEip: 'distributed', ipName: 'distributed.traced', type: 'distributed' }) +
        object('OvnSnatRule', 'shared', { ovnEip: 'shared', vpcSubnet: 'traced-net' }) +
        object('OvnDnatRule', 'shared', { ovnEip: 'shared', ipName: 'plain.traced', ...port });
      const workloads = [...PODS.map((name) => podYaml('traced', name)), podYaml('traced-out', 'host')].join('');
      // OVN distributes a translation in a physical network alone.
      const physical =
        object('ProviderNetwork', 'traced', { defaultInterface: 'eth1' }) + object('Vlan', 'traced', { id: 0, provider: 'traced' });
      await cluster.apply(physical + network('traced', 173, 'traced') + workloads + eips + rules);
      const station = async (namespace: string, name: string): Promise<Station> => ({
        port: `${name}.${namespace}`,
        pod: await running(cluster, namespace, name),
      });
      const [central, distributed, plain] = [
        await station('traced', 'central'),
        await station('traced', 'distributed'),
        await station('traced', 'plain'),
      ];
      const host = await station('traced-out', 'host');
      for (const [kind, name] of [
        ['ovn-fip', 'central'],
        ['ovn-fip', 'distributed'],
        ['ovn-snat-rule', 'shared'],
        ['ovn-dnat-rule', 'shared'],
      ] as const)
        await ready(cluster, kind, name);
      await cluster.converged();
      await cluster.ovn.nbctl('--wait=sb', 'sync');
      const dump = await cluster.dump();
      const macOf = (name: string): string => String(rowNamed(dump, 'Logical_Router_Port', name)['mac']);
      const inside = macOf('traced-traced-net');
      const trace = tracer(cluster, { inside, outside: macOf('traced-traced-ext') });
      const ofPod = tracer(cluster, { inside, outside: said(distributed.pod, 'mac_address') });
      for (const family of [4, 6] as const) {
        const outside = addressOf(host, family);
        const snat = (eip: Eip): RegExp => new RegExp(`ct_snat(?:_in_czone)?\\(?(?:ip${family}\\.src=)?${eipAddress(eip, family)}`);
        // An OvnFip of the gateway node: connections are tracked.
        assert.deepEqual((await trace({ from: host, to: eipAddress('central', family) })).arrives, ['central.traced']);
        const out = await trace({ from: central, to: outside });
        assert.deepEqual(out.arrives, ['host.traced-out']);
        assert.match(out.text, snat('central'));
        // An OvnFip of the pod's own node, at the MAC of the pod: addresses are replaced in each packet.
        assert.deepEqual((await ofPod({ from: host, to: eipAddress('distributed', family) })).arrives, ['distributed.traced']);
        const direct = await trace({ from: distributed, to: outside });
        assert.deepEqual(direct.arrives, ['host.traced-out']);
        assert.ok(direct.text.includes(`ip${family}.src=${eipAddress('distributed', family)};`), direct.text);
        // An OvnSnatRule: its answers are translated back, and a new connection to its address reaches nobody.
        const sent = await trace({ from: plain, to: outside });
        assert.deepEqual(sent.arrives, ['host.traced-out']);
        assert.match(sent.text, snat('shared'));
        const answer = await trace({ from: host, to: eipAddress('shared', family), tcp: 'tcp.dst == 40000', reply: true });
        assert.deepEqual([answer.arrives, /ct_snat/.test(answer.text)], [[], true], answer.text);
        // An OvnDnatRule.
        const asked = await trace({ from: host, to: eipAddress('shared', family), tcp: 'tcp.dst == 8080' });
        assert.deepEqual(asked.arrives, ['plain.traced']);
        const told = await trace({ from: plain, to: outside, tcp: 'tcp.src == 80', reply: true });
        assert.deepEqual([told.arrives, /ct_dnat/.test(told.text)], [['host.traced-out'], true], told.text);
      }
      await cluster.deleteAll(rules);
      await untilDeleted(cluster, 'ovn-fip', 'central');
      await untilDeleted(cluster, 'ovn-fip', 'distributed');
      await untilDeleted(cluster, 'ovn-snat-rule', 'shared');
      await untilDeleted(cluster, 'ovn-dnat-rule', 'shared');
      await cluster.ovn.nbctl('--wait=sb', 'sync');
      for (const family of [4, 6] as const) {
        for (const eip of Object.keys(EIPS) as Eip[]) {
          for (const tcp of [undefined, 'tcp.dst == 8080']) {
            // The router asks its external network who has the address.
            const { arrives } = await trace({ from: host, to: eipAddress(eip, family), ...(tcp !== undefined && { tcp }) });
            assert.deepEqual(
              arrives.filter((port) => port !== host.port),
              [],
              eip,
            );
          }
        }
        for (const from of [central, distributed, plain]) {
          const { text } = await trace({ from, to: addressOf(host, family) });
          assert.ok(!Object.keys(EIPS).some((eip) => text.includes(eipAddress(eip as Eip, family))), text);
        }
      }
      await cluster.removeAll(physical + network('traced', 173, 'traced') + workloads + eips);
      await gatewayNodes(cluster, null);
    },
  },
];
