import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipPoolFindings, ipPoolOverlaps, ipPoolUpdateFindings } from './ip-pool-validation.ts';
import { poolAddresses, PoolRanges } from './pool-ranges.ts';

const subnet = { name: 's', spec: { cidrBlock: '10.1.0.0/16,fd00:1::/64' } };
const pool = (ips: readonly string[], name = 'p', of = 's') => ({ name, spec: { subnet: of, ips } });
const found = (...args: Parameters<typeof ipPoolFindings>): string[] =>
  ipPoolFindings(...args).map(({ code, field }) => `${code} ${field}`);

test('addresses, ranges and networks of the Subnet', () => {
  assert.deepEqual(found(pool(['10.1.0.5', '10.1.0.8..10.1.0.9', '10.1.1.0/24', 'fd00:1::5']), subnet), []);
  assert.deepEqual(found(pool([]), subnet), ['IPPoolIpsInvalid spec.ips']);
  for (const item of ['', 'x', '10.1.0.9..10.1.0.8', '10.1.0.0/33', '10.2.0.1', '10.1.255.0..10.2.0.1', '10.0.0.0/8', 'fd00:2::1'])
    assert.deepEqual(found(pool(['10.1.0.5', item]), subnet), ['IPPoolIpsInvalid spec.ips[1]'], item);
});

test('its Subnet exists', () => {
  assert.deepEqual(found(pool(['10.1.0.5']), undefined), ['IPPoolSubnetMissing spec.subnet']);
});

test('pools of one Subnet are apart', () => {
  const others = new PoolRanges();
  others.add('q', poolAddresses(['10.1.0.20', '10.1.0.6..10.1.0.9', 'fd00:1::/120']));
  others.add('r', poolAddresses(['10.1.0.10..10.1.0.19', '10.1.0.4']));
  const shared = (...ips: readonly string[]): readonly string[] =>
    ipPoolOverlaps(pool(ips), others).map(({ field, message }) => `${field} ${/IPPool (\w+);/.exec(message)?.[1] ?? ''}`);
  assert.deepEqual(shared('10.1.0.5', '10.1.0.9..10.1.0.12'), ['spec.ips[1] q', 'spec.ips[1] r']);
  assert.deepEqual(shared('10.1.0.0/30', '10.1.0.21..10.1.0.255', 'fd00:1::100', 'nonsense'), []);
  assert.deepEqual(shared('10.1.0.0/16', 'fd00:1::ff'), ['spec.ips[0] r', 'spec.ips[0] q', 'spec.ips[1] q']);
});

test('it stays in its Subnet', () => {
  assert.deepEqual(ipPoolUpdateFindings(pool(['10.1.0.5']), pool(['10.1.0.6'])), []);
  assert.deepEqual(
    ipPoolUpdateFindings(pool([]), pool([], 'p', 't')).map(({ code }) => code),
    ['IPPoolSubnetImmutable'],
  );
});
