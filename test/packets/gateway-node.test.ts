/**
 * Nodes as external gateways by real packets: two nodes with an OvnEip of type `lsp` forward what the router of a Vpc has for the outside, and the
 * router watches both by BFD. A gateway that dies, whose program ends, or that is taken away loses its traffic to the other one.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { type AgentNode, PacketCluster, type RunningPod, skip } from './packet-cluster.ts';

const custom = (kind: string, plural: string): Resource => ({ group: 'kubeovn.io', version: 'v1', plural, kind, namespaced: false });
const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const EIPS = custom('OvnEip', 'ovn-eips');
/** The host outside: gateway of the external Subnet, with networks behind it. */
const OUTSIDE = { v4: '172.31.0.1', v6: 'fd31::1' };
const BEYOND = { v4: '192.0.2.1', v6: '2001:db8::1' } as const;
const SHARED = { v4: '172.31.0.40', v6: 'fd31::40' };
const ADDRESSES = { 'node-2': '172.31.0.52', 'node-3': '172.31.0.53' } as const;
const LABEL = 'ovn.kubernetes.io/node-ext-gw';
/** A node of these tests may be busy for longer than 300 ms. */
const BFD = { milliseconds: 200, multiplier: 5 } as const;
const FLAGS = [`--bfd-min-tx=${BFD.milliseconds}`, `--bfd-min-rx=${BFD.milliseconds}`, `--bfd-detect-mult=${BFD.multiplier}`] as const;

type Eip = KubeObject & {
  readonly spec: { readonly v4Ip?: string; readonly v6Ip?: string };
  readonly status?: { readonly ready?: boolean };
};

let cluster: PacketCluster;
let outside: NetworkNamespace;
let web: RunningPod;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  if (skip !== false) return;
  cluster = await PacketCluster.start({ nodes: 3, controllerFlags: FLAGS });
  stops.unshift(() => cluster[Symbol.asyncDispose]());
  for (const { node } of cluster.nodes) await cluster.underlay.connect(node.namespace, 'eth1');
  outside = await cluster.underlay.addOutsideHost(`${OUTSIDE.v4}/24`, `${OUTSIDE.v6}/64`);
  stops.unshift(() => outside.delete());
  await outside.run('ip', 'address', 'add', `${BEYOND.v4}/32`, 'dev', 'lo');
  await outside.run('ip', 'address', 'add', `${BEYOND.v6}/128`, 'dev', 'lo');
  await cluster.client.mergePatch(NODES, { name: 'node-1' }, { metadata: { labels: { 'ovn.kubernetes.io/external-gw': 'true' } } });
  const named = async (kind: string, plural: string, name: string, spec: object): Promise<void> =>
    await cluster.create(kind, plural, { metadata: { name }, spec });
  await named('ProviderNetwork', 'provider-networks', 'net1', { defaultInterface: 'eth1' });
  await named('Vlan', 'vlans', 'untagged', { id: 0, provider: 'net1' });
  await named('Subnet', 'subnets', 'external', {
    cidrBlock: '172.31.0.0/24,fd31::/64',
    gateway: `${OUTSIDE.v4},${OUTSIDE.v6}`,
    vlan: 'untagged',
  });
  await named('Vpc', 'vpcs', 'blue', { enableExternal: true, enableBfd: true });
  await named('Subnet', 'subnets', 'inside', { vpc: 'blue', cidrBlock: '10.66.0.0/24,fd66::/64', enableEcmp: true });
  await named('OvnEip', 'ovn-eips', 'shared', { externalSubnet: 'external', v4Ip: SHARED.v4, v6Ip: SHARED.v6 });
  await named('OvnSnatRule', 'ovn-snat-rules', 'shared', {
    ovnEip: 'shared',
    vpc: 'blue',
    v4IpCidr: '10.66.0.0/24',
    v6IpCidr: 'fd66::/64',
  });
  for (const [name, v4Ip] of Object.entries(ADDRESSES))
    await named('OvnEip', 'ovn-eips', name, { externalSubnet: 'external', type: 'lsp', v4Ip });
  web = await cluster.runPod('web', nodeNamed('node-1'), { 'ovn.kubernetes.io/logical_switch': 'inside' });
  stops.unshift(() => web.sandbox.delete());
});

after(async () => {
  for (const stop of stops) await stop();
});

type GatewayName = keyof typeof ADDRESSES;
const GATEWAYS = Object.keys(ADDRESSES) as GatewayName[];

function nodeNamed(name: string): AgentNode {
  const found = cluster.nodes.find(({ node }) => node.name === name);
  assert.ok(found, name);
  return found;
}

async function inGateway(name: string, ...program: readonly [string, ...string[]]): Promise<string> {
  return await runProgram(['nsenter', `--net=/run/netns/${nodeNamed(name).node.gatewayNamespace}`, '--', ...program]);
}

async function eip(name: string): Promise<Eip | undefined> {
  return await cluster.client.find<Eip>(EIPS, { name });
}

async function labelOf(node: string): Promise<string | undefined> {
  return (await cluster.client.get<KubeObject & { metadata: { labels?: Record<string, string> } }>(NODES, { name: node })).metadata
    .labels?.[LABEL];
}

/** Peers of the sessions of BFD that are up, as OVN has them. */
async function peersUp(): Promise<readonly string[]> {
  const shown = await cluster.ovn.nbctl('--bare', '--columns=dst_ip', 'find', 'BFD', 'status=up');
  return shown
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}

async function addressesOf(name: GatewayName): Promise<readonly string[]> {
  const { spec } = (await eip(name)) ?? {};
  return [spec?.v4Ip ?? '', spec?.v6Ip ?? ''];
}

async function untilUp(...names: readonly GatewayName[]): Promise<void> {
  const wanted = (await Promise.all(names.map(addressesOf))).flat().toSorted();
  let seen: readonly string[] = [];
  await until(
    `sessions with ${names.join(' and ')} alone are up`,
    async () => (seen = await peersUp()).join() === wanted.join(),
    undefined,
    () => `up: ${seen.join()}, wanted: ${wanted.join()}`,
  );
}

/** Packets that the node forwarded as a gateway. */
async function forwarded(name: GatewayName): Promise<number> {
  const ip = (await inGateway(name, 'cat', '/proc/net/snmp')).split('\n').filter((line) => line.startsWith('Ip:'));
  const [names = [], values = []] = ip.map((line) => line.split(' '));
  return Number(values[names.indexOf('ForwDatagrams')]);
}

/** Over which gateway the pod's packets to the host outside go now. */
async function gatewayInUse(): Promise<GatewayName> {
  const before = await Promise.all(GATEWAYS.map(forwarded));
  await until('the pod gets answers', () => web.sandbox.reaches(BEYOND.v4, { seconds: 1 }));
  const after = await Promise.all(GATEWAYS.map(forwarded));
  const used = GATEWAYS.filter((_, at) => (after[at] ?? 0) > (before[at] ?? 0));
  assert.equal(used.length, 1, `${before.join()} to ${after.join()}`);
  return used[0] as GatewayName;
}

test(
  'a node with an OvnEip of type lsp is an external gateway, and the router of the Vpc has sessions of BFD with it',
  { skip },
  async () => {
    for (const name of GATEWAYS) {
      await until(`OvnEip ${name} is ready`, async () => (await eip(name))?.status?.ready === true);
      assert.equal(await labelOf(name), 'true');
      const shown = await inGateway(name, 'ip', '-brief', 'address', 'show', 'dev', 'ovnext0');
      for (const address of await addressesOf(name)) assert.ok(shown.includes(`${address}/`), `${address}: ${shown}`);
      assert.match(await inGateway(name, 'ip', 'route', 'show', 'default'), new RegExp(`via ${OUTSIDE.v4} dev ovnext0`));
      assert.ok(await outside.reaches((await addressesOf(name))[1] ?? ''));
    }
    assert.equal(await labelOf('node-1'), undefined);
    await untilUp(...GATEWAYS);
    const { out, exit } = await nodeNamed('node-2').agentCommand('status');
    assert.match(out, /BFD with router 172\.31\.0\.\d+: up/);
    assert.equal(exit, 0, out);
  },
);

test(
  'packets of a pod go over one of the gateways, in both families, and leave with the address of the OvnSnatRule alone',
  { skip },
  async () => {
    const sources = 'set v4 { type ipv4_addr; flags dynamic; size 1000; }; set v6 { type ipv6_addr; flags dynamic; size 1000; };';
    const rules = `ip daddr ${BEYOND.v4} add @v4 { ip saddr }; ip6 daddr ${BEYOND.v6} add @v6 { ip6 saddr };`;
    await outside.run('nft', `table inet seen { ${sources} chain input { type filter hook input priority 0; ${rules} }; }`);
    for (const family of ['v4', 'v6'] as const)
      await until(`${BEYOND[family]} answers`, () => web.sandbox.reaches(BEYOND[family], { seconds: 1 }));
    assert.ok(GATEWAYS.includes(await gatewayInUse()));
    await assertSources();
  },
);

/** The other end of the node's interface into the external network. */
async function plugOf(name: string): Promise<string> {
  const shown = await nodeNamed(name).node.namespace.run('ip', '-o', 'link', 'show', 'dev', 'eth1');
  const index = /eth1@if(\d+):/.exec(shown)?.[1];
  const ports = await cluster.underlay.namespace.run('ip', '-o', 'link', 'show');
  const [, found] = new RegExp(`^${index}: ([^@:]+)`, 'm').exec(ports) ?? [];
  assert.ok(found, ports);
  return found;
}

/** Of the program that answers BFD. */
async function responderOf(name: string): Promise<number | undefined> {
  const pids = (await runProgram(['ip', 'netns', 'pids', nodeNamed(name).node.gatewayNamespace])).split('\n').filter((pid) => pid !== '');
  const isResponder = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('answer-bfd');
    } catch {
      return false;
    }
  };
  const found = pids.find(isResponder);
  return found === undefined ? undefined : Number(found);
}

/** The host outside saw no other address of the Vpc than that of the OvnSnatRule. */
async function assertSources(): Promise<void> {
  for (const family of ['v4', 'v6'] as const) {
    const { nftables } = JSON.parse(await outside.run('nft', '-j', 'list', 'set', 'inet', 'seen', family)) as {
      readonly nftables: readonly { readonly set?: { readonly elem?: readonly string[] } }[];
    };
    assert.deepEqual(
      nftables.flatMap((one) => one.set?.elem ?? []),
      [SHARED[family]],
    );
  }
}

test(
  'a gateway that dies under traffic loses it to the other one within seconds, and gets a share again when it is back',
  { skip },
  async (t) => {
    const used = await gatewayInUse();
    const other = GATEWAYS.find((name) => name !== used) as GatewayName;
    const pinging = web.sandbox.namespace.ping(BEYOND.v4);
    await pinging.answered();
    // The network loses the node: nothing of it answers, and nothing says so.
    const plug = await plugOf(used);
    await cluster.underlay.namespace.run('ip', 'link', 'set', plug, 'down');
    await untilUp(other);
    await pinging.answered();
    const { longestMs } = await pinging.end();
    t.diagnostic(`longest time without an answer: ${Math.round(longestMs)} ms; detection is ${BFD.milliseconds * BFD.multiplier} ms`);
    assert.ok(longestMs < 5_000, `${longestMs} ms`);
    assert.equal(await gatewayInUse(), other);
    await cluster.underlay.namespace.run('ip', 'link', 'set', plug, 'up');
    await untilUp(...GATEWAYS);
    await assertSources();
  },
);

test('the agent of the gateway in use is killed and starts again: traffic goes on meanwhile and afterwards', { skip }, async (t) => {
  const used = await gatewayInUse();
  const agent = nodeNamed(used);
  const pinging = web.sandbox.namespace.ping(BEYOND.v4);
  await pinging.answered();
  await agent.killAgent();
  await until(`sessions with ${used} are down`, async () => !(await peersUp()).includes(ADDRESSES[used]));
  await pinging.answered();
  agent.startAgent();
  await untilUp(...GATEWAYS);
  await pinging.answered();
  const { longestMs } = await pinging.end();
  // OVN is silent towards all gateways for seconds when one's answers end, longer on a busy host: a figure, not a limit.
  t.diagnostic(`longest time without an answer: ${Math.round(longestMs)} ms`);
  await until(`OvnEip ${used} is ready`, async () => (await eip(used))?.status?.ready === true);
});

/** The chassis that has the port of the Vpc's router in the external Subnet. */
async function chassisOfRouter(): Promise<string> {
  return (await cluster.ovn.sbctl('--bare', '--columns=chassis', 'find', 'Port_Binding', 'logical_port=cr-blue-external')).trim();
}

async function label(node: string, isGateway: boolean): Promise<void> {
  const labels = { 'ovn.kubernetes.io/external-gw': isGateway ? 'true' : null };
  await cluster.client.mergePatch(NODES, { name: node }, { metadata: { labels } });
}

test('the port of the router moves to another chassis, and back: the sessions go on from there', { skip }, async (t) => {
  await untilUp(...GATEWAYS);
  const inside = ['nft', 'list', 'chain', 'inet', 'heard', 'input'] as const;
  await inGateway('node-3', 'nft', 'table inet heard { chain input { type filter hook input priority 0; udp dport 3784 counter; }; }');
  const heard = async (): Promise<number> => Number(/packets (\d+)/.exec(await inGateway('node-3', ...inside))?.[1]);
  const pinging = web.sandbox.namespace.ping(BEYOND.v4);
  for (const [from, to] of [
    ['node-1', 'node-2'],
    ['node-2', 'node-1'],
  ] as const) {
    const before = await chassisOfRouter();
    await label(to, true);
    await label(from, false);
    await until(`the chassis of ${to} has the port`, async () => ![before, ''].includes(await chassisOfRouter()));
    // More than any on their way.
    const then = await heard();
    await until('node-3 hears BFD from there', async () => (await heard()) > then + 10);
    await untilUp(...GATEWAYS);
    await pinging.answered();
  }
  const { longestMs } = await pinging.end();
  t.diagnostic(`longest time without an answer: ${Math.round(longestMs)} ms`);
  await inGateway('node-3', 'nft', 'delete', 'table', 'inet', 'heard');
});

test('T57 the program that answers BFD is killed ten times: all sessions are up again after each', { skip }, async () => {
  for (let times = 0; times < 10; times += 1) {
    let before: number | undefined;
    await until('it runs', async () => (before = await responderOf('node-2')) !== undefined);
    assert.ok(before !== undefined && before > 1);
    process.kill(before, 'SIGKILL');
    await until('another one runs', async () => ![before, undefined].includes(await responderOf('node-2')));
    await untilUp(...GATEWAYS);
  }
  await until('OvnEip node-2 is ready', async () => (await eip('node-2'))?.status?.ready === true);
});

test('an OvnEip that is made again with another address is carried out, and the router watches that one', { skip }, async () => {
  await cluster.client.delete(EIPS, { name: 'node-3' });
  await until('OvnEip node-3 is gone', async () => (await eip('node-3')) === undefined);
  await cluster.create('OvnEip', 'ovn-eips', {
    metadata: { name: 'node-3' },
    spec: { externalSubnet: 'external', type: 'lsp', v4Ip: '172.31.0.63' },
  });
  await until('the gateway has it', async () =>
    (await inGateway('node-3', 'ip', '-brief', 'address', 'show').catch(() => '')).includes('172.31.0.63/24'),
  );
  await untilUp(...GATEWAYS);
  assert.doesNotMatch(await inGateway('node-3', 'ip', '-brief', 'address', 'show'), /172\.31\.0\.53/);
});

test(
  'a gateway that is taken away leaves nothing: namespace, port, label, session; the Subnet has its own routes again',
  { skip },
  async () => {
    await cluster.client.delete(EIPS, { name: 'node-3' });
    await until('OvnEip node-3 is gone', async () => (await eip('node-3')) === undefined);
    const { node } = nodeNamed('node-3');
    const { gatewayNamespace, namespace, vswitch } = node;
    await until('its namespace is gone', async () => !(await runProgram(['ip', 'netns', 'list'])).includes(gatewayNamespace));
    await until('its label is gone', async () => (await labelOf('node-3')) === undefined);
    await until('its port is gone', async () => !(await vswitch.vsctl('list-ports', 'br-int')).includes('ovnext0'));
    await until('its interface is gone', async () => !(await namespace.run('ip', '-brief', 'link', 'show')).includes('ovnext0'));
    await until('no session is left with a gateway', async () => (await peersUp()).length === 0);
    // One gateway alone shares nothing.
    assert.doesNotMatch(await cluster.ovn.nbctl('lr-route-list', 'blue'), /bfd/);
  },
);

test('kiln agent cleanup takes the gateway from a node as well', { skip }, async () => {
  const agent = nodeNamed('node-2');
  await agent.stopAgent();
  const planned = await agent.agentCommand('cleanup', '--dry-run');
  assert.match(planned.out, new RegExp(`namespace ${agent.node.gatewayNamespace}`));
  // It would make the bridge again.
  await agent.node.vswitch.kill('ovn-controller', 'SIGTERM');
  const { exit, out, err } = await agent.agentCommand('cleanup');
  assert.equal(exit, 0, out + err);
  assert.ok(!(await runProgram(['ip', 'netns', 'list'])).includes(agent.node.gatewayNamespace));
  assert.doesNotMatch(await agent.node.namespace.run('ip', '-brief', 'link', 'show'), /ovnext0/);
});
