import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateByAddress } from './rate-by-address.ts';

test('each address has its own bucket, it refills with time, and a charge may make it negative', () => {
  const rate = new RateByAddress({ perSecond: 10, burst: 20 });
  const taken = (address: string, now: number): number => {
    let count = 0;
    while (rate.take(address, 1, now)) count++;
    return count;
  };
  assert.deepEqual([taken('a', 0), taken('a', 0), taken('b', 0)], [20, 0, 20]);
  assert.deepEqual([taken('a', 500), taken('a', 60_000)], [5, 20]);
  rate.charge('a', 30, 60_000);
  assert.equal(rate.take('a', 0, 60_000), false);
  assert.equal(rate.take('a', 0, 62_999), false);
  assert.equal(rate.take('a', 0, 63_001), true);
});

test('the number of remembered addresses is limited', () => {
  const rate = new RateByAddress({ perSecond: 1, burst: 1 });
  assert.ok(rate.take('first', 1, 0));
  assert.ok(!rate.take('first', 1, 0));
  for (let one = 0; one < 10_000; one++) assert.ok(rate.take(`address ${one}`, 1, 0));
  assert.ok(rate.take('first', 1, 0), 'it is forgotten');
});
