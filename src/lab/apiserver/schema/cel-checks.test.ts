/** Our own checks of CEL rules against a reading of the rules themselves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CEL_CHECKS, celFindings } from '../../../api/cel/cel-checks.ts';
import { allKinds } from '../../../api/kinds/crds.ts';
import { vpcEgressGatewayKind } from '../../../api/kinds/vpc-egress-gateway.ts';
import type { Json, JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import { compileRule, needsOldValue } from './cel.ts';

function rulesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === 'x-kubernetes-validations' ? (child as { rule: string }[]).map(({ rule }) => rule) : rulesOf(child),
  );
}

test('each rule of each kind has a check of our own, and no check is without a rule', () => {
  const rules = new Set(allKinds.flatMap(({ spec, status }) => [...rulesOf(spec.node), ...rulesOf(status?.node)]));
  assert.deepEqual([...rules].toSorted(byText), Object.keys(CEL_CHECKS).toSorted(byText));
});

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

const value: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>('', 'a', 0, 1, 5, -1, 9_223_372_036_854, 9_223_372_036_855),
  fc.record(
    {
      start: fc.integer({ min: 0, max: 5 }),
      end: fc.integer({ min: 0, max: 5 }),
      subnets: fc.array(fc.constant('s'), { maxLength: 2 }),
      ipBlocks: fc.array(fc.constant('b'), { maxLength: 2 }),
      matchLabels: fc.constant({ a: 'b' }),
      matchExpressions: fc.constant([]),
      internalIPs: fc.array(fc.constant('i'), { maxLength: 3 }),
      externalIPs: fc.array(fc.constant('e'), { maxLength: 3 }),
      internalIPPool: fc.constantFrom('', 'pool'),
      externalIPPool: fc.constantFrom('', 'pool'),
      selectors: fc.array(fc.constant({}), { maxLength: 2 }),
      policies: fc.array(fc.constant({}), { maxLength: 2 }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>,
);

for (const [rule, check] of Object.entries(CEL_CHECKS))
  test(`as the rule says: ${rule}`, () => {
    const read = compileRule(rule);
    let asked = 0;
    fc.assert(
      fc.property(value, value, fc.integer({ min: 0, max: 3 }), (made, old, replicas) => {
        const self: Json = isObject(made) ? { ...made, replicas } : made;
        const before = needsOldValue(rule) ? old : undefined;
        const comparable = typeof self !== 'object' && typeof before !== 'object';
        if (before !== undefined && !comparable) return;
        let wanted: boolean;
        try {
          wanted = read(self, before);
        } catch {
          return; // Not the type that the rule is for.
        }
        asked++;
        assert.equal(check(self, before), wanted, JSON.stringify(self));
      }),
      { numRuns: 500 },
    );
    assert.ok(asked > 100);
  });

test('a finding names object, field, value and rule', () => {
  const subject = { kind: 'VpcEgressGateway', namespace: 'n', name: 'g' };
  const spec = { replicas: 2, externalSubnet: 's', internalIPs: ['10.0.0.1'], policies: [{ snat: true }], prefix: 'b' };
  assert.deepEqual(
    celFindings(vpcEgressGatewayKind, subject, spec, { prefix: 'a' }).map(({ message }) => message),
    [
      'VpcEgressGateway n/g: spec.internalIPs "["10.0.0.1"]" is not allowed; internalIPs needs an address for each replica, or none at all',
      'VpcEgressGateway n/g: spec.policies[0] "{"snat":true}" is not allowed; a policy needs ipBlocks or subnets',
      'VpcEgressGateway n/g: spec.prefix "b" is not allowed; prefix cannot change: the workload is found by it',
    ],
  );
});
