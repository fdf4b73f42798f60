import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairRate } from './fair-rate.ts';

test('a flood uses up its own rate, and the number of dropped calls is reported', () => {
  const rate = new FairRate([2, 1]);
  assert.deepEqual(
    [rate.take('flood', 0), rate.take('flood', 0), rate.take('flood', 0), rate.take('flood', 1)],
    [0, 0, undefined, undefined],
  );
  assert.equal(rate.take('quiet', 1), 0);
  assert.equal(rate.take('flood', 1_001), 2);
  assert.equal(rate.take('flood', 2_002), 0);
});

test('changing names do not make it grow', () => {
  const rate = new FairRate([2, 1]);
  for (let n = 0; n < 20_000; n++) rate.take(`share-${n}`, n);
  assert.ok(rate.size <= 5_000, `${rate.size}`);
});
