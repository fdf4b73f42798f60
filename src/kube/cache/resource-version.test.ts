import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { compareVersions, isAfter, isAtMost } from './resource-version.ts';

it('orders decimal versions as integers of any size', () => {
  const big = fc.bigInt({ min: 0n, max: 2n ** 70n });
  fc.assert(
    fc.property(big, big, (a, b) => {
      assert.equal(Math.sign(compareVersions(String(a), String(b)) ?? NaN), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
  assert.equal(compareVersions('0010', '10'), 0);
});

it('gives no order to anything else', () => {
  assert.equal(compareVersions('a', '1'), undefined);
  assert.equal(compareVersions('', '1'), undefined);
  assert.equal(isAfter('x', '1'), false);
  assert.equal(isAtMost('x', '1'), false);
  assert.equal(compareVersions('x', 'x'), 0);
});
