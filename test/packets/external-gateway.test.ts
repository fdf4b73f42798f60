/**
 * The external gateway of the default Vpc by real packets: its ConfigMap names nodes and their interface into the physical network, and nothing
 * else is set up. What is wrong in it is told on the Node, and no packet of the node itself is lost meanwhile.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { type AgentNode, PacketCluster, type RunningPod, skip } from './packet-cluster.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const CONFIG = { namespace: 'kube-system', name: 'ovn-external-gw-config' } as const;
const OUTSIDE = '172.32.0.1';
const EIP = '172.32.0.20';
const SNAT = '172.32.0.30';
/** The gateway node's own address in the physical network. */
const OWN_ADDRESS = '172.32.0.2/24';
const ERROR = 'external.provider-network.kubernetes.io/err_mesg';
const READY = 'external.provider-network.kubernetes.io/ready';

let cluster: PacketCluster;
let gateway: AgentNode;
let other: AgentNode;
let outside: NetworkNamespace;
let web: RunningPod;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  if (skip !== false) return;
  cluster = await PacketCluster.start();
  stops.unshift(() => cluster[Symbol.asyncDispose]());
  [gateway, other] = cluster.nodes as [AgentNode, AgentNode];
  for (const { node } of cluster.nodes) await cluster.underlay.connect(node.namespace, 'eth1');
  await gateway.node.namespace.run('ip', 'address', 'add', OWN_ADDRESS, 'dev', 'eth1');
  outside = await cluster.underlay.addOutsideHost(`${OUTSIDE}/24`);
  stops.unshift(() => outside.delete());
});

after(async () => {
  for (const stop of stops) await stop();
});

async function configure(data: Readonly<Record<string, string | null>>): Promise<void> {
  await cluster.client.mergePatch(CONFIG_MAPS, CONFIG, { data });
}

type Metadata = { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };

async function metadataOf({ node }: AgentNode): Promise<Metadata> {
  return (await cluster.client.get<KubeObject>(NODES, { name: node.name })).metadata as Metadata;
}

async function mappings({ node }: AgentNode): Promise<string> {
  return (await node.vswitch.vsctl('--if-exists', 'get', 'open_vswitch', '.', 'external_ids:ovn-bridge-mappings')).trim();
}

async function addressesOn({ node }: AgentNode, device: string): Promise<string> {
  return await node.namespace.run('ip', '-o', 'address', 'show', 'dev', device).catch(() => '');
}

/** What a node has of the network, for an error's text. */
async function stateOf(agent: AgentNode): Promise<string> {
  const { namespace, vswitch } = agent.node;
  const parts = await Promise.all([
    agent.agentCommand('status').then(({ out, err }) => out + err),
    namespace.run('ip', 'address', 'show'),
    namespace.run('ip', 'route', 'show'),
    vswitch.vsctl('show'),
    vswitch.vsctl('--columns=name,external_ids', 'list', 'bridge'),
    vswitch.vsctl('get', 'open_vswitch', '.', 'external_ids'),
    metadataOf(agent).then((metadata) => JSON.stringify(metadata)),
  ]);
  return [...parts, readFileSync(agent.log, 'utf8').slice(-6_000)].join('\n---\n');
}

async function untilOn(agent: AgentNode, what: string, probe: () => Promise<boolean>): Promise<void> {
  try {
    await until(`${agent.node.name}: ${what}`, probe);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await stateOf(agent)}`, { cause: error });
  }
}

async function untilError(pattern: RegExp): Promise<void> {
  let seen = '';
  await until(
    `node-1 says ${pattern.source}`,
    async () => pattern.test((seen = (await metadataOf(gateway)).annotations?.[ERROR] ?? '')),
    undefined,
    () => seen,
  );
}

test('T61 a wrong external-gw-nic is told on the gateway node, makes no mapping, and the node answers all the time', { skip }, async () => {
  const pinging = cluster.underlay.namespace.ping(gateway.node.address);
  await pinging.answered();
  await cluster.client.create(CONFIG_MAPS, {
    metadata: CONFIG,
    data: {
      ...{ 'enable-external-gw': 'true', 'external-gw-nodes': 'node-1', 'external-gw-nic': 'eth9', 'external-gw-addr': `${OUTSIDE}/24` },
      ...{ 'nic-ip': '172.32.0.254/24', 'nic-mac': '0a:00:00:00:fe:fe' },
    },
  } as KubeObject);
  await untilError(/node node-1 has no interface eth9; kubectl edit configmap -n kube-system ovn-external-gw-config/);
  assert.equal(await mappings(gateway), '');
  // The interface that carries the node itself is in a bridge of its operator.
  await configure({ 'external-gw-nic': 'uplink' });
  await untilError(/uplink/);
  const bridges = await gateway.node.vswitch.vsctl('list-br');
  for (const mapping of (await mappings(gateway))
    .replaceAll('"', '')
    .split(',')
    .filter((one) => one !== ''))
    assert.match(bridges, new RegExp(`^${mapping.split(':')[1]}$`, 'm'));
  assert.match(await gateway.node.vswitch.vsctl('port-to-br', 'uplink'), /br-phy/);
  await configure({ 'external-gw-nic': 'eth1' });
  await until('node-1 is ready', async () => (await metadataOf(gateway)).labels?.[READY] === 'true');
  assert.equal((await metadataOf(gateway)).annotations?.[ERROR], undefined);
  const { longestMs } = await pinging.end();
  assert.ok(longestMs < 1_000, `${longestMs} ms`);
});

test('the interface of gateway nodes alone is in bridge br-external, with its addresses on the bridge', { skip }, async () => {
  assert.match(await mappings(gateway), /external:br-external/);
  assert.match(await gateway.node.vswitch.vsctl('list-ports', 'br-external'), /^eth1$/m);
  assert.ok((await addressesOn(gateway, 'br-external')).includes(OWN_ADDRESS));
  assert.ok(!(await addressesOn(gateway, 'eth1')).includes(OWN_ADDRESS));
  assert.ok(await outside.reaches('172.32.0.2'));
  assert.equal(await mappings(other), '');
  const keys = Object.keys((await metadataOf(other)).labels ?? {});
  assert.deepEqual(
    keys.filter((key) => key.startsWith('external.')),
    [],
  );
});

test('a pod on the other node is reached by its eip, and one with snat reaches the host outside with that address', { skip }, async () => {
  web = await cluster.runPod('web', other, { 'ovn.kubernetes.io/eip': EIP });
  const plain = await cluster.runPod('plain', other, { 'ovn.kubernetes.io/snat': SNAT });
  for (const { sandbox } of [web, plain]) stops.unshift(() => sandbox.delete());
  await until(`${EIP} answers`, () => outside.reaches(EIP, { seconds: 1 }));
  stops.unshift(await outside.serve(8080));
  for (const [pod, address] of [
    [web, EIP],
    [plain, SNAT],
  ] as const)
    await until(`the host outside sees ${address}`, async () => (await pod.sandbox.namespace.ask(OUTSIDE, 8080)).endsWith(address));
});

test('turned off, deleted or with another node it gives the interface back with its addresses', { skip }, async () => {
  const isGiven = async (): Promise<boolean> =>
    (await addressesOn(gateway, 'eth1')).includes(OWN_ADDRESS) && !(await gateway.node.vswitch.vsctl('list-br')).includes('br-external');
  await configure({ 'enable-external-gw': 'false' });
  await untilOn(gateway, 'the interface is given back', isGiven);
  assert.equal(await mappings(gateway), '');
  assert.ok(await outside.reaches('172.32.0.2'));
  await configure({ 'enable-external-gw': 'true' });
  await until(`${EIP} answers`, () => outside.reaches(EIP, { seconds: 1 }));
  await configure({ 'external-gw-nodes': 'node-2' });
  await untilOn(gateway, 'the interface is given back', isGiven);
  await until(`${EIP} answers over the other node`, () => outside.reaches(EIP, { seconds: 1 }));
  assert.match(await mappings(other), /external:br-external/);
  // An agent that did not see it finds the interface as it is.
  await other.killAgent();
  await cluster.client.delete(CONFIG_MAPS, CONFIG);
  await until(
    'the controller takes the label back',
    async () => (await metadataOf(other)).labels?.['ovn.kubernetes.io/external-gw'] === undefined,
  );
  other.startAgent();
  await untilOn(other, 'no bridge of it', async () => !(await other.node.vswitch.vsctl('list-br')).includes('br-external'));
  for (const node of [gateway, other])
    await until(`${node.node.name} has no label of it`, async () =>
      Object.keys((await metadataOf(node)).labels ?? {}).every((key) => !key.startsWith('external.')),
    );
});
