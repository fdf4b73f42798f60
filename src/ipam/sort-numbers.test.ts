import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sortNumbers } from './sort-numbers.ts';

test('sorts many and few, small and large, negative ones too', () => {
  const number = fc.oneof(
    fc.nat(0xff),
    fc.integer({ min: 0, max: 0xffff_ffff }),
    fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff),
  );
  const beyond = fc.constantFrom(-1, 2 ** 32, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER);
  const lists = [
    fc.array(number, { maxLength: 50 }),
    fc.array(fc.nat(0xff), { minLength: 1_000, maxLength: 1_200 }),
    fc.array(number, { minLength: 1_000, maxLength: 1_200 }),
    fc.array(fc.oneof(number, beyond), { minLength: 1_000, maxLength: 1_200 }),
  ];
  for (const list of lists) {
    fc.assert(
      fc.property(list, (values) => {
        const sorted = Float64Array.from(values);
        sortNumbers(sorted);
        assert.deepEqual(
          [...sorted],
          values.toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 30 },
    );
  }
});
