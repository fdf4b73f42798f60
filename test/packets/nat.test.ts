/**
 * EIPs by real packets: a host outside reaches pods by OvnFips of both types and by an OvnDnatRule, and sees the address of an OvnSnatRule;
 * the cluster is given back to Kube-OVN and taken over under traffic; the gateway node is killed, and traffic goes on through the next;
 * nothing answers after the deletion.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { type AgentNode, PacketCluster, type RunningPod, skip } from './packet-cluster.ts';
import { thereAndBack } from './there-and-back.ts';

const custom = (kind: string, plural: string): Resource => ({ group: 'kubeovn.io', version: 'v1', plural, kind, namespaced: false });
const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const VPCS = custom('Vpc', 'vpcs');
const EIPS = custom('OvnEip', 'ovn-eips');
const FIPS = custom('OvnFip', 'ovn-fips');
const SNATS = custom('OvnSnatRule', 'ovn-snat-rules');
const DNATS = custom('OvnDnatRule', 'ovn-dnat-rules');
/** The host outside: gateway of the external Subnet, with a network behind it. */
const OUTSIDE = { v4: '172.31.0.1', v6: 'fd31::1', beyond: '192.0.2.1' };
const CENTRAL = { v4: '172.31.0.20', v6: 'fd31::20' };
const DISTRIBUTED = { v4: '172.31.0.30', v6: 'fd31::30' };
const SHARED = { v4: '172.31.0.40', v6: 'fd31::40' };
const INSIDE = { 'ovn.kubernetes.io/logical_switch': 'inside' };

let cluster: PacketCluster;
let outside: NetworkNamespace;
/** On a node that is no gateway: with a centralized OvnFip, with a distributed one, and with the addresses of the OvnSnatRule. */
let web: RunningPod;
let near: RunningPod;
let plain: RunningPod;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  if (skip !== false) return;
  cluster = await PacketCluster.start({ nodes: 3 });
  stops.unshift(() => cluster[Symbol.asyncDispose]());
  for (const { node } of cluster.nodes) await cluster.underlay.connect(node.namespace, 'eth1');
  outside = await cluster.underlay.addOutsideHost(`${OUTSIDE.v4}/24`, `${OUTSIDE.v6}/64`);
  stops.unshift(() => outside.delete());
  await outside.run('ip', 'address', 'add', `${OUTSIDE.beyond}/32`, 'dev', 'lo');
  await watchSources();
  for (const name of ['node-1', 'node-2'])
    await cluster.client.mergePatch(NODES, { name }, { metadata: { labels: { 'ovn.kubernetes.io/external-gw': 'true' } } });
  const named = async ({ kind, plural }: Resource, name: string, spec: object): Promise<void> =>
    await cluster.create(kind, plural, { metadata: { name }, spec });
  await named(custom('ProviderNetwork', 'provider-networks'), 'net1', { defaultInterface: 'eth1' });
  await named(custom('Vlan', 'vlans'), 'untagged', { id: 0, provider: 'net1' });
  await named(custom('Subnet', 'subnets'), 'external', {
    cidrBlock: '172.31.0.0/24,fd31::/64',
    gateway: `${OUTSIDE.v4},${OUTSIDE.v6}`,
    vlan: 'untagged',
  });
  const staticRoutes = [{ policy: 'policyDst', cidr: '0.0.0.0/0', nextHopIP: OUTSIDE.v4 }];
  await named(VPCS, 'blue', { enableExternal: true, staticRoutes });
  await named(custom('Subnet', 'subnets'), 'inside', { vpc: 'blue', cidrBlock: '10.66.0.0/24,fd66::/64' });
  for (const [name, { v4, v6 }] of Object.entries({ central: CENTRAL, distributed: DISTRIBUTED, shared: SHARED }))
    await named(EIPS, name, { externalSubnet: 'external', v4Ip: v4, v6Ip: v6 });
  await named(FIPS, 'central', { ovnEip: 'central', ipName: 'web.default', type: 'centralized' });
  await named(FIPS, 'distributed', { ovnEip: 'distributed', ipName: 'near.default', type: 'distributed' });
  await named(SNATS, 'shared', { ovnEip: 'shared', vpc: 'blue', v4IpCidr: '10.66.0.0/24', v6IpCidr: 'fd66::/64' });
  const port = { protocol: 'tcp', externalPort: '8080', internalPort: '80' };
  await named(DNATS, 'shared', { ovnEip: 'shared', ipName: 'web.default', ...port });
  const third = nodeNamed('node-3');
  [web, near, plain] = (await Promise.all(['web', 'near', 'plain'].map((name) => cluster.runPod(name, third, INSIDE)))) as [
    RunningPod,
    RunningPod,
    RunningPod,
  ];
  for (const { sandbox } of [web, near, plain]) stops.unshift(() => sandbox.delete());
  stops.unshift(await web.sandbox.namespace.serve(80));
  for (const [resource, name] of [
    [FIPS, 'central'],
    [FIPS, 'distributed'],
    [SNATS, 'shared'],
    [DNATS, 'shared'],
  ] as const)
    await until(
      `${resource.kind} ${name} is ready`,
      async () => (await cluster.client.get<Statused>(resource, { name })).status?.ready === true,
    );
});

after(async () => {
  for (const stop of stops) await stop();
});

type Statused = KubeObject & { readonly status?: { readonly ready?: boolean } };

function nodeNamed(name: string): AgentNode {
  const found = cluster.nodes.find(({ node }) => node.name === name);
  assert.ok(found, name);
  return found;
}

/** Keeps the sources of the echo requests that arrive outside. */
async function watchSources(): Promise<void> {
  const set = (name: string, type: string): string => `set ${name} { type ${type}; flags dynamic; size 1000; };`;
  const rules = 'icmp type echo-request add @v4 { ip saddr }; icmpv6 type echo-request add @v6 { ip6 saddr };';
  const chain = `chain input { type filter hook input priority 0; ${rules} }`;
  await outside.run('nft', `table inet seen { ${set('v4', 'ipv4_addr')} ${set('v6', 'ipv6_addr')} ${chain}; }`);
}

/** The sources that the host outside sees of a pod's echo requests to one of its addresses. */
async function sourcesOf(pod: RunningPod, to: string): Promise<readonly string[]> {
  const set = to.includes(':') ? 'v6' : 'v4';
  await outside.run('nft', 'flush', 'set', 'inet', 'seen', set);
  await until(`pod ${pod.address} gets an answer from ${to}`, () => pod.sandbox.reaches(to, { seconds: 1 }));
  const { nftables } = JSON.parse(await outside.run('nft', '-j', 'list', 'set', 'inet', 'seen', set)) as {
    readonly nftables: readonly { readonly set?: { readonly elem?: readonly string[] } }[];
  };
  return nftables.flatMap((one) => one.set?.elem ?? []).toSorted();
}

/** A connection of TCP to a host, on which the pod sends all the time. @returns ends it */
async function streamFrom(pod: RunningPod, to: string): Promise<() => Promise<void>> {
  const server = `require('net').createServer((one) => one.on('error', () => {}).resume()).listen(9090, '::', () => console.log('listens'))`;
  const client = `const one = require('net').connect(9090, process.argv[1]).on('error', () => {});
    one.on('connect', () => { console.log('connected'); setInterval(() => one.write('x'), 20); });`;
  const started = async (namespace: NetworkNamespace, source: string, ...args: readonly string[]): Promise<ChildProcess> => {
    const [program, ...rest] = namespace.command(process.execPath, '-e', source, ...args);
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    return child;
  };
  const children = [await started(outside, server), await started(pod.sandbox.namespace, client, to)];
  return async () => {
    for (const child of children) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  };
}

/** What the server behind the port of an OvnDnatRule answers. */
async function asked(address: string): Promise<string> {
  return await outside.ask(address, 8080);
}

/** The MAC that the host outside has for an address. */
async function neighbour(address: string): Promise<string> {
  const shown = await outside.run('ip', 'neighbour', 'show', address, 'dev', 'eth0');
  return /lladdr (\S+)/.exec(shown)?.[1] ?? '';
}

async function macOfGateway(): Promise<string> {
  return (await cluster.ovn.nbctl('get', 'Logical_Router_Port', 'blue-external', 'mac')).trim().replaceAll('"', '');
}

/** The node that hosts the external port of the Vpc. */
async function gatewayNode(): Promise<AgentNode> {
  let found: AgentNode | undefined;
  await until('a gateway node hosts the external port', async () => {
    const chassis = (
      await cluster.ovn.sbctl('--bare', '--columns=chassis', 'find', 'Port_Binding', 'logical_port=cr-blue-external')
    ).trim();
    if (chassis === '') return false;
    const name = (await cluster.ovn.sbctl('get', 'Chassis', chassis, 'name')).trim().replaceAll('"', '');
    for (const each of cluster.nodes) {
      const { metadata } = await cluster.client.get<KubeObject>(NODES, { name: each.node.name });
      const { annotations } = metadata as { readonly annotations?: Readonly<Record<string, string>> };
      if (annotations?.['ovn.kubernetes.io/chassis'] === name) found = each;
    }
    return found !== undefined;
  });
  return found as AgentNode;
}

test(
  'a host outside reaches a pod by its OvnFip, and sees that address: through the gateway node, and directly with type distributed',
  { skip },
  async () => {
    for (const family of ['v4', 'v6'] as const) {
      for (const [pod, eip] of [
        [web, CENTRAL],
        [near, DISTRIBUTED],
      ] as const) {
        await until(`${eip[family]} answers`, () => outside.reaches(eip[family], { seconds: 1 }));
        assert.deepEqual(await sourcesOf(pod, OUTSIDE[family]), [eip[family]]);
      }
    }
    assert.deepEqual(await sourcesOf(web, OUTSIDE.beyond), [CENTRAL.v4], 'by the default route of the Vpc');
    const pod = await cluster.ovn.nbctl('get', 'NAT', await natOf(DISTRIBUTED.v4), 'external_mac');
    assert.deepEqual(
      [await neighbour(CENTRAL.v4), await neighbour(DISTRIBUTED.v4)],
      [await macOfGateway(), pod.trim().replaceAll('"', '')],
    );
  },
);

async function natOf(address: string): Promise<string> {
  return (await cluster.ovn.nbctl('--bare', '--columns=_uuid', 'find', 'NAT', `external_ip="${address}"`)).trim();
}

test(
  'a pod without an OvnFip has the address of the OvnSnatRule; by the OvnDnatRule a port of that address is a port of a pod, which sees its client',
  { skip },
  async () => {
    for (const family of ['v4', 'v6'] as const) {
      assert.deepEqual(await sourcesOf(plain, OUTSIDE[family]), [SHARED[family]]);
      await until(`port 8080 of ${SHARED[family]} answers`, async () => (await asked(SHARED[family])).endsWith(OUTSIDE[family]));
    }
  },
);

test(
  'T44 echo requests that began before there was an OvnSnatRule are answered once there is one, with its address alone',
  { skip },
  async () => {
    await cluster.client.delete(SNATS, { name: 'shared' });
    await until('the rule is gone', async () => (await cluster.client.find(SNATS, { name: 'shared' })) === undefined);
    await until('nobody answers the pod', async () => !(await plain.sandbox.reaches(OUTSIDE.v4, { seconds: 1 })));
    const pinging = plain.sandbox.namespace.ping(OUTSIDE.v4);
    assert.ok(!(await plain.sandbox.reaches(OUTSIDE.v4, { seconds: 1 })));
    await cluster.create('OvnSnatRule', 'ovn-snat-rules', {
      metadata: { name: 'shared' },
      spec: { ovnEip: 'shared', vpc: 'blue', v4IpCidr: '10.66.0.0/24', v6IpCidr: 'fd66::/64' },
    });
    await pinging.answered();
    await pinging.end();
    assert.deepEqual(await sourcesOf(plain, OUTSIDE.v4), [SHARED.v4]);
  },
);

test(
  'given back to Kube-OVN and taken over again under traffic: no row changes, connections across nodes and to outside live, nothing is lost',
  { skip },
  async (t) => {
    const far = await cluster.runPod('far', nodeNamed('node-1'), INSIDE);
    stops.unshift(() => far.sandbox.delete());
    const [address = ''] = far.address.split(',');
    await thereAndBack(t, cluster, [
      { what: 'between pods of two nodes', from: plain, to: far.sandbox.namespace, address },
      { what: 'from a pod with the address of an OvnSnatRule', from: plain, to: outside, address: OUTSIDE.v4 },
      { what: 'from a pod with an OvnFip', from: web, to: outside, address: OUTSIDE.v6 },
    ]);
  },
);

test('T45 an OvnFip changes its type under traffic: the host outside goes on with the other MAC', { skip }, async (t) => {
  const pinging = outside.ping(CENTRAL.v4);
  await pinging.answered();
  const before = await neighbour(CENTRAL.v4);
  await cluster.client.mergePatch(FIPS, { name: 'central' }, { spec: { type: 'distributed' } });
  await until('the host outside has the other MAC', async () => (await neighbour(CENTRAL.v4)) !== before);
  await until(`${CENTRAL.v4} answers`, () => outside.reaches(CENTRAL.v4, { seconds: 1 }));
  await cluster.client.mergePatch(FIPS, { name: 'central' }, { spec: { type: 'centralized' } });
  await until('the host outside has the MAC of the gateway', async () => (await neighbour(CENTRAL.v4)) === before);
  await until(`${CENTRAL.v4} answers`, () => outside.reaches(CENTRAL.v4, { seconds: 1 }));
  const { longestMs: longest } = await pinging.end();
  t.diagnostic(`longest time without an answer: ${Math.round(longest)} ms`);
  assert.ok(longest < 3_000, `${longest} ms`);
});

test(
  'T52 the gateway node is killed under traffic: traffic goes on through the next one, open connections leak no address, a distributed OvnFip loses nothing',
  { skip },
  async (t) => {
    const active = await gatewayNode();
    // Nothing of the Vpc leaves with an address of its own.
    await outside.run(
      'nft',
      `table inet leaks { chain input { type filter hook prerouting priority 0; ip saddr 10.66.0.0/24 counter; }; }`,
    );
    const stream = await streamFrom(plain, OUTSIDE.v4);
    const traffic = {
      'to a centralized OvnFip': outside.ping(CENTRAL.v4),
      'from a pod with the address of an OvnSnatRule': plain.sandbox.namespace.ping(OUTSIDE.v4),
      'to a distributed OvnFip': outside.ping(DISTRIBUTED.v4),
    };
    for (const pinging of Object.values(traffic)) await pinging.answered();
    await active.killAgent();
    for (const daemon of ['ovn-controller', 'ovs-vswitchd', 'ovsdb-server'] as const) await active.node.vswitch.kill(daemon);
    await until('traffic goes on', () => outside.reaches(CENTRAL.v4, { seconds: 1 }));
    await until('traffic of the OvnSnatRule goes on', () => plain.sandbox.reaches(OUTSIDE.v4, { seconds: 1 }));
    assert.notEqual((await gatewayNode()).node.name, active.node.name);
    assert.ok((await asked(SHARED.v4)).endsWith(OUTSIDE.v4));
    assert.deepEqual(await sourcesOf(plain, OUTSIDE.v4), [SHARED.v4]);
    for (const pinging of Object.values(traffic)) await pinging.answered();
    await stream();
    assert.match(await outside.run('nft', 'list', 'table', 'inet', 'leaks'), /counter packets 0 /);
    const longest: number[] = [];
    for (const [what, pinging] of Object.entries(traffic)) {
      longest.push((await pinging.end()).longestMs);
      t.diagnostic(`${what}: longest time without an answer ${Math.round(longest.at(-1) ?? NaN)} ms`);
    }
    const [central = NaN, snat = NaN, distributed = NaN] = longest;
    assert.ok(central < 10_000 && snat < 10_000, `${longest.join()} ms`);
    assert.ok(distributed < 500, `${distributed} ms`);
  },
);

test(
  'T51 after their deletion nothing answers: neither OvnFips nor the port of the OvnDnatRule, and then not the port of the Vpc',
  { skip },
  async (t) => {
    const pinging = outside.ping(CENTRAL.v4);
    await pinging.answered();
    const rules = [
      [FIPS, 'central'],
      [FIPS, 'distributed'],
      [SNATS, 'shared'],
      [DNATS, 'shared'],
    ] as const;
    for (const [resource, name] of [...rules, ...['central', 'distributed', 'shared'].map((name) => [EIPS, name] as const)])
      await cluster.client.delete(resource, { name });
    for (const [resource, name] of [...rules, [EIPS, 'shared'] as const])
      await until(`${resource.kind} ${name} is gone`, async () => (await cluster.client.find(resource, { name })) === undefined);
    const gone = Date.now();
    const addresses = [CENTRAL, DISTRIBUTED, SHARED].flatMap(({ v4, v6 }) => [v4, v6]);
    const isSilent = async (address: string): Promise<boolean> => !(await outside.reaches(address, { seconds: 1 }));
    await Promise.all(addresses.map((address) => until(`${address} is silent`, () => isSilent(address))));
    const late = (await pinging.end()).last - gone;
    t.diagnostic(`the last answer came ${Math.round(late)} ms after the rules were gone`);
    assert.ok(late < 2_000, `${late} ms`);
    assert.doesNotMatch(await asked(SHARED.v4), /172/);
    assert.ok(!(await plain.sandbox.reaches(OUTSIDE.v4, { seconds: 1 })), 'no address outside');
    const port = (await cluster.ovn.nbctl('get', 'Logical_Router_Port', 'blue-external', 'networks')).match(/172\.[\d.]+/)?.[0] ?? '';
    assert.ok(await outside.reaches(port), port);
    await cluster.client.mergePatch(VPCS, { name: 'blue' }, { spec: { enableExternal: false } });
    await until('the EIP of the port is gone', async () => (await cluster.client.find(EIPS, { name: 'blue-external' })) === undefined);
    await until(`${port} is silent`, () => isSilent(port));
    for (const table of ['NAT', 'Load_Balancer'])
      assert.doesNotMatch(await cluster.ovn.nbctl('list', table), /172\.31\.|fd31:|"shared"/, table);
  },
);
