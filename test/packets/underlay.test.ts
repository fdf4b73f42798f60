/**
 * Underlay Subnets by real packets: pods of one VLAN on two nodes and a host outside talk in that VLAN; the interface of a node gives its
 * addresses and routes to the bridge, and has them again afterwards, also if the agent is killed.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NetworkNamespace } from '../../lab/node/namespace.ts';
import { PHYSICAL_BRIDGE } from '../../lab/node/packet-node.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { PODS } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { testNodeInterfaces } from './node-interfaces.ts';
import { type AgentNode, type PacketCluster, type RunningPod, skip, startPackets } from './packet-cluster.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const custom = (kind: string, plural: string): Resource => ({ group: 'kubeovn.io', version: 'v1', plural, kind, namespaced: false });
const SUBNETS = custom('Subnet', 'subnets');
const VLANS = custom('Vlan', 'vlans');
const PROVIDER_NETWORKS = custom('ProviderNetwork', 'provider-networks');
const ON_UNDER = { 'ovn.kubernetes.io/logical_switch': 'under' };
const READY = 'net1.provider-network.kubernetes.io/ready';
const OWN_ADDRESS = '172.30.0.2/24';
const OWN_ROUTE = '192.0.2.0/24 via 172.30.0.9';

let cluster: PacketCluster;
let one: AgentNode;
let two: AgentNode;
/** In the network of the nodes' second interfaces, without a tag. */
let neighbour: NetworkNamespace;
/** In VLAN 10: the physical gateway of the Subnet. */
let gateway: NetworkNamespace;
let web: RunningPod;
let db: RunningPod;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  if (skip !== false) return;
  [cluster, one, two] = await startPackets(stops);
  for (const { node } of [one, two]) await cluster.underlay.connect(node.namespace, 'eth1');
  await one.node.namespace.run('ip', 'address', 'add', OWN_ADDRESS, 'dev', 'eth1');
  await one.node.namespace.run('ip', 'route', 'add', ...OWN_ROUTE.split(' '), 'metric', '50', 'dev', 'eth1');
  neighbour = await cluster.underlay.addOutsideHost('172.30.0.9/24');
  stops.unshift(() => neighbour.delete());
  await neighbour.run('ip', 'address', 'add', '192.0.2.1/24', 'dev', 'lo');
  gateway = await NetworkNamespace.create('gateway');
  stops.unshift(() => gateway.delete());
  // The kernel may have no VLANs: a port of a switch in the network sets the tag.
  await one.node.namespace.run('ip', 'link', 'add', 'tagged', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', gateway.path);
  await one.node.namespace.run('ip', 'link', 'set', 'tagged', 'up');
  await one.node.vswitch.vsctl('add-port', PHYSICAL_BRIDGE, 'tagged', 'tag=10');
  await gateway.run('ip', 'address', 'add', '10.66.0.1/24', 'dev', 'eth0');
  await gateway.run('ip', 'link', 'set', 'eth0', 'up');
});

after(async () => {
  for (const stop of stops) await stop();
});

async function labelsOf(node: AgentNode): Promise<Readonly<Record<string, string>>> {
  const object = await cluster.client.get<KubeObject>(NODES, { name: node.node.name });
  return (object.metadata as { readonly labels?: Readonly<Record<string, string>> }).labels ?? {};
}

async function addressesOn({ node }: AgentNode, device: string): Promise<string> {
  return await node.namespace.run('ip', '-o', 'address', 'show', 'dev', device).catch(() => '');
}

async function routesOn({ node }: AgentNode, device: string): Promise<string> {
  return await node.namespace.run('ip', 'route', 'show', 'dev', device).catch(() => '');
}

test(
  'the interface of each node is in the bridge of its ProviderNetwork, with its addresses and routes on the bridge',
  { skip },
  async () => {
    assert.ok(await one.node.namespace.reaches('192.0.2.1'));
    await cluster.create('Subnet', 'subnets', {
      metadata: { name: 'under' },
      spec: { cidrBlock: '10.66.0.0/24', gateway: '10.66.0.1', vlan: 'v10' },
    });
    await cluster.create('Vlan', 'vlans', { metadata: { name: 'v10' }, spec: { id: 10, provider: 'net1' } });
    await cluster.create('ProviderNetwork', 'provider-networks', { metadata: { name: 'net1' }, spec: { defaultInterface: 'eth1' } });
    for (const node of [one, two]) await until(`${node.node.name} is ready`, async () => (await labelsOf(node))[READY] === 'true');
    await until('the status says so', async () => {
      const { status } = (await cluster.client.get<KubeObject>(PROVIDER_NETWORKS, { name: 'net1' })) as {
        readonly status?: { readonly ready?: boolean };
      };
      return status?.ready === true;
    });
    assert.match(await addressesOn(one, 'br-net1'), / 172\.30\.0\.2\/24 /);
    assert.doesNotMatch(await addressesOn(one, 'eth1'), /172\.30/);
    assert.match(await routesOn(one, 'br-net1'), /192\.0\.2\.0\/24 via 172\.30\.0\.9 metric 50/);
    assert.ok(await one.node.namespace.reaches('192.0.2.1'));
    assert.ok(await neighbour.reaches('172.30.0.2'));
    assert.equal((await labelsOf(two))['net1.provider-network.kubernetes.io/interface'], 'eth1');
    assert.match(await one.node.vswitch.vsctl('get', 'open_vswitch', '.', 'external_ids:ovn-bridge-mappings'), /net1:br-net1/);
    const macs = await Promise.all(
      [one, two].map(({ node }) => node.vswitch.vsctl('get', 'open_vswitch', '.', 'external_ids:ovn-chassis-mac-mappings')),
    );
    assert.match(macs.join(), /^"net1:(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"/);
    assert.notEqual(macs[0], macs[1]);
  },
);

test('pods of a VLAN on two nodes and the physical gateway reach each other, with the tag, and no host without it', { skip }, async () => {
  web = await cluster.runPod('web', one, ON_UNDER);
  stops.unshift(() => web.sandbox.delete());
  db = await cluster.runPod('db', two, ON_UNDER);
  stops.unshift(() => db.sandbox.delete());
  assert.ok(await web.sandbox.reaches(db.address));
  for (const pod of [web, db]) {
    assert.ok(await pod.sandbox.reaches('10.66.0.1'), pod.address);
    assert.ok(await gateway.reaches(pod.address), pod.address);
    // A whole frame of the physical network: nothing is in a tunnel.
    assert.ok(await pod.sandbox.reaches('10.66.0.1', { size: 1472 }), pod.address);
  }
  await neighbour.run('ip', 'address', 'add', '10.66.0.99/24', 'dev', 'eth0');
  assert.ok(!(await web.sandbox.reaches('10.66.0.99', { seconds: 1 })));
  const learned = await two.node.vswitch.appctl('ovs-vswitchd', 'fdb/show', 'br-net1');
  assert.match(learned, /\s10\s+[0-9a-f:]{17}/, 'a MAC in VLAN 10');
  // The network of the nodes itself is untouched.
  assert.ok(await one.node.namespace.reaches('172.30.0.9'));
});

test(
  'u2o: pods of overlay and underlay reach each other on two nodes, and a host behind the physical gateway; off, they no longer do',
  { skip },
  async () => {
    const app = await cluster.runPod('app', two);
    stops.unshift(() => app.sandbox.delete());
    const own = await cluster.runPod('own', one);
    stops.unshift(() => own.sandbox.delete());
    await gateway.run('ip', 'address', 'add', '198.51.100.1/32', 'dev', 'lo');
    assert.ok(!(await app.sandbox.reaches(web.address, { seconds: 1 })));
    const connect = async (u2oInterconnection: boolean): Promise<void> => {
      await cluster.client.mergePatch(SUBNETS, { name: 'under' }, { spec: { u2oInterconnection } });
    };
    const routes = async (pod: RunningPod): Promise<string> => await pod.sandbox.namespace.run('ip', 'route', 'show', 'default');
    await connect(true);
    // Pods that run are connected as well.
    for (const pod of [web, db]) await until('its router is its gateway', async () => !(await routes(pod)).includes('via 10.66.0.1 '));
    for (const pod of [web, db]) {
      for (const other of [app, own]) {
        assert.ok(await pod.sandbox.reaches(other.address), `${pod.address} to ${other.address}`);
        assert.ok(await other.sandbox.reaches(pod.address), `${other.address} to ${pod.address}`);
      }
      assert.ok(await pod.sandbox.reaches('198.51.100.1'), 'what is for neither leaves by the physical gateway');
      assert.ok(await pod.sandbox.reaches('10.66.0.1'));
      assert.ok(await gateway.reaches(pod.address));
    }
    assert.ok(await web.sandbox.reaches(db.address));
    const late = await cluster.runPod('late', one, ON_UNDER);
    stops.unshift(() => late.sandbox.delete());
    assert.ok(await late.sandbox.reaches(app.address));

    await connect(false);
    for (const pod of [web, db])
      await until('the physical gateway is its own again', async () => (await routes(pod)).includes('via 10.66.0.1 '));
    assert.ok(!(await app.sandbox.reaches(web.address, { seconds: 1 })));
    assert.ok(await web.sandbox.reaches('198.51.100.1'));
    for (const name of ['late', 'app', 'own']) await cluster.client.delete(PODS, { namespace: 'default', name });
  },
);

test('with a logical gateway pods of the VLAN reach the overlay and back by the router of OVN', { skip }, async () => {
  await cluster.create('Vlan', 'vlans', { metadata: { name: 'v11' }, spec: { id: 11, provider: 'net1' } });
  await cluster.create('Subnet', 'subnets', {
    metadata: { name: 'gated' },
    spec: { cidrBlock: '10.67.0.0/24', gateway: '10.67.0.1', vlan: 'v11', logicalGateway: true },
  });
  const gated = { 'ovn.kubernetes.io/logical_switch': 'gated' };
  const [first, second] = [await cluster.runPod('gated-1', one, gated), await cluster.runPod('gated-2', two, gated)];
  const app = await cluster.runPod('overlay', two);
  for (const { sandbox } of [first, second, app]) stops.unshift(() => sandbox.delete());
  assert.ok(await first.sandbox.reaches(second.address), 'through the VLAN');
  for (const pod of [first, second]) {
    assert.ok(await pod.sandbox.reaches('10.67.0.1'));
    assert.ok(await pod.sandbox.reaches(app.address));
    assert.ok(await app.sandbox.reaches(pod.address));
  }
  for (const name of ['gated-1', 'gated-2', 'overlay']) await cluster.client.delete(PODS, { namespace: 'default', name });
  await cluster.client.delete(SUBNETS, { name: 'gated' });
  await cluster.client.delete(VLANS, { name: 'v11' });
});

test('an agent that is killed leaves packets alone; after the deletion of the network each node is as it was', { skip }, async () => {
  await one.killAgent();
  assert.ok(await gateway.reaches(web.address));
  for (const [name, node, { sandbox }] of [
    ['db', two, db],
    ['web', one, web],
  ] as const) {
    await cluster.client.delete(PODS, { namespace: 'default', name });
    if (node === two) assert.equal((await node.cni('DEL', name, sandbox)).exit, 0);
  }
  await cluster.client.delete(PROVIDER_NETWORKS, { name: 'net1' });
  await cluster.client.delete(VLANS, { name: 'v10' });
  await cluster.client.delete(SUBNETS, { name: 'under' });
  await until('the network is gone', async () => (await cluster.client.find(PROVIDER_NETWORKS, { name: 'net1' })) === undefined);
  one.startAgent();
  await until('the interface has its address and its route', async () => {
    return (await addressesOn(one, 'eth1')).includes(OWN_ADDRESS) && (await routesOn(one, 'eth1')).includes(`${OWN_ROUTE} metric 50`);
  });
  for (const { node } of [one, two]) {
    await until(`${node.name} has no bridge of it`, async () => !(await node.vswitch.vsctl('list-br')).includes('br-net1'));
    await until(
      `${node.name} has no mapping of it`,
      async () => !(await node.vswitch.vsctl('get', 'open_vswitch', '.', 'external_ids')).includes('net1'),
    );
  }
  assert.ok(await one.node.namespace.reaches('192.0.2.1'));
  for (const node of [one, two])
    await until(`${node.node.name} has no label of it`, async () =>
      Object.keys(await labelsOf(node)).every((key) => !key.startsWith('net1.')),
    );
});

testNodeInterfaces(() => cluster, stops);
