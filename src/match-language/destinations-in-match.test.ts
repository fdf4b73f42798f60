import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destinationsInMatch } from './destinations-in-match.ts';

test('returns the addresses that the destination is compared with', () => {
  for (const [text, expected] of [
    ['ip4.dst == 10.9.0.0/16', ['10.9.0.0/16']],
    ['ip4.src == 10.1.0.0/16 && ip4.dst == {10.9.0.5, 10.8.0.0/16} && tcp.dst == 80', ['10.9.0.5', '10.8.0.0/16']],
    ['(ip6.dst == fd00::/64) && ip6.src != fd01::1', ['fd00::/64']],
  ] as const)
    assert.deepEqual(destinationsInMatch(text), expected);
});

test('returns nothing for a match that may concern any destination', () => {
  for (const text of [
    'ip4',
    'ip4.src == 10.1.0.0/16',
    'ip4.dst != 10.9.0.0/16',
    '!(ip4.dst == 10.9.0.0/16)',
    'ip4.dst == 10.9.0.0/16 || tcp',
    'ip4.dst == $set',
    'ip4.dst == {10.9.0.5, $set}',
    'tcp.dst == 80',
  ])
    assert.equal(destinationsInMatch(text), undefined, text);
});
