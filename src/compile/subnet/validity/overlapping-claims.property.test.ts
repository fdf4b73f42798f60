import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cidrContains, cidrOf } from '../../../net/cidr.ts';
import type { Claim } from './overlapping-claims.ts';
import { yieldingClaims } from './overlapping-claims.ts';

/** Blocks in a small space, so that most of them overlap. */
const claims = fc
  .array(
    fc.record({
      family: fc.constantFrom(4 as const, 6 as const),
      value: fc.bigInt({ min: 0n, max: 31n }),
      short: fc.integer({ min: 0, max: 5 }),
      kind: fc.constantFrom('node' as const, 'inEffect' as const, 'requested' as const, 'requested' as const, 'impossible' as const),
      holder: fc.integer({ min: 0, max: 20 }),
      networks: fc.constantFrom(['a'], ['b'], ['a', 'b'], ['b', 'c']),
      order: fc.integer({ min: 0, max: 1_000 }),
    }),
    { maxLength: 30 },
  )
  .map((drawn) =>
    drawn.map(({ family, value, short, kind, holder, networks, order }, index): Claim => {
      const node = kind === 'node';
      const bits = family === 4 ? 32 : 128;
      const cidr = cidrOf({ family, value }, node ? bits : bits - short) ?? assert.fail('a block of the family');
      return {
        owner: `h${holder}`,
        kind,
        cidr,
        networks: node ? ['a'] : networks,
        rank: `${node ? 0 : 1} ${order + 1_000} ${index + 100}`,
      };
    }),
  );

/** The naive algorithm: compares each claim with all earlier ones. Claims of nodes and of networks in effect have precedence. */
function oneByOne(all: readonly Claim[]): ReadonlyMap<Claim, Claim> {
  const standing: Claim[] = [];
  const found = new Map<Claim, Claim>();
  for (const claim of all.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))) {
    const first = standing.find(
      (other) => other.owner !== claim.owner && other.networks.some((one) => claim.networks.includes(one)) && meet(other, claim),
    );
    if (first !== undefined && claim.kind !== 'node' && claim.kind !== 'inEffect') found.set(claim, first);
    else if (claim.kind !== 'impossible') standing.push(claim);
  }
  return found;
}

function meet({ cidr: a }: Claim, { cidr: b }: Claim): boolean {
  const inA = cidrContains(a, { family: b.family, value: b.base });
  return a.family === b.family && (inA || cidrContains(b, { family: a.family, value: a.base }));
}

test('each claim yields to the first overlapping claim of another holder before it that does not yield itself', () => {
  fc.assert(
    fc.property(claims, (all) => {
      const [found, wanted] = [yieldingClaims(all), oneByOne(all)];
      assert.deepEqual(
        all.map((claim) => found.get(claim)?.owner),
        all.map((claim) => wanted.get(claim)?.owner),
      );
    }),
    { numRuns: 500 },
  );
});
