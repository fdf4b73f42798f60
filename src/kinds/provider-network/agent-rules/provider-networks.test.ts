/** A ProviderNetwork on a node: what comes next follows from what is observed, wherever the agent died. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceName } from '../../../agent/world/attachment.ts';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import type { ObjectMetadataOutput, NodeOutput } from '../../../agent/world/outputs.ts';
import type { HostLink } from '../../../agent/world/device-network.ts';
import { networkText } from '../../../agent/world/device-network.ts';
import { moveLines } from '../../../agent/uplink/uplink-commands.ts';
import { underlayMissing } from '../../pod/agent-rules/pod-underlay.ts';
import { providerNetworks } from './provider-networks.ts';

const SETTINGS = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const;
const READY = 'net1.provider-network.kubernetes.io/ready';
const ERROR = 'net1.provider-network.kubernetes.io/err_mesg';
const OWN = {
  addresses: ['172.18.0.2/16 brd 172.18.255.255', 'fd00::2/64'],
  routes: ['0.0.0.0/0 via 172.18.0.1 metric 100', '::/0 via fd00::1'],
};
const NONE = { addresses: [], routes: [] };
const BARE: HostLink = { mac: '02:00:00:00:00:01', mtu: 1500, up: true, master: '', ...NONE };

class Scene {
  readonly world = new NodeWorld();

  constructor(spec: object = {}) {
    this.world.nodes.set('node-1', { uid: 'n', addresses: [], annotations: {}, labels: { zone: 'a' }, conditions: {} });
    this.network('net1', spec);
    this.world.vlans.set('v10', { providerNetwork: 'net1', tag: 10 });
    this.world.vlans.set('other', { providerNetwork: 'net2', tag: 20 });
    this.world.hostLinks.set('eth1', BARE);
  }

  network(name: string, spec: object = {}, created = '2026'): void {
    this.world.providerNetworks.set(name, { uid: name, created, spec: { defaultInterface: 'eth1', ...spec } });
  }

  outputs(): readonly NodeOutput[] {
    return providerNetworks(SETTINGS).run(this.world, '');
  }

  of<K extends NodeOutput['kind']>(kind: K): readonly Extract<NodeOutput, { kind: K }>[] {
    return this.outputs().filter((output): output is Extract<NodeOutput, { kind: K }> => output.kind === kind);
  }

  /** One line for each output: what would be changed, and how. */
  kinds(): string {
    return this.outputs()
      .filter(({ kind }) => kind !== 'object-metadata')
      .map((output) =>
        output.kind === 'move'
          ? `${output.from} to ${output.to}`
          : output.kind === 'bridge-mappings'
            ? Object.entries(output.bridges).join().replace(',', ':')
            : output.kind === 'provider-bridge' || output.kind === 'uplink-port'
              ? output.name
              : output.kind,
      )
      .join(' | ');
  }

  /** Makes all that the rule emits for bridge, port and mapping observed; addresses move by `move`. */
  carryOut(): void {
    const { world } = this;
    const bridges = this.of('provider-bridge');
    for (const [name] of [...world.bridges.entries()]) if (bridges.every((one) => one.name !== name)) world.bridges.delete(name);
    for (const { name, network, externalIds, datapathType } of bridges) {
      const kept = world.bridges.peek(name)?.externalIds ?? {};
      world.bridges.set(name, {
        datapathType,
        externalIds: { ...kept, vendor: 'kube-ovn', 'kiln.io/provider-network': network, ...externalIds },
      });
      if (!world.hostLinks.has(name)) world.hostLinks.set(name, { ...BARE, up: false });
    }
    const ports = this.of('uplink-port');
    for (const [name] of [...world.ports.entries()]) if (ports.every((one) => one.name !== name)) world.ports.delete(name);
    for (const { name, network } of ports)
      world.ports.set(name, { externalIds: { vendor: 'kube-ovn', 'kiln.io/provider-network': network }, error: '' });
    const [mapping] = this.of('bridge-mappings');
    world.settings.set(
      'ovn-bridge-mappings',
      Object.entries(mapping?.bridges ?? {})
        .map((pair) => pair.join(':'))
        .join(','),
    );
  }

  link(name: string): HostLink {
    return this.world.hostLinks.get(name) ?? BARE;
  }

  /** The lines of the moves that are due. */
  lines(): readonly string[] {
    return this.of('move').flatMap(({ from, to, network }) => moveLines(from, to, network, this.link(from), this.link(to)));
  }

  /** Runs the first lines, as the kernel would. */
  run(lines: readonly string[]): void {
    for (const line of lines) {
      const device = / dev (\S+)/.exec(line)?.[1] ?? '';
      const link = this.link(device);
      const what = line.replace(/^(?:address (?:add|delete)|route (?:replace|delete)) /, '').replace(/ dev \S+( nodad)?$/, '');
      if (line.startsWith('link set')) this.world.hostLinks.set(device, { ...link, up: true });
      else if (line.startsWith('address add'))
        this.world.hostLinks.set(device, { ...link, addresses: [...link.addresses, what].toSorted() });
      else if (line.startsWith('address delete'))
        this.world.hostLinks.set(device, { ...link, addresses: link.addresses.filter((one) => !one.startsWith(what)) });
      else if (line.startsWith('route replace')) {
        for (const [name, other] of [...this.world.hostLinks.entries()])
          this.world.hostLinks.set(name, { ...other, routes: other.routes.filter((route) => route !== what) });
        const now = this.link(device);
        this.world.hostLinks.set(device, { ...now, routes: [...now.routes, what].toSorted() });
      } else assert.fail(line);
    }
  }

  state(): ObjectMetadataOutput {
    const found = this.of('object-metadata');
    assert.ok(found.length <= 1);
    return found[0] ?? { kind: 'object-metadata', resource: 'nodes', name: '', annotations: {}, labels: {} };
  }
}

function networkOf({ addresses, routes }: HostLink): object {
  return { addresses, routes };
}

test('bridge, port with the tags of its Vlans, mapping; ready when all of it was observed', () => {
  const scene = new Scene();
  assert.equal(scene.kinds(), 'br-net1 | eth1 | net1:br-net1');
  assert.deepEqual(scene.of('uplink-port')[0]?.trunks, [0, 10]);
  assert.equal(scene.of('provider-bridge')[0]?.mac, BARE.mac);
  assert.deepEqual(scene.state().labels, {}, 'nothing is claimed before it is observed');
  scene.carryOut();
  const prefix = 'net1.provider-network.kubernetes.io/';
  assert.deepEqual(scene.state().labels, { [READY]: 'true', [`${prefix}interface`]: 'eth1', [`${prefix}mtu`]: '1500' });
});

test('addresses and routes go to the bridge, and back when the network is deleted; the agent may die after any line', () => {
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
        lines.indexOf(`address add ${OWN.addresses[0]} dev br-net1`),
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

test('after a start of the node the addresses are on the interface again, or on none: they are on the bridge afterwards', () => {
  for (const left of [OWN, NONE]) {
    const scene = new Scene();
    scene.world.hostLinks.set('eth1', { ...BARE, ...OWN });
    for (let i = 0; i < 3; i++) {
      scene.carryOut();
      scene.run(scene.lines());
    }
    scene.world.hostLinks.set('eth1', { ...BARE, ...left });
    scene.world.hostLinks.set('br-net1', BARE);
    scene.carryOut();
    scene.run(scene.lines());
    assert.deepEqual([networkOf(scene.link('br-net1')), scene.link('eth1').addresses], [OWN, []]);
  }
});

test('an address that another program adds to the interface goes to the bridge too', () => {
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

test('the interface is gone: the bridge stays until the network is deleted, and goes then', () => {
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
