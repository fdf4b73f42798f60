import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../world/reservations.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { FailedRequests } from './failed-requests.ts';

function failed(claimant: string, code: 'NoAvailableAddress' | 'AddressConflict'): Reservation {
  return { kind: 'failed', claimant, code, message: 'no' };
}

test('failed requests are counted by code when they appear, change their reason, succeed and disappear', () => {
  const { reservations } = new World(DEFAULT_SETTINGS);
  reservations.set('before', failed('before', 'AddressConflict'));
  const { counts } = new FailedRequests(reservations);
  const now = (): readonly number[] => [counts.get('NoAvailableAddress') ?? -1, counts.get('AddressConflict') ?? -1];
  assert.deepEqual(now(), [0, 1]);
  reservations.set('a', failed('a', 'NoAvailableAddress'));
  reservations.set('b', failed('b', 'NoAvailableAddress'));
  assert.deepEqual(now(), [2, 1]);
  reservations.set('b', failed('b', 'AddressConflict'));
  assert.deepEqual(now(), [1, 2]);
  reservations.set('a', { kind: 'granted', claimant: 'a', subnet: 's', v4: '10.0.0.2', v6: '', mac: '' });
  reservations.delete('before');
  assert.deepEqual(now(), [0, 1]);
});
