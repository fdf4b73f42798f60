/** The default route of a pod is on another interface: what belongs to the cluster still leaves by its first one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import { attachmentKey } from '../../../agent/world/attachment.ts';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import type { NodeSubnet } from '../../subnet/agent-table.ts';
import { podInterface } from './pod-interface.ts';

const SETTINGS: NodeSettings = {
  ...{ node: 'n1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 },
  serviceCidr: '10.96.0.0/12,fd00:96::/108',
};

function subnet(cidrs: readonly string[], more: Partial<NodeSubnet> = {}): NodeSubnet {
  return {
    ...{ mtu: 0, vpc: '', cidrs, overlay: true, natOutgoing: false, gatewayNodes: '', gatewaySelectors: [], centralized: false },
    ...{ natRules: [], checksGateway: true, ...more },
  };
}

const SUBNETS: Readonly<Record<string, NodeSubnet>> = {
  'ovn-default': subnet(['10.16.0.0/16', 'fd00:10:16::/112']),
  join: subnet(['100.64.0.0/16']),
  other: subnet(['10.17.0.0/16'], { vpc: 'ovn-cluster' }),
  tenant: subnet(['10.18.0.0/16'], { vpc: 'blue' }),
  'tenant-too': subnet(['10.19.0.0/16'], { vpc: 'blue' }),
  physical: subnet(['192.168.9.0/24'], { overlay: false, vlan: 'v' }),
  connected: subnet(['192.168.8.0/24'], { overlay: false, vlan: 'v', interconnection: { routers: [], balanced: true } }),
};

function routesOf(annotations: Readonly<Record<string, string>>, interfaceName = 'eth0', provider = 'ovn'): readonly string[] {
  const world = new NodeWorld();
  const key = attachmentKey('c0ffee', interfaceName);
  world.attachments.set(key, {
    ...{ key, order: 1, containerId: 'c0ffee', interfaceName, namespacePath: '/run/netns/a', provider, routes: [] },
    pod: { namespace: 'shop', name: 'web' },
  });
  const own = {
    ...{ allocated: 'true', routed: 'true', ip_address: '10.16.0.5', mac_address: '00:00:00:AA:BB:CC', cidr: '10.16.0.0/16' },
    ...{ gateway: '10.16.0.1', logical_switch: 'ovn-default', ...annotations },
  };
  const keys = Object.entries(own).map(([suffix, value]) => [`${provider}.kubernetes.io/${suffix}`, value]);
  world.pods.set('shop/web', { uid: 'u', annotations: Object.fromEntries(keys) as Readonly<Record<string, string>> });
  for (const [name, one] of Object.entries(SUBNETS)) world.subnets.set(name, one);
  for (const [name, addresses] of [
    ['n1', ['192.168.1.11', 'fd00:1::11']],
    ['n2', ['192.168.1.12']],
  ] as const)
    world.nodes.set(name, { uid: name, annotations: {}, labels: {}, conditions: {}, addresses });
  const outputs: readonly NodeOutput[] = world.glance(() => podInterface(SETTINGS).run(world, key));
  const device = outputs.find((output) => output.kind === 'device');
  return (device?.kind === 'device' ? device.routes : []).map(({ destination, gateway }) => `${destination} ${gateway}`);
}

const IPV4 = ['100.64.0.0/16', '10.17.0.0/16', '192.168.8.0/24', '192.168.1.11/32', '192.168.1.12/32', '10.96.0.0/12'];

test('without its default route the first interface leads to the other Subnets of its Vpc, the nodes and the Services', () => {
  const found = routesOf({ default_route: 'false' });
  assert.deepEqual(found.toSorted(), IPV4.map((destination) => `${destination} 10.16.0.1`).toSorted());
});

test('with two families each destination has the gateway of its own', () => {
  const dual = {
    ip_address: '10.16.0.5,fd00:10:16::5',
    cidr: '10.16.0.0/16,fd00:10:16::/112',
    gateway: 'fd00:10:16::1,10.16.0.1',
    default_route: 'false',
  };
  const found = routesOf(dual);
  for (const destination of IPV4) assert.ok(found.includes(`${destination} 10.16.0.1`), destination);
  for (const destination of ['fd00:1::11/128', 'fd00:96::/108']) assert.ok(found.includes(`${destination} fd00:10:16::1`), destination);
  assert.equal(found.length, IPV4.length + 2);
});

test('in a custom Vpc: its own Subnets and the Services; nodes are not reached from there', () => {
  const found = routesOf({
    ip_address: '10.18.0.5',
    cidr: '10.18.0.0/16',
    gateway: '10.18.0.1',
    logical_switch: 'tenant',
    default_route: 'false',
  });
  assert.deepEqual(found.toSorted(), ['10.19.0.0/16 10.18.0.1', '10.96.0.0/12 10.18.0.1']);
});

test('a route of the annotation for the same destination comes before; with the default route, and on other interfaces, there is none', () => {
  const routes = JSON.stringify([{ dst: '10.96.0.0/12', gw: '10.16.0.254' }]);
  assert.ok(routesOf({ default_route: 'false', routes }).includes('10.96.0.0/12 10.16.0.254'));
  assert.deepEqual(routesOf({}), ['0.0.0.0/0 10.16.0.1']);
  assert.deepEqual(routesOf({}, 'net1', 'second.shop.ovn'), []);
});
