/** What leaves the node is translated as Subnets say, and no text of a user reaches the script. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeSubnet } from '../agent-table.ts';
import { outgoingNat } from './outgoing-nat.ts';

const SETTINGS = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const;
const SUBNET: NodeSubnet = {
  mtu: 0,
  vpc: '',
  cidrs: ['10.16.0.0/16'],
  overlay: true,
  checksGateway: true,
  natOutgoing: true,
  gatewayNodes: '',
  gatewaySelectors: [],
  centralized: false,
  natRules: [],
};

/** The rules of a chain about what leaves the Subnets. */
function rules(subnets: Readonly<Record<string, Partial<NodeSubnet>>>, chain = 'postrouting'): readonly string[] {
  const world = new NodeWorld();
  for (const [name, subnet] of Object.entries(subnets)) world.subnets.set(name, { ...SUBNET, ...subnet });
  const [output] = world.glance(() => outgoingNat(SETTINGS).run(world, ''));
  assert.equal(output?.kind, 'packet-filter');
  const lines = output.script.split('\n').map((line) => line.trim());
  const from = lines.indexOf(`chain ${chain} {`);
  return lines.slice(from, lines.indexOf('}', from)).filter((line) => line.includes('daddr != @'));
}

const LEAVING = 'ip saddr 10.16.0.0/16 ip daddr != @subnets4';

test('a Subnet with natOutgoing, of each family', () => {
  assert.deepEqual(rules({ red: { cidrs: ['10.16.0.0/16', 'fd00:10:16::/112'] } }), [
    `${LEAVING} masquerade fully-random`,
    'ip6 saddr fd00:10:16::/112 ip6 daddr != @subnets6 masquerade fully-random',
  ]);
});

test('none without natOutgoing, of another Vpc, or of a Vlan with its own router', () => {
  assert.deepEqual(rules({ a: { natOutgoing: false }, b: { vpc: 'blue' }, c: { overlay: false } }), []);
});

test('policy rules come first, in their order', () => {
  const natRules = [
    { action: 'forward', sources: '', destinations: '192.0.2.0/24, 198.51.100.7' },
    { action: 'nat', sources: '10.16.0.9', destinations: '' },
  ] as const;
  assert.deepEqual(rules({ red: { natRules } }), [
    `${LEAVING} ip daddr { 192.0.2.0/24, 198.51.100.7 } accept`,
    `${LEAVING} ip saddr { 10.16.0.9 } masquerade fully-random`,
    `${LEAVING} masquerade fully-random`,
  ]);
  // A packet that the kernel does not translate, since it belongs to no connection, does not leave with the pod's address.
  assert.deepEqual(rules({ red: { natRules } }, 'untranslated'), [
    `${LEAVING} ip daddr { 192.0.2.0/24, 198.51.100.7 } accept`,
    `${LEAVING} ip saddr { 10.16.0.9 } ct state invalid drop`,
    `${LEAVING} ct state invalid drop`,
  ]);
});

test('a centralized gateway translates to the address of its entry, on that node', () => {
  const red = { centralized: true, gatewayNodes: 'node-2:172.18.0.3, node-1:172.18.0.200' };
  assert.deepEqual(rules({ red }), [`${LEAVING} snat ip to 172.18.0.200`]);
});

test('another node, to which OVN leads replies by its own way, is translated as well; this one and the outside are not', () => {
  const world = new NodeWorld();
  world.subnets.set('red', SUBNET);
  const script = (): string => {
    const [output] = world.glance(() => outgoingNat(SETTINGS).run(world, ''));
    return output?.kind === 'packet-filter' ? output.script : '';
  };
  const node = (name: string, ...addresses: readonly string[]): void =>
    world.nodes.set(name, { uid: name, addresses, annotations: {}, labels: {}, conditions: {} });
  node('node-3', '172.18.0.4', 'fd18:0::4', 'nonsense } accept');
  node('node-1', '172.18.0.2', 'fd18::2');
  node('node-2', '172.18.0.3');
  const inSet = (family: 4 | 6): string => new RegExp(`set nodes${family} {[^}]*elements = { ([^}]*) }`).exec(script())?.[1] ?? '';
  assert.deepEqual([inSet(4), inSet(6)], ['172.18.0.3, 172.18.0.4', 'fd18::4']);
  for (const [family, match] of [
    [4, 'ip'],
    [6, 'ip6'],
  ] as const)
    assert.ok(script().includes(`${match} saddr @nodes${family} ${match} daddr @subnets${family} ct status dnat masquerade fully-random`));
  world.nodes.delete('node-2');
  assert.equal(inSet(4), '172.18.0.4');
});

test('text that is no address is left out, and never printed', () => {
  const hostile = '10.0.0.1 } accept; }; flush ruleset; {';
  const natRules = [{ action: 'forward', sources: hostile, destinations: '' }] as const;
  assert.deepEqual(rules({ red: { natRules, centralized: true, gatewayNodes: `node-1:${hostile}` } }), [
    `${LEAVING} masquerade fully-random`,
  ]);
});

test('N28: the same bytes in whatever order Subnets come', () => {
  const natRules = [{ action: 'nat', sources: '10.18.0.9', destinations: '' } as const];
  const subnets: readonly (readonly [string, Partial<NodeSubnet>])[] = [
    ['a', { cidrs: ['10.16.0.0/16', 'fd00:10:16::/112'] }],
    ['b', { cidrs: ['10.17.0.0/16'], centralized: true, gatewayNodes: 'node-1:172.18.0.9' }],
    ['c', { cidrs: ['10.18.0.0/16'], natRules }],
    ['d', { cidrs: ['10.18.0.0/17'], natOutgoing: false }],
  ];
  const expected = rules(Object.fromEntries(subnets));
  for (let first = 0; first < subnets.length; first += 1) {
    const turned = [...subnets.slice(first), ...subnets.slice(0, first)];
    for (const order of [turned, turned.toReversed()]) assert.deepEqual(rules(Object.fromEntries(order)), expected);
  }
});

test('N30: each chain has its own priority, before those of kube-proxy, so that it does not matter which program starts first', () => {
  const world = new NodeWorld();
  const [output] = world.glance(() => outgoingNat(SETTINGS).run(world, ''));
  assert.ok(output?.kind === 'packet-filter');
  const hooks = [...output.script.matchAll(/type (\w+) hook (\w+) priority ([^;]+);/g)].map(([, ...words]) => words.join(' '));
  // kube-proxy translates at srcnat (100) in postrouting and dstnat (-100) in prerouting and output.
  assert.deepEqual(hooks, ['filter postrouting srcnat - 10', 'nat postrouting srcnat - 5', 'filter output mangle']);
  assert.doesNotMatch(output.script, /jump|goto/);
});
