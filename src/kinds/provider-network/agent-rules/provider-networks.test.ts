/** A ProviderNetwork on a node: what comes next follows from what is observed, wherever the agent died. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentTable as configTable } from '../../external-gateway-config/agent-table.ts';
import type { DeviceName } from '../../../agent/world/attachment.ts';
import { networkText } from '../../../agent/world/device-network.ts';
import { underlayMissing } from '../../pod/agent-rules/pod-underlay.ts';
import { BARE, networkOf, NONE, OWN, SETTINGS, UnderlayScene as Scene } from './testing/underlay-scene.ts';

const READY = 'net1.provider-network.kubernetes.io/ready';
const ERROR = 'net1.provider-network.kubernetes.io/err_mesg';

test('bridge, port with the tags of its Vlans, mapping; ready when all of it was observed', () => {
  const scene = new Scene();
  assert.equal(scene.kinds(), 'br-net1 | eth1 | net1:br-net1');
  assert.deepEqual(scene.of('uplink-port')[0]?.trunks, [0, 10]);
  assert.equal(scene.of('provider-bridge')[0]?.mac, BARE.mac);
  assert.deepEqual(scene.of('bridge-mappings')[0]?.macs, { net1: '06:00:00:00:00:01' }, 'no device has it');
  assert.deepEqual(scene.state().labels, {}, 'nothing is claimed before it is observed');
  scene.carryOut();
  const prefix = 'net1.provider-network.kubernetes.io/';
  assert.deepEqual(scene.state().labels, { [READY]: 'true', [`${prefix}interface`]: 'eth1', [`${prefix}mtu`]: '1500' });
});

test('N44 addresses and routes go to the bridge, and back when the network is deleted; the agent may die after any line', () => {
  for (const [out, back] of [
    [0, 99],
    [1, 2],
    [2, 1],
    [3, 3],
    [4, 4],
    [5, 5],
    [6, 6],
    [99, 0],
  ] as const) {
    const scene = new Scene();
    scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
    scene.carryOut();
    scene.carryOut();
    const lines = scene.lines();
    assert.ok(
      lines.indexOf('route replace 0.0.0.0/0 via 172.18.0.1 metric 100 dev br-net1') >
        lines.indexOf(`address replace ${OWN.addresses[0]} dev br-net1`),
    );
    assert.equal(scene.state().labels?.[READY], undefined);
    scene.run(lines.slice(0, out));
    // The next agent sees this, and nothing else.
    scene.carryOut();
    scene.run(scene.lines());
    scene.carryOut();
    assert.deepEqual([networkOf(scene.link('br-net1')), networkOf(scene.link('eth1'))], [OWN, NONE], `after ${out}`);
    assert.equal(scene.state().labels?.[READY], 'true');
    assert.deepEqual(scene.lines(), []);

    scene.world.providerNetworks.delete('net1');
    assert.equal(scene.kinds(), 'br-net1 | ', 'the interface leaves the bridge first');
    scene.carryOut();
    assert.equal(scene.kinds(), 'br-net1 | br-net1 to eth1 | ');
    scene.run(scene.lines().slice(0, back));
    scene.carryOut();
    scene.run(scene.lines());
    assert.deepEqual([networkOf(scene.link('eth1')), networkOf(scene.link('br-net1'))], [OWN, NONE], `back after ${back}`);
    assert.equal(scene.kinds(), '', 'the bridge goes last');
  }
});

test('N45 after a start of the node the addresses are on the interface again, or on none: they are on the bridge afterwards', () => {
  for (const left of [OWN, NONE]) {
    const scene = new Scene();
    scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
    for (let i = 0; i < 3; i++) {
      scene.carryOut();
      scene.run(scene.lines());
    }
    scene.world.hostLinks.set('eth1', { ...BARE, ...left });
    scene.world.hostLinks.set('br-net1', { ...BARE, type: 'openvswitch' });
    scene.carryOut();
    scene.run(scene.lines());
    assert.deepEqual([networkOf(scene.link('br-net1')), scene.link('eth1').addresses], [OWN, []]);
  }
});

test('N46 an address that another program adds to the interface goes to the bridge too', () => {
  const scene = new Scene();
  scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
  for (let i = 0; i < 2; i++) {
    scene.carryOut();
    scene.run(scene.lines());
  }
  scene.world.hostLinks.set('eth1', { ...BARE, addresses: ['172.18.0.9/16'] });
  scene.carryOut();
  scene.run(scene.lines());
  assert.deepEqual(scene.link('br-net1').addresses, [...OWN.addresses, '172.18.0.9/16'].toSorted());
  assert.deepEqual(scene.link('eth1').addresses, []);
});

test('N47 a bridge that is deleted by hand is made again, with the addresses and routes that went with it', () => {
  const scene = new Scene();
  scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
  scene.settle();
  scene.world.bridges.delete('br-net1');
  scene.world.hostLinks.delete('br-net1');
  scene.world.ports.delete('eth1');
  scene.settle();
  assert.deepEqual([networkOf(scene.link('br-net1')), networkOf(scene.link('eth1'))], [OWN, NONE]);
});

test('N47 the interface is gone: the bridge stays until the network is deleted, and goes then', () => {
  const scene = new Scene();
  scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
  for (let i = 0; i < 2; i++) {
    scene.carryOut();
    scene.run(scene.lines());
  }
  scene.world.hostLinks.delete('eth1');
  assert.match(scene.state().annotations[ERROR] ?? '', /^node node-1 has no interface eth1; kubectl edit provider-network net1$/);
  assert.equal(scene.kinds(), 'br-net1 | eth1 | net1:br-net1');
  scene.world.providerNetworks.delete('net1');
  scene.carryOut();
  assert.equal(scene.kinds(), '');
});

test('excluded by name, or by a selector that decides alone; the labels say it, and those of networks that are gone go', () => {
  const label = 'net1.provider-network.kubernetes.io/exclude';
  for (const [spec, excluded] of [
    [{ excludeNodes: ['node-1'] }, true],
    [{ excludeNodes: ['node-2'] }, false],
    [{ excludeNodes: ['node-1'], nodeSelector: { matchLabels: { zone: 'a' } } }, false],
    [{ nodeSelector: { matchLabels: { zone: 'b' } } }, true],
  ] as const) {
    const scene = new Scene(spec);
    scene.world.nodes.set('node-1', {
      uid: 'n',
      addresses: [],
      annotations: { [ERROR]: 'old' },
      labels: { zone: 'a', [READY]: 'true', 'gone.provider-network.kubernetes.io/mtu': '1500' },
      conditions: {},
    });
    const patches = scene.of('object-metadata');
    const found = Object.assign({}, ...patches.map(({ labels }) => labels)) as Record<string, string | null>;
    assert.equal(found[label], excluded ? 'true' : undefined, JSON.stringify(spec));
    assert.equal(found['gone.provider-network.kubernetes.io/mtu'], null);
    if (excluded) assert.deepEqual([found[READY], scene.kinds(), patches[0]?.annotations[ERROR]], [null, '', null]);
  }
});

test('custom interfaces, one interface in two networks, one in a bond, too long a name: a node says why it is not ready', () => {
  const custom = new Scene({ customInterfaces: [{ interface: 'eth2', nodes: ['node-1'] }] });
  custom.world.hostLinks.set('eth2', BARE);
  assert.deepEqual(custom.of('uplink-port')[0]?.name, 'eth2' as DeviceName);

  const twice = new Scene();
  twice.network('net0', {}, '2027');
  const why = twice.of('object-metadata').map(({ annotations }) => annotations['net0.provider-network.kubernetes.io/err_mesg'] ?? '');
  assert.match(why.join(''), /^interface eth1 of node node-1 is in ProviderNetwork net1, which is older$/);
  assert.equal(twice.kinds(), 'br-net1 | eth1 | net1:br-net1');

  const bond = new Scene();
  bond.world.hostLinks.set('eth1', { ...BARE, master: 'bond0' });
  assert.match(bond.state().annotations[ERROR] ?? '', /is a part of bond0$/);

  const long = new Scene();
  long.world.providerNetworks.delete('net1');
  long.network('physical-network');
  assert.match(Object.values(long.state().annotations).join(), /19 characters, and a device has at most 15/);
});

test('what a move would lose keeps the interface as it is until it is gone; one that was moved already stays moved', () => {
  const lost = ['route 10.1.0.0/16 with several next hops', 'route 10.5.0.0/16 of table 99'];
  const vlan = { ...BARE, type: 'vlan', vlan: { parent: 'eth1', tag: 30 } };
  for (const spec of [{}, { exchangeLinkName: true }, { preserveVlanInterfaces: true }]) {
    const scene = new Scene(spec);
    const { hostLinks } = scene.world;
    const [name, link] = 'preserveVlanInterfaces' in spec ? ['eth1.30', vlan] : ['eth1', { ...BARE, ...OWN }];
    hostLinks.set('eth1', { ...BARE, ...OWN });
    hostLinks.set(name, { ...link, unmovable: lost });
    const before = [...hostLinks.entries()];
    assert.deepEqual([scene.settle(), scene.kinds(), [...hostLinks.entries()]], [[], '', before], 'nothing is changed');
    const bridge = 'exchangeLinkName' in spec ? 'eth1' : 'br-net1';
    assert.equal(
      scene.state().annotations[ERROR],
      `interface ${name} of node node-1 has ${lost[0]} (and 1 more), which a move to bridge ${bridge} would lose: ` +
        'remove it, or leave the node out; kubectl edit provider-network net1',
    );
    assert.equal(scene.state().labels?.[READY], undefined);
    hostLinks.set(name, link);
    scene.settle();
    assert.equal(scene.state().labels?.[READY], 'true', 'it mends itself');
    const port = 'exchangeLinkName' in spec ? 'br-net1' : 'eth1';
    hostLinks.set(port, { ...scene.link(port), unmovable: lost });
    scene.settle();
    assert.deepEqual([scene.state().labels?.[READY], networkOf(scene.link(bridge))], ['true', OWN], 'it stays moved');
    const warning = scene.state().annotations['net1.provider-network.kubernetes.io/warning'] ?? '';
    assert.equal(warning, `interface ${port} has ${lost[0]}, which has no effect while it is in bridge ${bridge}: remove it (and 1 more)`);
    hostLinks.set(port, { ...scene.link(port), unmovable: [] });
    hostLinks.set(bridge, { ...scene.link(bridge), unmovable: lost.slice(1) });
    assert.match(
      scene.state().annotations['net1.provider-network.kubernetes.io/warning'] ?? '',
      /^bridge \S+ has route 10\.5\.0\.0\/16 of table 99, which is lost when interface eth1 gets back what it had$/,
    );
  }
});

test('an address that comes back to the interface with other options than those recorded is moved as it was', () => {
  const scene = new Scene();
  scene.world.hostLinks.set('eth1', { ...BARE, addresses: ['172.18.0.2/16'] });
  scene.settle();
  scene.world.hostLinks.set('eth1', { ...BARE, addresses: ['172.18.0.2/16 metric 100'] });
  assert.deepEqual(scene.settle(), ['address delete 172.18.0.2/16 dev eth1']);
  assert.deepEqual(scene.link('br-net1').addresses, ['172.18.0.2/16']);
});

test('an address with a lifetime is permanent on the bridge: it is told, as long as the bridge has it', () => {
  const scene = new Scene();
  scene.world.hostLinks.set('eth1', { ...BARE, ...OWN, leased: ['172.18.0.2/16'] });
  scene.settle();
  const warning = (): string => scene.state().annotations['net1.provider-network.kubernetes.io/warning'] ?? '';
  assert.equal(warning(), 'address 172.18.0.2/16 had a lifetime and is permanent on bridge br-net1: give node and interface a fixed one');
  assert.equal(scene.state().labels?.[READY], 'true');
  scene.world.providerNetworks.delete('net1');
  scene.settle();
  scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
  scene.network('net1');
  scene.settle();
  assert.equal(warning(), '');
});

test('a record of an older agent with a route that lost its next hop does not hold the bridge', () => {
  const scene = new Scene();
  scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
  scene.settle();
  const written = { addresses: OWN.addresses, routes: [...OWN.routes, '10.2.0.0/16', '10.3.0.0/16 metric 50'] };
  const bridge = scene.world.bridges.peek('br-net1');
  assert.ok(bridge);
  scene.world.bridges.set('br-net1', { ...bridge, externalIds: { ...bridge.externalIds, 'kiln.io/moved': JSON.stringify(written) } });
  const taken = { net1: { original: 'eth1', name: 'eth1', ...written } };
  scene.world.settings.set('kiln.io/taken-interfaces', JSON.stringify(taken));
  assert.deepEqual(scene.lines(), []);
  assert.equal(scene.state().labels?.[READY], 'true');
  scene.world.providerNetworks.delete('net1');
  scene.settle();
  assert.deepEqual([networkOf(scene.link('eth1')), scene.world.bridges.has('br-net1')], [OWN, false]);
});

test('without the Node, nothing that exists is taken away', () => {
  const scene = new Scene();
  scene.carryOut();
  scene.world.nodes.delete('node-1');
  assert.equal(scene.kinds(), 'br-net1 | eth1 | net1:br-net1');
});

test('a pod of an underlay Subnet waits for its network on this node', () => {
  const { world } = new Scene();
  const subnet = {
    ...{ mtu: 0, vpc: '', cidrs: [], natOutgoing: false, natRules: [] },
    ...{ gatewayNodes: '', gatewaySelectors: [], centralized: false, checksGateway: true },
  };
  world.subnets.set('under', { ...subnet, vlan: 'v10', overlay: false });
  world.subnets.set('over', { ...subnet, overlay: true });
  assert.equal(underlayMissing(world, 'over', SETTINGS), undefined);
  assert.match(underlayMissing(world, 'under', SETTINGS) ?? '', /ProviderNetwork net1 of Subnet under is not ready on node node-1/);
  world.nodes.set('node-1', { uid: 'n', addresses: [], annotations: {}, labels: { [READY]: 'true' }, conditions: {} });
  assert.equal(underlayMissing(world, 'under', SETTINGS), undefined);
  world.vlans.delete('v10');
  assert.match(underlayMissing(world, 'under', SETTINGS) ?? '', /Vlan v10 of Subnet under does not exist/);
});

test('the record of a bridge that Kube-OVN made, or that is no JSON, is empty', () => {
  const scene = new Scene();
  scene.world.bridges.set('br-net1', { datapathType: 'system', externalIds: { vendor: 'kube-ovn', 'kiln.io/moved': '{' } });
  assert.deepEqual(scene.of('provider-bridge')[0]?.externalIds['kiln.io/moved'], networkText(NONE));
});

test('external-gw-nic of the ConfigMap is a network of gateway nodes, as long as no ProviderNetwork has its name', () => {
  const scene = new Scene();
  const { world } = scene;
  world.providerNetworks.delete('net1');
  const node = (labels: Readonly<Record<string, string>>): void =>
    world.nodes.set('node-1', { uid: 'n', addresses: [], annotations: {}, labels, conditions: {} });
  const config = (data: object, namespace = 'kube-system'): void => {
    const metadata = { name: 'ovn-external-gw-config', namespace, uid: 'c', creationTimestamp: '2026' };
    world.externalGatewayConfigs.set(`${namespace}/ovn-external-gw-config`, configTable.view({ metadata, data } as never, 'node-1'));
  };
  const GATEWAY = { 'ovn.kubernetes.io/external-gw': 'true' };
  config({ 'external-gw-nic': ' eth1 ' });
  assert.equal(scene.kinds(), '', 'the node is no gateway');
  assert.deepEqual(scene.state().labels, {});
  node(GATEWAY);
  assert.equal(scene.kinds(), 'br-external | eth1 | external:br-external');
  scene.settle();
  assert.equal(scene.state().labels?.['external.provider-network.kubernetes.io/ready'], 'true');
  config({ 'external-gw-nic': 'eth9' });
  scene.settle();
  assert.equal(scene.kinds(), 'br-external | eth1 | external:br-external', 'what there is stays');
  assert.match(
    scene.state().annotations['external.provider-network.kubernetes.io/err_mesg'] ?? '',
    /no interface eth9; kubectl edit configmap -n kube-system ovn-external-gw-config/,
  );
  for (const off of [{}, { 'enable-external-gw': 'false', 'external-gw-nic': 'eth1' }]) {
    config({ 'enable-external-gw': 'no', 'external-gw-nic': 'eth1' });
    scene.settle();
    assert.equal(scene.kinds(), 'br-external | eth1 | external:br-external');
    config(off);
    scene.settle();
    assert.equal(scene.kinds(), '', JSON.stringify(off));
  }
  config({ 'external-gw-nic': 'eth1' }, 'other');
  assert.equal(scene.kinds(), '', 'of another namespace');
  config({ 'external-gw-nic': 'eth1' });
  world.hostLinks.set('eth2', BARE);
  scene.network('external', { defaultInterface: 'eth2' });
  assert.equal(scene.kinds(), 'br-external | eth2 | external:br-external');
  world.providerNetworks.delete('external');
  scene.settle();
  node({});
  scene.settle();
  assert.equal(scene.kinds(), '', 'it is no gateway any more');
});
