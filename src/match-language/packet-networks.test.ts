import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packetNetworks } from './packet-networks.ts';

const any = { family: undefined, sources: undefined, destinations: undefined, isWhole: false };

test('returns the networks of source and destination, and whether the match takes all of their packets', () => {
  for (const [text, expected] of [
    ['ip4.src == 10.1.0.0/16', { family: 4, sources: ['10.1.0.0/16'], isWhole: true }],
    ['ip4 && ip4.dst == {10.9.0.5, 10.8.0.0/16}', { family: 4, destinations: ['10.9.0.5', '10.8.0.0/16'], isWhole: true }],
    ['ip6.src == fd00::/64 && ip6.dst==fd01::1', { family: 6, sources: ['fd00::/64'], destinations: ['fd01::1'], isWhole: true }],
    ['ip', { isWhole: true }],
    ['ip4.src == 10.1.0.0/16 && tcp.dst == 80', { family: 4, sources: ['10.1.0.0/16'] }],
    ['ip4.src == $set', { family: 4 }],
    ['ip4.src != 10.1.0.0/16', { family: 4 }],
    ['ip4.src == 10.1.0.0/16 && ip4.src == 10.1.2.0/24', { family: 4, sources: ['10.1.0.0/16'] }],
    ['inport == "x"', {}],
    ['ip4.src == 10.1.0.0/16 || tcp', {}],
    ['!(ip4.src == 10.1.0.0/16)', {}],
    ['ip4.src ==', { family: 4 }],
    ['', {}],
  ] as const)
    assert.deepEqual(packetNetworks(text), { ...any, ...expected }, text);
});
