/** Random objects for the CEL rules of our definitions: some satisfy and some violate each rule. */
import fc from 'fast-check';
import { dnsNameResolverKind } from '../../src/api/kinds/dns-name-resolver.ts';
import type { Kind } from '../../src/api/schema/kind.ts';
import { vpcEgressGatewayKind } from '../../src/api/kinds/vpc-egress-gateway.ts';

export interface CelCase {
  readonly kind: Kind<unknown, unknown>;
  readonly name: string;
  /** With the defaults that the API server applies before it evaluates the rules. */
  readonly spec: object;
  /** The old object, for transition rules. */
  readonly before?: object;
}

const some = (...items: readonly [string, ...string[]]): fc.Arbitrary<string[]> => fc.subarray([...items]);
const port = fc.integer({ min: 0, max: 3 });
const selector = fc.record(
  { matchLabels: fc.constant({ a: 'b' }), matchExpressions: fc.constant([{ key: 'a', operator: 'Exists' }]) },
  { requiredKeys: [] },
);
const bandwidth = fc.constantFrom(-1, 0, 5, 9_223_372_036_854, 9_223_372_036_855, '5', '100Mi');
const filters = fc.array(
  fc.record({
    original: fc.record({ sourcePorts: fc.array(fc.record({ start: port, end: port }, { requiredKeys: [] }), { maxLength: 2 }) }),
  }),
  { maxLength: 2 },
);

const gateway = fc
  .record(
    {
      internalIPs: some('10.0.0.1', '10.0.0.2', '10.0.0.3'),
      externalIPs: some('10.1.0.1', '10.1.0.2'),
      internalIPPool: fc.constantFrom('', 'pool'),
      externalIPPool: fc.constantFrom('', 'pool'),
      replicas: fc.integer({ min: 0, max: 3 }),
      selectors: fc.array(fc.record({ namespaceSelector: selector, podSelector: selector }, { requiredKeys: [] }), { maxLength: 2 }),
      policies: fc.array(fc.record({ subnets: some('a', 'b'), ipBlocks: some('10.2.0.0/16') }, { requiredKeys: [] }), { maxLength: 2 }),
      bandwidth: fc.record({ egress: bandwidth, ingress: bandwidth }, { requiredKeys: [] }),
      observability: fc.record({ conntrack: fc.record({ log: fc.record({ filters: fc.record({ include: filters }) }) }) }),
    },
    { requiredKeys: [] },
  )
  .map((spec) => ({ externalSubnet: 'ext', replicas: 1, ...spec }));

/** The seed is fixed: every run gets the same gateways. */
export function newGateways(count: number): readonly CelCase[] {
  return fc.sample(gateway, { numRuns: count, seed: 1 }).map((spec, index) => ({ kind: vpcEgressGatewayKind, name: `new-${index}`, spec }));
}

export function changes(): readonly CelCase[] {
  const spec = { externalSubnet: 'ext', replicas: 1, policies: [{ subnets: ['a'] }] };
  const prefixes = [
    [{ prefix: 'a' }, { prefix: 'a' }],
    [{ prefix: 'a' }, { prefix: 'b' }],
    [{ prefix: 'a' }, { prefix: '' }],
    [{ prefix: '' }, { prefix: 'b' }],
    [{ prefix: 'a' }, {}],
    [{}, { prefix: 'b' }],
  ] as const;
  const names = [
    ['www.example.com.', 'www.example.com.'],
    ['www.example.com.', 'other.example.com.'],
  ] as const;
  return [
    ...prefixes.map(([before, after], index) => ({
      ...{ kind: vpcEgressGatewayKind, name: `changed-${index}` },
      ...{ before: { ...spec, ...before }, spec: { ...spec, ...after } },
    })),
    ...names.map(([before, after], index) => ({
      ...{ kind: dnsNameResolverKind, name: `changed-${index}` },
      ...{ before: { name: before }, spec: { name: after } },
    })),
  ];
}
