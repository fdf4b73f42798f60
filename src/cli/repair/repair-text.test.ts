import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { stepLines } from './repair-text.ts';

test('counts of a Subnet, which may be beyond the safe integers, are shown as they are', () => {
  const world = new World(DEFAULT_SETTINGS);
  const write = { resource: 'subnets', namespace: '', name: 'net', verb: 'patch', subresource: 'status', style: 'merge' } as const;
  const patch = { status: { v4availableIPs: 7n, v6availableIPs: 2n ** 64n, v4usingIPs: 3, v4usingIPrange: '' } };
  assert.deepEqual(stepLines({ rows: [], objects: [{ ...write, events: [], uid: '', patch }] }, world), [
    'change   Subnet net: status.v4availableIPs none -> 7; status.v6availableIPs none -> 18446744073709551616; status.v4usingIPs none -> 3; status.v4usingIPrange none -> none',
  ]);
});
