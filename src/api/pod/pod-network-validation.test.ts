import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readable, vipNames } from './annotation-limits.ts';
import { podNetworkFindings } from './pod-network-validation.ts';

const found = (annotations: Readonly<Record<string, string>>): string[] =>
  podNetworkFindings({ kind: 'Pod', namespace: 'shop', name: 'web' }, annotations).map(({ code }) => code);
const ovn = (suffix: string, value: string, more: Readonly<Record<string, string>> = {}): string[] =>
  found({ [`ovn.kubernetes.io/${suffix}`]: value, ...more });

describe('podNetworkFindings', () => {
  test('a pod without requests', () => assert.deepEqual(found({}), []));

  test('what the controller writes back is valid', () => {
    assert.deepEqual(
      found({
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/ip_address': '10.1.0.5,fd00::5',
        'ovn.kubernetes.io/mac_address': '02:00:00:00:00:01',
        'ovn.kubernetes.io/cidr': '10.1.0.0/16,fd00::/64',
        'net1.default.ovn.kubernetes.io/ip_address': '',
        'net1.default.ovn.kubernetes.io/cidr': '',
      }),
      [],
    );
  });

  test('family', () => {
    assert.deepEqual(ovn('ip_family', 'ipv4'), []);
    assert.deepEqual(ovn('ip_family', 'IPv4'), ['PodIpFamilyInvalid']);
    assert.deepEqual(ovn('ip_family', 'ipv4', { 'ovn.kubernetes.io/ip_address': 'fd00::1' }), ['PodIpFamilyInvalid']);
    assert.deepEqual(ovn('ip_family', 'ipv6', { 'ovn.kubernetes.io/ip_address': 'fd00::1' }), []);
  });

  test('address', () => {
    assert.deepEqual(ovn('ip_address', '10.1.0.5/16'), []);
    assert.deepEqual(ovn('ip_address', '10.1.0.256'), ['PodIpAddressInvalid']);
    assert.deepEqual(ovn('ip_address', '10.1.0.5,10.1.0.6'), ['PodIpAddressInvalid']);
    assert.deepEqual(ovn('ip_address', '10.2.0.5', { 'ovn.kubernetes.io/cidr': '10.1.0.0/16' }), ['PodIpAddressInvalid']);
    assert.deepEqual(ovn('ip_address', 'fd00::1', { 'ovn.kubernetes.io/cidr': '10.1.0.0/16' }), ['PodIpAddressInvalid']);
  });

  test('every provider is checked', () => {
    assert.deepEqual(found({ 'net1.default.ovn.kubernetes.io/ip_address': 'x' }), ['PodIpAddressInvalid']);
    assert.deepEqual(found({ 'net1.default.kubernetes.io/ip_address.eth1': 'x' }), ['PodIpAddressInvalid']);
    assert.deepEqual(found({ 'net1.default.ovn.kubernetes.io/ingress_rate': '-1' }), ['PodRateInvalid']);
    assert.deepEqual(found({ 'net1.default.kubernetes.io/mac_address': 'x' }), ['PodMacAddressInvalid']);
  });

  test('keys of others are left alone', () => {
    assert.deepEqual(
      found({ 'kubernetes.io/ingress_rate': 'x', 'service.kubernetes.io/ip_address': 'x', 'ovn.kubernetes.io/constructor': 'x' }),
      [],
    );
  });

  test('MAC', () => {
    assert.deepEqual(ovn('mac_address', '02-00-00-00-00-01'), []);
    assert.deepEqual(ovn('mac_address', '02:00:00:00:00'), ['PodMacAddressInvalid']);
  });

  test('pool', () => {
    assert.deepEqual(ovn('ip_pool', 'my-pool'), []);
    assert.deepEqual(ovn('ip_pool', '10.1.0.5, 10.1.0.6'), []);
    for (const neither of ['10.1.0.5..10.1.0.9', '10.1.0.0/28', 'My_Pool'])
      assert.deepEqual(ovn('ip_pool', neither), ['PodIpPoolInvalid'], neither);
    assert.deepEqual(ovn('ip_pool', '10.1.0.5,fd00::5;10.1.0.6,fd00::6'), []);
    assert.deepEqual(ovn('ip_pool', 'my-pool,other'), ['PodIpPoolInvalid', 'PodIpPoolInvalid']);
    assert.deepEqual(ovn('ip_pool', '10.1.0.5', { 'ovn.kubernetes.io/cidr': '10.2.0.0/16' }), ['PodIpPoolInvalid']);
    assert.deepEqual(ovn('ip_pool', '10.1.0.5,10.2.0.5', { 'ovn.kubernetes.io/cidr': '10.2.0.0/16' }), []);
  });

  test('rates', () => {
    for (const suffix of ['ingress_rate', 'egress_rate', 'ingress_burst', 'egress_burst']) {
      assert.deepEqual(ovn(suffix, '0'), []);
      assert.deepEqual(ovn(suffix, '100'), []);
      for (const value of ['-1', '1.5', 'fast', '', '99999999999']) assert.deepEqual(ovn(suffix, value), ['PodRateInvalid'], value);
    }
  });

  test('the sentence names pod and key', () => {
    const [finding] = podNetworkFindings({ kind: 'Pod', namespace: 'shop', name: 'web' }, { 'ovn.kubernetes.io/ip_address': 'x' });
    assert.equal(
      finding?.message,
      'Pod shop/web: metadata.annotations[ovn.kubernetes.io/ip_address] "x" is not an IP address; it is one address, or one of each family with a comma',
    );
  });
});

test('of a list that is too long no item is checked: it has one finding, however many of its items are wrong', () => {
  const subject = { kind: 'Pod', namespace: 'shop', name: 'web' };
  for (const [suffix, value] of [
    ['port_vips', 'x,'.repeat(12_000)],
    ['security_groups', '_,'.repeat(12_000)],
    ['ip_address', 'x,'.repeat(12_000)],
    ['ip_pool', 'x;'.repeat(12_000)],
    ['routes', JSON.stringify(Array.from({ length: 12_000 }, () => 0))],
    ['dhcp-v4-options', 'x,'.repeat(12_000)],
    ['aaps', 'x,'.repeat(12_000)],
    ['ingress_rate', '9'.repeat(70_000)],
  ] as const) {
    const findings = podNetworkFindings(subject, { [`ovn.kubernetes.io/${suffix}`]: value });
    assert.equal(findings.length, 1, suffix);
    assert.match(findings[0]?.message ?? '', /; (it|an annotation that Kiln reads) has at most \d+ /);
  }
});

test('a list with a limit is read up to the limit, and a longer one not at all', () => {
  const within = Array.from({ length: 64 }, (_, i) => `10.0.0.${i}`).join(',');
  assert.equal(readable('port_vips', within), within);
  assert.equal(readable('port_vips', `${within},10.0.0.99`), '');
  assert.equal(vipNames('v,'.repeat(31)).length, 32);
  assert.deepEqual(vipNames('v,'.repeat(32)), []);
});
