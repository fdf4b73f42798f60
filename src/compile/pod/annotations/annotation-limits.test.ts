/** Every list that a tenant writes on a pod has a limit, in both tenancies: a longer list is invalid as a whole, and is in no row. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podNetworkFindings } from '../../../api/pod/pod-network-validation.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';
const KEY = 'ovn.kubernetes.io';
const NETWORKS = 'k8s.v1.cni.cncf.io/networks';

const many = (count: number, item: (i: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(separator);
const address = (i: number): string => `10.16.${100 + Math.floor(i / 200)}.${(i % 200) + 10}`;
const route = (i: number): object => ({ dst: `10.99.${i % 250}.0/24`, gw: '10.16.0.1' });
const routes = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, i) => route(i)));
const option = (length: number): string => `lease_time=60,domain_name="${'a'.repeat(length - 'lease_time=60,domain_name=""'.length)}"`;

/** The annotation, the longest valid value, one that is too long, and the message of the limit. */
const LIMITS: readonly (readonly [key: string, most: string, over: string, pattern: RegExp])[] = [
  [`${KEY}/port_vips`, many(64, address), many(65, address), /has 65 items; it has at most 64 addresses/],
  [`${KEY}/security_groups`, many(32, (i) => `g${i}`), many(33, (i) => `g${i}`), /has 33 items; it has at most 32 names of SecurityGroups/],
  [`${KEY}/ip_pool`, many(256, address), many(257, address), /has 257 items; it has at most 256 addresses, or names an IPPool/],
  [`${KEY}/ip_pool`, many(256, address, ';'), many(257, address, ';'), /has 257 items; it has at most 256 addresses/],
  [`${KEY}/routes`, routes(256), routes(257), /has 257 items; it has at most 256 routes/],
  [`${KEY}/dhcp-v4-options`, option(4096), option(4097), /has 4097 characters; it has at most 4096 characters of DHCP options/],
  [NETWORKS, many(32, (i) => `n${i}`), many(33, (i) => `n${i}`), /asks for 33 interfaces; the annotations of a pod attach at most 32/],
  [
    NETWORKS,
    JSON.stringify(Array.from({ length: 32 }, (_, i) => ({ name: `n${i}` }))),
    JSON.stringify(Array.from({ length: 33 }, (_, i) => ({ name: `n${i}` }))),
    /asks for 33 interfaces; the annotations of a pod attach at most 32/,
  ],
  [`${KEY}/aaps`, many(32, (i) => `v${i}`), many(33, (i) => `v${i}`), /has 33 items; it has at most 32 names of Vips/],
];

function scene(tenancy: 'open' | 'namespaced'): PodScene {
  const made = new PodScene({ tenancy });
  for (let i = 0; i < 33; i += 1) {
    made.attachment(`shop/n${i}`, 'ipam-only');
    made.subnet(`n${i}`, { cidrBlock: `10.${100 + i}.0.0/24`, provider: `n${i}.shop` });
    made.bench.put('vips', {
      metadata: { name: `v${i}` },
      spec: { subnet: 'ovn-default', v4ip: `10.16.200.${i + 10}`, namespace: 'shop' },
    });
  }
  made.bench.converge();
  return made;
}

for (const tenancy of ['open', 'namespaced'] as const)
  for (const [key, most, over, pattern] of LIMITS) {
    test(`${tenancy}: ${key} ${pattern.source.slice(0, 30)}: values up to the limit are accepted, one more is invalid, and added later it changes no row`, () => {
      const made = scene(tenancy);
      made.pod('full', { annotations: { [key]: most } });
      made.pod('over', { annotations: { [key]: over } });
      made.pod('runs');
      made.bench.converge();
      assert.match(made.addressOf('shop/full') ?? '', /^10\.16\./, made.bench.condition('pods', 'shop/full', BOUND)?.message);
      const refused = made.bench.condition('pods', 'shop/over', BOUND);
      assert.deepEqual([refused?.status, refused?.reason], ['False', 'InvalidAnnotation'], refused?.message);
      assert.match(refused?.message ?? '', pattern);
      assert.ok((refused?.message?.length ?? 0) < 600, 'the value is not repeated whole');
      assert.equal(made.bench.object('ips', 'over.shop'), undefined);
      const rows = (): readonly unknown[] => [
        made.bench.row('Logical_Switch_Port', 'runs.shop'),
        made.externalIds('Logical_Switch_Port', 'runs.shop'),
        made.bench.rowIds('DHCP_Options'),
        made.bench.rowIds('Address_Set'),
        made.bench.rowIds('Logical_Switch_Port'),
        made.bench.keys('ips'),
      ];
      const before = rows();
      made.pod('runs', { annotations: { ...made.annotations('shop/runs'), [key]: over } });
      made.bench.converge();
      assert.deepEqual(rows(), before);
      assert.match(made.bench.condition('pods', 'shop/runs', BOUND)?.message ?? '', pattern);
      assert.match(made.addressOf('shop/runs') ?? '', /^10\.16\./);
    });
  }

test('the limit of interfaces is for both annotations together', () => {
  const made = scene('open');
  const both = { 'v1.multus-cni.io/default-network': 'n32', [NETWORKS]: many(32, (i) => `n${i}`) };
  made.pod('a', { annotations: both });
  made.bench.converge();
  assert.match(made.bench.condition('pods', 'shop/a', BOUND)?.message ?? '', /asks for 33 interfaces/);
});

test('a pod with the most interfaces allowed keeps them when it requests more, and gets none of these', () => {
  const made = scene('open');
  made.pod('a', { annotations: { [NETWORKS]: many(32, (i) => `n${i}`) } });
  made.bench.converge();
  const ips = made.bench.keys('ips');
  assert.equal(ips.filter((name) => name.startsWith('a.shop.')).length, 32);
  made.pod('a', { annotations: { ...made.annotations('shop/a'), [NETWORKS]: many(33, (i) => `n${i}`) } });
  made.bench.converge();
  assert.deepEqual(made.bench.keys('ips'), ips);
});

test('a value that is too long is invalid whatever it contains, and a value that nothing reads may have any length', () => {
  const made = scene('open');
  made.pod('a', { annotations: { [`${KEY}/port_vips`]: many(12_000, () => 'x') } });
  made.pod('b', { annotations: { [`${KEY}/north_gateway`]: 'x'.repeat(64 * 1024 + 1) } });
  made.pod('c', { annotations: { [`${KEY}/port_security`]: ' '.repeat(64 * 1024 + 1) } });
  made.pod('d', { annotations: { 'example.org/notes': 'x'.repeat(100_000), [`${KEY}/mirror`]: 'x'.repeat(100_000) } });
  made.bench.converge();
  assert.match(made.bench.condition('pods', 'shop/a', BOUND)?.message ?? '', /has 12000 items; it has at most 64 addresses/);
  for (const pod of ['b', 'c'])
    assert.match(made.bench.condition('pods', `shop/${pod}`, BOUND)?.message ?? '', /has 65537 characters; .* at most 65536 characters/);
  assert.match(made.addressOf('shop/d') ?? '', /^10\.16\./);
});

test('of very many interfaces with the annotation allocated, those beyond the limit are neither read nor removed one by one', () => {
  const made = scene('open');
  made.pod('a', { annotations: { [NETWORKS]: 'n0,n1' } });
  made.bench.converge();
  const ips = made.bench.keys('ips');
  const junk = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`a${i}.b.kubernetes.io/allocated`, 'true']));
  const before = made.bench.world.pods.get('shop/a')?.metadata.annotations ?? {};
  made.pod('a', { annotations: { ...junk, ...before } });
  const writes = made.bench.writes;
  made.bench.converge();
  assert.deepEqual(made.bench.keys('ips'), ips);
  assert.equal(made.annotations('shop/a')['n0.shop.kubernetes.io/allocated'], 'true');
  assert.equal(made.annotations('shop/a')['ovn.kubernetes.io/allocated'], 'true');
  assert.ok(made.annotations('shop/a')['a7.b.kubernetes.io/allocated'] !== undefined, 'no patch of thousands of keys');
  assert.ok(made.bench.writes - writes <= 2, 'nothing is written again and again');
  const messages = podNetworkFindings({ kind: 'Pod', namespace: 'shop', name: 'a' }, { ...junk, ...before }).map(({ message }) => message);
  assert.equal(messages.length, 1);
  assert.match(messages[0] ?? '', /is there for 2003 interfaces; at most 64 interfaces of a pod may have it; Kiln ignores it on networks/);
  assert.equal(made.bench.world.pods.bucket('allocated', 'ovn-default').has('shop/a'), true);
  assert.equal(made.bench.world.pods.bucket('allocated', 'provider/a1999.b').size, 0);
});

test('of an attached network a false claim among very many is a request: it is granted if it is free, and taken off else', () => {
  const made = scene('open');
  const junk = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`a${i}.b.kubernetes.io/allocated`, 'true']));
  const claim = { 'n0.shop.kubernetes.io/allocated': 'true', 'n0.shop.kubernetes.io/ip_address': '10.100.0.9' };
  for (const name of ['first', 'second']) {
    made.pod(name, { annotations: { [NETWORKS]: 'n0', ...junk, ...claim } });
    made.bench.converge();
  }
  assert.equal(made.bench.object('ips', 'first.shop.n0.shop')?.spec['ipAddress'], '10.100.0.9');
  assert.equal(made.annotations('shop/first')['n0.shop.kubernetes.io/allocated'], 'true');
  assert.equal(made.bench.object('ips', 'second.shop.n0.shop'), undefined);
  assert.equal(made.annotations('shop/second')['n0.shop.kubernetes.io/allocated'], undefined);
});
