import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import { NodeWorld, type ObservedDevice } from '../../../agent/world/node-world.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import { agentTable as subnetTable } from '../../subnet/agent-table.ts';
import { agentTable } from '../agent-table.ts';
import { GATEWAY_END, gatewayNode } from './gateway-node.ts';

const SETTINGS: NodeSettings = {
  ...({ node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const),
};
const MAC = '00:00:00:00:00:05';
const ADDRESSES = ['172.31.0.5/24', 'fd31::5/64'];
const PATH = '/run/netns/ovnext';
const DEVICE: ObservedDevice & { kind: 'present' } = { kind: 'present', mac: MAC, mtu: 1500, up: true, addresses: ADDRESSES, routes: [] };

class Scene {
  readonly world = new NodeWorld();

  constructor() {
    const { world } = this;
    world.nodes.set('node-1', { uid: 'n', addresses: [], annotations: {}, labels: {}, conditions: {} });
    world.vlans.set('v0', { providerNetwork: 'net1', tag: 0 });
    const spec = { vlan: 'v0', cidrBlock: '172.31.0.0/24,fd31::/64', gateway: '172.31.0.1,fd31::1' };
    world.subnets.set('external', subnetTable.view({ metadata: { name: 'external' }, spec }, 'node-1'));
    this.eip();
  }

  eip(status: object = {}, more: object = {}, spec: object = {}): void {
    this.world.ovnEips.set(
      'node-1',
      agentTable.view(
        {
          metadata: { name: 'node-1', uid: 'e', ...more },
          spec: { externalSubnet: 'external', type: 'lsp', ...spec },
          status: { v4Ip: '172.31.0.5', v6Ip: 'fd31::5', macAddress: MAC.toUpperCase(), ...status },
        },
        'node-1',
      ),
    );
  }

  outputs(): readonly NodeOutput[] {
    return this.world.glance(() => gatewayNode(SETTINGS).run(this.world, ''));
  }

  kinds(): string {
    return this.outputs()
      .map(({ kind }) => kind)
      .join(' ');
  }

  of<K extends NodeOutput['kind']>(kind: K): Extract<NodeOutput, { kind: K }> | undefined {
    return this.outputs().find((output): output is Extract<NodeOutput, { kind: K }> => output.kind === kind);
  }

  /** As far as pods' interfaces come: namespace, device, port with its flows, and addresses. */
  connect(): void {
    this.world.gatewayNamespaces.set('ovnext', { complete: true });
    this.world.ports.set(GATEWAY_END, { externalIds: { 'ovn-installed': 'true' }, error: '' });
    this.world.ports.set('patch-localnet.external-to-br-int', { externalIds: {}, error: '' });
    this.world.devices.set(GATEWAY_END, DEVICE);
  }
}

test('namespace, device, port, answers to BFD and readiness come one after the other', () => {
  const scene = new Scene();
  const { world } = scene;
  assert.equal(scene.kinds(), 'gateway-namespace object-status');
  world.gatewayNamespaces.set('ovnext', { complete: false });
  assert.equal(scene.kinds(), 'gateway-namespace object-status', 'interfaces would get other settings');
  world.gatewayNamespaces.set('ovnext', { complete: true });
  assert.equal(scene.kinds(), 'gateway-namespace device port object-status');
  assert.equal(scene.of('device')?.connected, false, 'an address that another host has is not taken');
  world.devices.set(GATEWAY_END, { kind: 'absent' });
  assert.equal(scene.kinds(), 'gateway-namespace device object-status', 'Open vSwitch would go on reading from the former device');
  world.devices.set(GATEWAY_END, { ...DEVICE, addresses: [] });
  world.ports.set(GATEWAY_END, { externalIds: { 'ovn-installed': 'true' }, error: '' });
  assert.equal(scene.of('device')?.connected, false, 'the port to the physical network is missing');
  world.ports.set('patch-localnet.external-to-br-int', { externalIds: {}, error: '' });
  assert.equal(scene.of('device')?.connected, true);
  assert.equal(scene.of('bfd-responder'), undefined, 'without addresses it cannot answer');
  world.devices.set(GATEWAY_END, { ...DEVICE, tentative: ['fd31::5/64'] });
  assert.equal(scene.of('bfd-responder'), undefined);
  world.devices.set(GATEWAY_END, DEVICE);
  assert.deepEqual(scene.of('bfd-responder'), {
    ...{ kind: 'bfd-responder', namespacePath: PATH, networks: ['172.31.0.0/24', 'fd31::/64'] },
  });
  assert.deepEqual([scene.of('object-status')?.fields, scene.of('object-metadata')], [{ ready: false }, undefined]);
  world.bfdResponders.set(PATH, { sessions: {} });
  assert.deepEqual(scene.of('object-status'), { kind: 'object-status', resource: 'ovn-eips', name: 'node-1', fields: { ready: true } });
  assert.deepEqual(scene.of('object-metadata')?.labels, { 'ovn.kubernetes.io/node-ext-gw': 'true' });
});

test('the device has what the OvnEip has, and the gateway of the Subnet', () => {
  const scene = new Scene();
  scene.connect();
  const { innerName, mac, addresses, routes, mtu, namespacePath } = scene.of('device') ?? assert.fail();
  assert.deepEqual([innerName, mac, addresses, mtu, namespacePath], ['ovnext0', MAC, ADDRESSES, 1500, PATH]);
  assert.deepEqual(routes, [
    { destination: '0.0.0.0/0', gateway: '172.31.0.1' },
    { destination: '::/0', gateway: 'fd31::1' },
  ]);
  const { externalIds } = scene.of('port') ?? assert.fail();
  assert.deepEqual([externalIds['iface-id'], externalIds['ip']], ['node-1', '172.31.0.5,fd31::5']);
  scene.eip({ v6Ip: '' });
  assert.deepEqual([scene.of('device')?.addresses, scene.of('device')?.exclusive], [['172.31.0.5/24'], true]);
  assert.deepEqual(scene.of('device')?.routes, [{ destination: '0.0.0.0/0', gateway: '172.31.0.1' }]);
});

test('without an OvnEip for it nothing is emitted, and its label goes', () => {
  const scene = new Scene();
  scene.connect();
  const nodes = (labels: Record<string, string>): void =>
    scene.world.nodes.set('node-1', { uid: 'n', addresses: [], annotations: {}, labels, conditions: {} });
  const cases: Readonly<Record<string, () => void>> = {
    'no OvnEip': () => scene.world.ovnEips.delete('node-1'),
    'no addresses yet': () => scene.eip({ v4Ip: '', v6Ip: '' }),
    'no MAC yet': () => scene.eip({ macAddress: '' }),
    'of another type': () => scene.eip({}, {}, { type: 'nat' }),
    'being deleted': () => scene.eip({}, { deletionTimestamp: 'now' }),
    'without its Subnet': () => scene.eip({}, {}, { externalSubnet: 'other' }),
  };
  for (const [name, change] of Object.entries(cases)) {
    nodes({});
    scene.eip();
    assert.notEqual(scene.kinds(), '', name);
    change();
    assert.equal(scene.kinds(), '', name);
    nodes({ 'ovn.kubernetes.io/node-ext-gw': 'true' });
    assert.deepEqual(scene.of('object-metadata')?.labels, { 'ovn.kubernetes.io/node-ext-gw': null }, name);
  }
});
