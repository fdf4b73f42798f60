/** Subnets of every size, from two addresses up, and changes while addresses are in use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress, stepAddress } from '../../net/address.ts';
import { cidrRange } from '../../net/range.ts';
import { parseCidr } from '../../net/cidr.ts';
import type { TestObject } from '../../testing/memory-objects.ts';
import { PodScene } from '../../testing/pod-scene.ts';

const IN_NET = { 'ovn.kubernetes.io/logical_switch': 'net' };

function status(scene: PodScene): NonNullable<TestObject['status']> {
  return scene.bench.object('subnets', 'net')?.status ?? assert.fail('no status');
}

/** Each prefix length: the usable addresses follow from it. */
const SIZES: readonly string[] = [
  ...Array.from({ length: 24 }, (_, i) => `10.0.0.0/${i + 8}`),
  ...[64, 65, 96, 112, 120, 125, 126, 127].map((prefix) => `fd10::/${prefix}`),
];

for (const cidrBlock of SIZES) {
  test(`${cidrBlock}: the first address after the gateway and the last one are allocated, counts are exact`, () => {
    const scene = new PodScene({ defaultCidr: '172.30.0.0/16', joinCidr: '172.31.0.0/16' });
    scene.subnet('net', { cidrBlock, vpc: 'sizes' });
    scene.bench.put('vpcs', { metadata: { name: 'sizes' }, spec: {} });
    scene.bench.converge();
    const cidr = parseCidr(cidrBlock) ?? assert.fail();
    const { family } = cidr;
    const field = family === 4 ? 'v4' : 'v6';
    const { first, last } = cidrRange(cidr);
    const [low, high] = last - first < 2n ? [first, last] : [first + 1n, last - 1n];
    const text = (value: bigint): string => formatAddress({ family, value });
    const usable = high - low;
    assert.equal(scene.bench.object('subnets', 'net')?.spec['gateway'], text(low));
    assert.equal(status(scene)[`${field}availableIPs`], usable);
    scene.pod('first', { annotations: IN_NET });
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/first'), text(low + 1n));
    if (usable === 1n) {
      assert.deepEqual([status(scene)[`${field}availableIPs`], status(scene)[`${field}availableIPrange`]], [0n, '']);
      return;
    }
    scene.pod('last', { annotations: { ...IN_NET, 'ovn.kubernetes.io/ip_address': text(high) } });
    scene.pod('gateway', { annotations: { ...IN_NET, 'ovn.kubernetes.io/ip_address': text(low) } });
    scene.bench.converge();
    const expected = [...new Set([text(low + 1n), text(high)])];
    assert.equal(status(scene)[`${field}usingIPs`], BigInt(expected.length));
    assert.equal(status(scene)[`${field}availableIPs`], usable - BigInt(expected.length));
    assert.match(scene.bench.condition('pods', 'shop/gateway', 'kiln.io/NetworkBound')?.message ?? '', /is the gateway of Subnet "net"/);
  });
}

test('excluded ranges that change while their addresses are in use: no pod moves, counts follow, no new address is allocated from them', () => {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.9.0.0/28' });
  scene.bench.converge();
  for (const name of ['a', 'b', 'c']) {
    scene.pod(name, { annotations: IN_NET });
    scene.bench.converge();
  }
  assert.equal(status(scene)['v4usingIPrange'], '10.9.0.2-10.9.0.4');
  scene.bench.edit('subnets', 'net', { excludeIps: ['10.9.0.3..10.9.0.6', '10.9.0.5..10.9.0.8', '10.9.0.12'] });
  scene.bench.converge();
  assert.deepEqual(
    [status(scene)['v4usingIPs'], status(scene)['v4usingIPrange'], status(scene)['v4availableIPrange']],
    [1n, '10.9.0.2', '10.9.0.9-10.9.0.11,10.9.0.13-10.9.0.14'],
  );
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => scene.addressOf(`shop/${name}`)),
    ['10.9.0.2', '10.9.0.3', '10.9.0.4'],
  );
  scene.pod('d', { annotations: IN_NET });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/d'), '10.9.0.9');
  scene.bench.edit('subnets', 'net', { excludeIps: [] });
  scene.bench.converge();
  assert.equal(status(scene)['v4usingIPrange'], '10.9.0.2-10.9.0.4,10.9.0.9');
  scene.pod('e', { annotations: IN_NET });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/e'), '10.9.0.5');
});

test('a narrowed CIDR waits for Vips and EIPs outside of it as well, and names them', () => {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.9.0.0/24' });
  scene.bench.put('vips', { metadata: { name: 'v' }, spec: { subnet: 'net', v4ip: '10.9.0.200' } });
  scene.bench.put('ovn-eips', { metadata: { name: 'e' }, spec: { externalSubnet: 'net', v4Ip: '10.9.0.201' } });
  scene.bench.converge();
  scene.bench.edit('subnets', 'net', { cidrBlock: '10.9.0.0/25' });
  scene.bench.converge();
  assert.match(scene.bench.condition('subnets', 'net', 'Accepted')?.message ?? '', /OvnEip e, Vip v;/);
  assert.deepEqual(scene.bench.list('Logical_Router_Port', 'ovn-cluster-net', 'networks'), ['10.9.0.1/24']);
  for (const [kind, name] of [
    ['vips', 'v'],
    ['ovn-eips', 'e'],
  ] as const)
    scene.bench.delete(kind, name);
  scene.bench.converge();
  assert.deepEqual(scene.bench.list('Logical_Router_Port', 'ovn-cluster-net', 'networks'), ['10.9.0.1/25']);
});

test('every second address of a Subnet requested by name: ranges list each, and agree with the counts', () => {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.9.0.0/27' });
  scene.bench.converge();
  const base = parseAddress('10.9.0.0') ?? assert.fail();
  const asked = Array.from({ length: 10 }, (_, i) => formatAddress(stepAddress(base, BigInt(2 * i + 3))));
  for (const [i, address] of asked.entries()) scene.pod(`p${i}`, { annotations: { ...IN_NET, 'ovn.kubernetes.io/ip_address': address } });
  scene.bench.converge();
  assert.deepEqual([status(scene)['v4usingIPs'], status(scene)['v4usingIPrange']], [10n, asked.join(',')]);
  assert.equal(status(scene)['v4availableIPs'], 19n);
});
