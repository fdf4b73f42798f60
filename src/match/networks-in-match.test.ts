import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networksInMatch } from './networks-in-match.ts';

test('addresses with a prefix, each once; in quotation marks and comments there is none, and a mask is no prefix', () => {
  assert.deepEqual(
    networksInMatch('ip4.src == {10.0.0.5/24, 10.1.0.0/16} && ip4.dst != 10.0.0.5/24 || ip6.src == fd00::1/64 && tcp.dst == 80'),
    ['10.0.0.5/24', '10.1.0.0/16', 'fd00::1/64'],
  );
  assert.deepEqual(networksInMatch('inport == "10.0.0.5/24" && ip4.src == 10.0.0.5/255.255.0.255 /* 10.0.0.5/24 */'), []);
});
