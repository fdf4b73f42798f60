import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countText } from './count-text.ts';

test('a small number is written in digits, a large one as a power of two', () => {
  assert.deepEqual([0, 251n, 65_533, 2n ** 32n - 1n].map(countText), ['0', '251', '65533', '4294967295']);
  for (const large of [2n ** 64n - 2n, 18446744073709552000, 2n ** 64n + 1n]) assert.equal(countText(large), 'about 2^64');
  assert.equal(countText(2n ** 112n - 3n), 'about 2^112');
});
