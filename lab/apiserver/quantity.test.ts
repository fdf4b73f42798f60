import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatQuantity, parseQuantity } from './quantity.ts';

test('quantities are printed as an API server prints them', () => {
  const shown: readonly (readonly [given: string, printed: string])[] = [
    ['0', '0'],
    ['500m', '500m'],
    ['0.5', '500m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1024Mi', '1Gi'],
    ['1536Mi', '1536Mi'],
    ['1000Ki', '1000Ki'],
    ['0.5Gi', '512Mi'],
    ['512Ki', '512Ki'],
    ['0.5Ki', '512'],
    ['2e3', '2e3'],
    ['12e0', '12'],
    ['1000000', '1M'],
    ['1M', '1M'],
    ['.5', '500m'],
    ['+3', '3'],
    ['-2k', '-2k'],
  ];
  for (const [given, printed] of shown) {
    const quantity = parseQuantity(given);
    assert.ok(quantity, given);
    assert.equal(formatQuantity(quantity), printed, given);
  }
  for (const none of ['', 'm', '1 Gi', '1KB', 'x', '1e']) assert.equal(parseQuantity(none), undefined, none);
});
