/** The objects of Kube-OVN's guide pages on EIP, FIP, SNAT and DNAT, created and deleted in many orders. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import type { RuleBench } from '../../testing/rule-bench.ts';
import type { ResourceName } from '../../world/resources.ts';

const SHOP = { 'ovn.kubernetes.io/ip_address': '192.168.0.10' };
/** Addresses are static but for that of the router port, the first free one. */
const OBJECTS: readonly (readonly [ResourceName, string, object])[] = [
  ['provider-networks', 'external204', { defaultInterface: 'eth1' }],
  ['vlans', 'vlan204', { id: 204, provider: 'external204' }],
  [
    'subnets',
    'external204',
    { cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254', vlan: 'vlan204', excludeIps: ['10.5.204.1..10.5.204.100'] },
  ],
  ['vpcs', 'vpc1', { enableExternal: true, extraExternalSubnets: ['external204'], namespaces: ['vpc1'] }],
  ['subnets', 'vpc1-subnet1', { cidrBlock: '192.168.0.0/24', vpc: 'vpc1', namespaces: ['vpc1'] }],
  ['vips', 'vip1', { subnet: 'vpc1-subnet1', v4ip: '192.168.0.77' }],
  ['pods', 'vpc1/fip-vpc1-1', {}],
  ['ovn-eips', 'eip-static', { externalSubnet: 'external204', v4Ip: '10.5.204.150', type: 'nat' }],
  ['ovn-eips', 'eip-snat', { externalSubnet: 'external204', v4Ip: '10.5.204.151' }],
  ['ovn-eips', 'eip-dnat', { externalSubnet: 'external204', v4Ip: '10.5.204.152' }],
  ['ovn-fips', 'fip-pod', { ovnEip: 'eip-static', ipName: 'fip-vpc1-1.vpc1', type: 'distributed' }],
  ['ovn-snat-rules', 'snat-subnet', { ovnEip: 'eip-snat', vpcSubnet: 'vpc1-subnet1' }],
  [
    'ovn-dnat-rules',
    'dnat-vip',
    { ovnEip: 'eip-dnat', ipType: 'vip', ipName: 'vip1', protocol: 'tcp', internalPort: '22', externalPort: '22' },
  ],
];
const ORDERS = 12;

/** The same orders each time. */
function shuffled(seed: number): readonly (readonly [ResourceName, string, object])[] {
  let state = seed * 2_654_435_761 + 1;
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  return OBJECTS.map((one) => [next(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function put(bench: RuleBench, [resource, name, spec]: (typeof OBJECTS)[number]): void {
  const at = name.indexOf('/');
  if (at === -1) bench.put(resource, { metadata: { name }, spec });
  else
    bench.put(resource, {
      metadata: { name: name.slice(at + 1), namespace: name.slice(0, at), annotations: SHOP },
      spec: { nodeName: 'n1', containers: [] },
    });
}

function made(): PodScene {
  const scene = new PodScene();
  scene.namespace('vpc1');
  for (const name of ['gw1', 'gw2'])
    scene.bench.put('nodes', {
      metadata: {
        name,
        labels: { 'ovn.kubernetes.io/external-gw': 'true' },
        annotations: { 'ovn.kubernetes.io/chassis': `chassis-${name}` },
      },
      spec: {},
      status: { addresses: [] },
    });
  scene.bench.converge();
  return scene;
}

/** What is in OVN of it, without uids. */
function rowsOf(bench: RuleBench): string {
  const uids = /"kiln.io\/uid":"[^"]*",?/g;
  const tables = [
    'NAT',
    'Logical_Router_Port',
    'Logical_Switch_Port',
    'Logical_Router_Static_Route',
    'Logical_Router_Policy',
    'Gateway_Chassis',
  ];
  const rows = tables.flatMap((table) => bench.rows(table).map((row) => `${table} ${JSON.stringify(row)}`));
  const balancers = bench.rows('Load_Balancer').map((row) => JSON.stringify(row));
  return [...rows, ...balancers]
    .map((text) => text.replaceAll(uids, '').replaceAll(/"[^"]*mac[^"]*":"[^"]*",?|([0-9a-f]{2}:){5}[0-9a-f]{2}/g, ''))
    .toSorted()
    .join('\n');
}

test(`created in ${ORDERS} orders they end the same, each rule ready; deleted in as many nothing remains`, () => {
  const reference = made();
  for (const one of OBJECTS) put(reference.bench, one);
  reference.bench.converge();
  const [want, before] = [rowsOf(reference.bench), rowsOf(made().bench)];
  assert.match(want, /10\.5\.204\.150/);
  for (let seed = 1; seed <= ORDERS; seed++) {
    const { bench } = made();
    const order = shuffled(seed);
    const text = order.map(([, name]) => name).join(', ');
    for (const [at, one] of order.entries()) {
      put(bench, one);
      if (seed % 3 === 0 || (seed % 3 === 1 && at % 2 === 0)) bench.converge();
      else bench.step();
    }
    bench.converge();
    for (const [resource, name] of OBJECTS.filter(([kind]) => kind.startsWith('ovn-')))
      assert.equal(bench.object(resource, name)?.status?.['ready'], true, `${name} after ${text}`);
    assert.equal(rowsOf(bench), want, text);
    const back = shuffled(seed + 1_000);
    for (const [at, [resource, name]] of back.entries()) {
      bench.delete(resource, name);
      if (seed % 2 === 0) bench.converge();
      else if (at % 3 === 0) bench.step();
    }
    bench.converge();
    const left = OBJECTS.filter(([resource, name]) => bench.object(resource, name) !== undefined).map(([, name]) => name);
    assert.deepEqual([left, bench.keys('ovn-eips')], [[], []], `created as ${text}; deleted as ${back.map(([, name]) => name).join(', ')}`);
    assert.equal(rowsOf(bench), before);
  }
});
