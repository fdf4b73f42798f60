import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenRules, celFindings } from './cel-rules.ts';
import type { SchemaNode } from '../schema/schema.ts';
import { vpcEgressGatewayKind } from '../kinds/vpc-egress-gateway.ts';

test('a finding names object, field, value and rule', () => {
  const subject = { kind: 'VpcEgressGateway', namespace: 'n', name: 'g' };
  const spec = { replicas: 2, externalSubnet: 's', internalIPs: ['10.0.0.1'], policies: [{ snat: true }], prefix: 'b' };
  assert.deepEqual(
    celFindings(vpcEgressGatewayKind, subject, spec, { prefix: 'a' }).map(({ code, message }) => [code, message]),
    [
      [
        'Invalid',
        'VpcEgressGateway n/g: spec.internalIPs "["10.0.0.1"]" is not allowed; internalIPs needs an address for each replica, or none at all',
      ],
      ['Invalid', 'VpcEgressGateway n/g: spec.policies[0] "{"snat":true}" is not allowed; a policy needs ipBlocks or subnets'],
      ['Immutable', 'VpcEgressGateway n/g: spec.prefix "b" is not allowed; prefix cannot change: the workload is found by it'],
    ],
  );
  assert.deepEqual(celFindings(vpcEgressGatewayKind, subject, { ...spec, internalIPs: [], policies: [{ subnets: ['s'] }] }), []);
});

test('the old value of an element is the one with its keys', () => {
  const name: SchemaNode = { type: 'string' };
  const value: SchemaNode = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed' }] };
  const items: SchemaNode = { type: 'object', properties: { name, value } };
  const paths = (node: SchemaNode): string[] => {
    const old = [
      { name: 'a', value: '1' },
      { name: 'b', value: '2' },
    ] as const;
    const now = [
      { name: 'b', value: '2' },
      { name: 'a', value: '3' },
      { name: 'c', value: '4' },
    ] as const;
    return brokenRules(node, now, old, 'spec').map(({ path }) => path);
  };
  const keyed = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] } as const;
  assert.deepEqual(paths(keyed), ['spec[1].value']);
  assert.deepEqual(paths({ type: 'array', items }), [], 'without keys there is no old value');
});

test('a rule that cannot be evaluated for a value is broken, one that cannot be parsed is skipped', () => {
  const rule = (text: string): SchemaNode => ({ type: 'object', 'x-kubernetes-validations': [{ rule: text, message: 'm' }] });
  assert.match(brokenRules(rule('self.a > 1'), {}, undefined, '')[0]?.error ?? '', /no such key: a/i);
  assert.deepEqual(brokenRules(rule('self.a.nope()'), {}, undefined, ''), []);
});
