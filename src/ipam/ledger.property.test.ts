/** The ledger equals the plain oracle after any sequence of operations. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { macFromNumber } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { AllocationRequest } from './allocation.ts';
import type { Holder, HolderKind } from './holder.ts';
import { Pair } from './testing/ledger-pair.ts';
import type { Operation } from './testing/ledger-pair.ts';
import { parseSubnetFields } from './subnet-spec.ts';
import type { SubnetFields, SubnetSpec } from './subnet-spec.ts';

const huge = 'fd00::1..fd00::20:0:0:3';
const macs = [1, 2, 3, 4].map((n) => macFromNumber(0x0a_00_00_00_00_00 + n));

/** Small blocks that become full, adjacent ones to grow and shrink into, and one whose free addresses are beyond 2^53. */
const cidrs: [string, string][] = [
  ['10.0.0.0/29', '10.0.0.1'],
  ['10.0.0.0/28', '10.0.0.1'],
  ['10.0.0.8/29', '10.0.0.9'],
  ['10.0.0.4/31', ''],
  ['10.0.0.5/32', ''],
  ['fd00::/125', 'fd00::1'],
  ['fd00::/64', 'fd00::1'],
  ['fd00::/127', ''],
  ['10.0.0.0/29,fd00::/125', '10.0.0.1,fd00::1'],
  ['10.0.0.0/28,fd00::/64', '10.0.0.14,fd00::1'],
  ['fd00::8/125,10.0.0.8/29', 'fd00::9,10.0.0.6'],
  ['', ''],
];
const excludes = [
  [],
  ['10.0.0.3'],
  ['10.0.0.2..10.0.0.4', '10.0.0.4..10.0.0.6', 'fd00::2'],
  [huge],
  ['10.0.0.0..10.0.0.255', 'fd00::4..fd00::ffff'],
  ['192.168.0.1', 'fd00::'],
];
const pools = [
  [],
  [{ name: 'p', ips: ['10.0.0.2', '10.0.0.5..10.0.0.6', 'fd00::3', 'fd00::20:0:0:6..fd00::20:0:0:7'] }],
  [
    { name: 'p', ips: ['10.0.0.4/30'] },
    { name: 'q', ips: ['10.0.0.10', 'fd00::2..fd00::5'] },
  ],
  [
    { name: 'q', ips: ['10.0.0.2..10.0.0.3'] },
    { name: 'p', ips: ['10.0.0.3', 'fd00::6..fd00::7'] },
  ],
];
const spec = fc
  .record({
    cidr: fc.constantFrom(...cidrs),
    excludeIps: fc.constantFrom(...excludes),
    pools: fc.constantFrom(...pools),
    gatewayMacs: fc.constantFrom<Mac[]>([], macs.slice(3)),
  })
  .map(({ cidr: [cidrBlock, gateway], ...rest }) => specOf({ cidrBlock, gateway, ...rest }));

const address = fc.oneof(
  fc.nat(16).map((n) => addressOf(`10.0.0.${n}`)),
  fc.nat(9).map((n) => addressOf(`fd00::${n}`)),
  fc.nat(9).map((n) => addressOf(`fd00::20:0:0:${n}`)),
  fc.constantFrom(addressOf('fd00::ffff:ffff:ffff:fffe'), addressOf('fd00::ffff:ffff:ffff:ffff')),
);
const holder = fc
  .record({
    kind: fc.constantFrom<HolderKind>('pod', 'ip', 'reservation', 'foreign-port', 'node-address'),
    n: fc.nat(7),
    claimant: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    sharingGroup: fc.constantFrom(undefined, undefined, 'vip', 'vm'),
  })
  .map(({ kind, n, claimant, sharingGroup }): Holder => ({
    kind,
    key: `k${n}`,
    claimant,
    rank: n,
    ...(sharingGroup === undefined ? {} : { sharingGroup }),
  }));
const freshHolder = fc.nat(30).map((n): Holder => ({ kind: 'reservation', key: `r${n}`, claimant: `r${n}` }));
const subnet = fc.constantFrom('s', 's', 's', 't');
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });

const request = fc
  .record({
    holder: fc.oneof(holder, freshHolder, freshHolder),
    families: fc.option(fc.constantFrom('IPv4' as const, 'IPv6' as const, 'Dual' as const), { nil: undefined, freq: 3 }),
    named: fc.option(fc.array(address, { maxLength: 2 }), { nil: [], freq: 2 }),
    pools: fc.constantFrom(undefined, undefined, ['p'], ['q', ''], ['', 'p']),
    skip: fc.option(fc.array(address, { maxLength: 3 }), { nil: undefined, freq: 4 }),
    mac: fc.option(fc.constantFrom(...macs), { nil: undefined, freq: 4 }),
    generate: fc.boolean(),
  })
  .map(({ holder, families, named, pools: from, skip, mac, generate }): AllocationRequest => {
    const v4 = named.find(({ family }) => family === 4);
    const v6 = named.find(({ family }) => family === 6);
    return {
      holder,
      static: { ...(v4 && { v4 }), ...(v6 && { v6 }) },
      ...(families && { families }),
      ...(from && { pools: from }),
      ...(skip && { skip }),
      ...(mac && { mac }),
      ...(generate && { generateMac: (attempt: number) => macFromNumber(0x0a_00_00_00_00_01 + attempt) }),
    };
  });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ op: fc.constant('upsert' as const), subnet, spec }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove' as const), subnet }) },
  {
    weight: 16,
    arbitrary: fc.record({
      op: fc.constant('hold' as const),
      subnet,
      holder,
      addresses: fc.array(address, { maxLength: 3 }),
      mac: optional(fc.constantFrom(...macs)),
    }),
  },
  {
    weight: 24,
    arbitrary: fc.record({ op: fc.constant('release' as const), subnet: optional(subnet), holder: fc.oneof(holder, freshHolder) }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('leave' as const), subnet, holder: fc.oneof(holder, freshHolder) }) },
  { weight: 40, arbitrary: fc.record({ op: fc.constant('allocate' as const), subnet, request }) },
);

/** One small Subnet that is full most of the time: only the order of freed addresses matters. */
const churn: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc
      .record({
        cidrBlock: fc.constantFrom('10.0.0.0/28', '10.0.0.8/29'),
        excludeIps: fc.constantFrom([], ['10.0.0.3']),
        named: fc.constantFrom([], [{ name: 'p', ips: ['10.0.0.2', '10.0.0.10'] }]),
      })
      .map(({ named, ...rest }): Operation => ({
        op: 'upsert',
        subnet: 's',
        spec: specOf({ ...rest, gateway: '10.0.0.9', pools: named }),
      })),
  },
  { weight: 10, arbitrary: freshHolder.map((holder): Operation => ({ op: 'release', subnet: 's', holder })) },
  {
    weight: 12,
    arbitrary: freshHolder.map((holder): Operation => ({ op: 'allocate', subnet: 's', request: { holder, pools: ['', 'p'] } })),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(freshHolder, fc.integer({ min: 2, max: 14 }))
      .map(([holder, n]): Operation => ({ op: 'allocate', subnet: 's', request: { holder, static: { v4: addressOf(`10.0.0.${n}`) } } })),
  },
);

test('equal to the oracle after each operation', () => {
  fc.assert(
    fc.property(
      spec,
      spec,
      fc.array(operation, { maxLength: 40, size: 'max' }),
      fc.constantFrom(2, 1_000),
      (first, second, operations, remember) => {
        const pair = new Pair(remember);
        pair.perform({ op: 'upsert', subnet: 's', spec: first });
        pair.perform({ op: 'upsert', subnet: 't', spec: second });
        for (const each of operations) {
          pair.performWatched(each);
          pair.compare();
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('freed addresses come back in the order of the oracle', () => {
  fc.assert(
    fc.property(fc.array(churn, { minLength: 50, maxLength: 400, size: 'max' }), fc.constantFrom(3, 1_000), (operations, remember) => {
      const pair = new Pair(remember);
      pair.perform({ op: 'upsert', subnet: 's', spec: specOf({ cidrBlock: '10.0.0.0/28', gateway: '10.0.0.1', excludeIps: [] }) });
      for (const each of operations) pair.perform(each);
      pair.compare();
    }),
    { numRuns: 100 },
  );
});

test('equal to the oracle through 10,000 operations', () => {
  const seed = Math.trunc(Math.random() * 0x7fff_ffff);
  const pair = new Pair(1_000);
  pair.perform({
    op: 'upsert',
    subnet: 's',
    spec: specOf({ cidrBlock: '10.0.0.0/28,fd00::/125', gateway: '10.0.0.1,fd00::1', excludeIps: [] }),
  });
  for (const [index, each] of fc.sample(operation, { numRuns: 10_000, seed }).entries()) {
    try {
      pair.perform(each);
      if (index % 50 === 0 || index === 9_999) pair.compare();
    } catch (cause) {
      throw new Error(`differs at operation ${index} of seed ${seed}`, { cause });
    }
  }
});

function specOf(fields: SubnetFields): SubnetSpec {
  const parsed = parseSubnetFields(fields);
  assert.ok(parsed.ok);
  return parsed.spec;
}

function addressOf(text: string): Address {
  const parsed = parseAddress(text);
  assert.ok(parsed);
  return parsed;
}
