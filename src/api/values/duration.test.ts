import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from './duration.ts';

test('durations in days, hours, minutes and seconds', () => {
  assert.deepEqual(
    ['24h', '90m', '1h30m', '7d', ' 45s ', '1d2h3m4s'].map(parseDuration),
    [86_400_000, 5_400_000, 5_400_000, 604_800_000, 45_000, 93_784_000],
  );
});

test('what is no duration, is zero or is endless', () => {
  for (const text of ['', '24', 'h', '-1h', '1.5h', '0s', '1w', '24h!', '999999999d', 'forever', '1h'.repeat(9)])
    assert.equal(parseDuration(text), undefined, text);
});
