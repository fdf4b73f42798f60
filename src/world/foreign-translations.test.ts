import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualAddress } from './foreign-translations.ts';

test('address and port of a virtual address, in both families and without a port', () => {
  const read = (vip: string): readonly string[] => Object.values(virtualAddress(vip));
  assert.deepEqual(read('172.20.0.5:80'), ['172.20.0.5', '80']);
  assert.deepEqual(read('172.20.0.5'), ['172.20.0.5', '']);
  assert.deepEqual(read('[fd20::5]:80'), ['fd20::5', '80']);
  assert.deepEqual(read('[fd20::5]'), ['fd20::5', '']);
  assert.deepEqual(read('fd20::5'), ['fd20::5', '']);
});
