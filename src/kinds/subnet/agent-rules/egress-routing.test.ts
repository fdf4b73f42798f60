/** Rules of routing for Subnets with an external egress gateway: by family, by pod or by node, and never for a source that is anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentKey, hostDevice } from '../../../agent/world/attachment.ts';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeSubnet } from '../agent-table.ts';
import { egressOfPods, egressTables } from './egress-routing.ts';

const SETTINGS = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const;
const KEY = attachmentKey('c0ffee', 'eth0');
const RED: NodeSubnet = {
  mtu: 0,
  vpc: '',
  cidrs: ['10.20.0.0/16', 'fd00:20::/112'],
  overlay: true,
  checksGateway: true,
  natOutgoing: false,
  gatewayNodes: '',
  gatewaySelectors: [],
  centralized: false,
  natRules: [],
  egress: { gateways: ['172.18.0.9', 'fd00:18::9'], table: 1001, priority: 1000 },
};

function scene(red: Partial<NodeSubnet> = {}, addresses = '10.20.0.5,fd00:20::5'): NodeWorld {
  const world = new NodeWorld();
  const other = { ...RED, cidrs: ['10.16.0.0/16'] };
  delete (other as { egress?: unknown }).egress;
  world.subnets.set('other', other);
  world.subnets.set('red', { ...RED, ...red });
  world.nodes.set('node-1', { uid: '', addresses: [], annotations: {}, labels: { gateway: 'yes' }, conditions: {} });
  world.attachments.set(KEY, {
    key: KEY,
    order: 0,
    containerId: 'c0ffee',
    interfaceName: 'eth0',
    namespacePath: '/run/netns/a',
    pod: { namespace: 'shop', name: 'web' },
    provider: 'ovn',
    routes: [],
  });
  world.ports.set(hostDevice('c0ffee', 'eth0'), { externalIds: { ip: addresses }, error: '' });
  return world;
}

function lines(world: NodeWorld, rule = egressTables, key = ''): readonly string[] {
  return world
    .glance(() => rule(SETTINGS).run(world, key))
    .map((output) => (output.kind === 'routing' ? `${output.family} ${output.part} ${output.text}` : output.kind));
}

const ofPods = (world: NodeWorld): readonly string[] => lines(world, egressOfPods, KEY);

test('N32: distributed: a table with the gateway of each family, and a rule for each address of a pod of this node', () => {
  assert.deepEqual(lines(scene()), [
    '4 route default via 172.18.0.9 table 1001',
    '4 route throw 10.16.0.0/16 table 1001',
    '4 route throw 10.20.0.0/16 table 1001',
    '6 route default via fd00:18::9 table 1001',
    '6 route throw fd00:20::/112 table 1001',
  ]);
  assert.deepEqual(ofPods(scene()), [
    '4 rule from 10.20.0.5 lookup 1001 priority 1000',
    '6 rule from fd00:20::5 lookup 1001 priority 1000',
  ]);
});

test('N32: each family for itself: a pod or a gateway of one family has rules of that one', () => {
  assert.deepEqual(ofPods(scene({}, 'fd00:20::5')), ['6 rule from fd00:20::5 lookup 1001 priority 1000']);
  const v6 = { egress: { gateways: ['fd00:18::9'], table: 1001, priority: 1000 } };
  assert.deepEqual(ofPods(scene(v6)), ['6 rule from fd00:20::5 lookup 1001 priority 1000']);
  assert.ok(lines(scene(v6)).every((line) => line.startsWith('6 ')));
  // Nothing is known of the pod's addresses.
  assert.deepEqual(ofPods(scene({}, '')), []);
});

test('centralized: a rule for the Subnet on the nodes of the gateway, none for pods', () => {
  const rules = (red: Partial<NodeSubnet>): readonly string[] =>
    lines(scene({ centralized: true, ...red })).filter((line) => line.includes('rule'));
  const both = ['4 rule from 10.20.0.0/16 lookup 1001 priority 1000', '6 rule from fd00:20::/112 lookup 1001 priority 1000'];
  assert.deepEqual(rules({ gatewayNodes: 'node-2, node-1:172.18.0.2' }), both);
  assert.deepEqual(rules({ gatewayNodes: 'node-2' }), []);
  assert.deepEqual(rules({ gatewaySelectors: [{ matchLabels: { gateway: 'yes' } }] }), both);
  assert.deepEqual(rules({ gatewaySelectors: [{ matchLabels: { gateway: 'no' } }] }), []);
  assert.deepEqual(ofPods(scene({ centralized: true })), []);
});

test('none without a gateway, of another Vpc, and of a pod that is being removed', () => {
  const world = scene();
  const present = world.attachments.peek(KEY);
  assert.ok(present);
  world.attachments.set(KEY, { ...present, removing: true });
  assert.deepEqual(ofPods(world), []);
  assert.deepEqual([lines(scene({ vpc: 'blue' })), ofPods(scene({ vpc: 'blue' }))], [[], []]);
});
