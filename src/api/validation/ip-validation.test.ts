import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ipFindings, ipUpdateFindings } from './ip-validation.ts';
import type { IPSpec } from '../kinds/ip.ts';

const subnet = { name: 's', spec: { cidrBlock: '10.1.0.0/16,fd00:1::/64' } };
const base: IPSpec = { subnet: 's', podName: 'web', namespace: 'shop' };
const found = (spec: IPSpec, name = 'web.shop', of: typeof subnet | undefined = subnet): string[] =>
  ipFindings({ name, spec }, of).map(({ code, field }) => `${code} ${field}`);

describe('ipFindings', () => {
  test('a valid IP object', () => {
    assert.deepEqual(found(base), []);
    assert.deepEqual(found({ ...base, v4IpAddress: '10.1.0.5', v6IpAddress: 'fd00:1::5', ipAddress: '10.1.0.5,fd00:1::5' }), []);
    assert.deepEqual(found({ ...base, macAddress: '02:00:00:00:00:01', podType: 'StatefulSet' }), []);
  });

  test('its Subnet exists', () => {
    assert.deepEqual(found({ ...base, subnet: '' }), ['IPSubnetMissing spec.subnet']);
    assert.deepEqual(
      ipFindings({ name: 'web.shop', spec: base }, undefined).map(({ code }) => code),
      ['IPSubnetMissing'],
    );
  });

  test('its addresses are addresses of the Subnet', () => {
    assert.deepEqual(found({ ...base, v4IpAddress: '10.2.0.5' }), ['IPAddressInvalid spec.v4IpAddress']);
    assert.deepEqual(found({ ...base, v4IpAddress: 'fd00:1::5' }), ['IPAddressInvalid spec.v4IpAddress']);
    assert.deepEqual(found({ ...base, v6IpAddress: 'x' }), ['IPAddressInvalid spec.v6IpAddress']);
    assert.deepEqual(found({ ...base, v6IpAddress: 'FD00:1::5' }), ['IPAddressInvalid spec.v6IpAddress']);
    assert.deepEqual(found({ ...base, v4IpAddress: '10.1.0.5', ipAddress: '10.1.0.6' }), ['IPAddressInvalid spec.ipAddress']);
    assert.deepEqual(found({ ...base, ipAddress: '10.1.0.6,10.1.0.7' }), ['IPAddressInvalid spec.ipAddress']);
    assert.deepEqual(found({ ...base, v6IpAddress: 'fd00:1::5', ipAddress: 'fd00:1:0::5' }), []);
  });

  test('words and MAC', () => {
    assert.deepEqual(found({ ...base, podType: 'Deployment' }), ['IPPodTypeInvalid spec.podType']);
    assert.deepEqual(found({ ...base, macAddress: '01:00:00:00:00:01' }), ['IPMacInvalid spec.macAddress']);
  });

  test('its name follows from its pod', () => {
    assert.deepEqual(found(base, 'db.shop'), ['IPNameMismatch metadata.name']);
    const attached = { name: 's', spec: { ...subnet.spec, provider: 'net1.default.ovn' } };
    assert.deepEqual(found(base, 'web.shop.net1.default.ovn', attached), []);
    assert.deepEqual(found(base, 'web.shop.net1.default.ovn.eth1', attached), []);
    assert.deepEqual(found(base, 'web.shop', attached), ['IPNameMismatch metadata.name']);
    assert.deepEqual(found({ subnet: 's', podName: 'n1', nodeName: 'n1' }, 'node-n1'), []);
    assert.deepEqual(found({ subnet: 's', podName: 'n1', nodeName: 'n1' }, 'n1'), ['IPNameMismatch metadata.name']);
    const own = 'u2o-interconnection.v1.s';
    assert.deepEqual(found({ subnet: 's', podName: own, namespace: 'default' }, own), []);
  });
});

describe('ipUpdateFindings', () => {
  const change = (before: IPSpec, after: IPSpec): string[] =>
    ipUpdateFindings({ name: 'x', spec: before }, { name: 'x', spec: after }).map(({ field }) => field);

  test('what is set stays', () => {
    assert.deepEqual(change(base, { ...base, v4IpAddress: '10.1.0.5', macAddress: '02:00:00:00:00:01', nodeName: 'n1' }), []);
    for (const field of ['subnet', 'namespace', 'podName', 'podType', 'v4IpAddress', 'v6IpAddress', 'macAddress'] as const)
      assert.deepEqual(change({ ...base, [field]: 'a' }, { ...base, [field]: 'b' }), [`spec.${field}`]);
    assert.deepEqual(change(base, { ...base, subnet: '' }), ['spec.subnet']);
  });

  test('another spelling is no change', () => {
    assert.deepEqual(change({ v6IpAddress: 'fd00::1' }, { v6IpAddress: 'fd00:0::1' }), []);
    assert.deepEqual(change({ macAddress: '02:00:00:00:00:AA' }, { macAddress: '02:00:00:00:00:aa' }), []);
  });
});
