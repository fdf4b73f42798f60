import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networksInMatch } from './networks-in-match.ts';

test('returns addresses with a prefix, each once, and none in quotation marks, in comments, or with another mask', () => {
  assert.deepEqual(
    networksInMatch('ip4.src == {10.0.0.5/24, 10.1.0.0/16} && ip4.dst != 10.0.0.5/24 || ip6.src == fd00::1/64 && tcp.dst == 80'),
    ['10.0.0.5/24', '10.1.0.0/16', 'fd00::1/64'],
  );
  assert.deepEqual(networksInMatch('inport == "10.0.0.5/24" && ip4.src == 10.0.0.5/255.255.0.255 /* 10.0.0.5/24 */'), []);
});
