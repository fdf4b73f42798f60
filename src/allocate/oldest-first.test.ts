import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AddressRequest } from '../world/reservations.ts';
import { oldestFirst } from './oldest-first.ts';

test('the oldest comes first, within one second the first by name, in any order of input', () => {
  const request = fc.record({
    since: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2025-01-01T00:00:00Z'),
    claimant: fc.string(),
  });
  fc.assert(
    fc.property(fc.uniqueArray(request, { selector: ({ claimant }) => claimant }), (requests) => {
      const groups = requests.map((one) => [one as AddressRequest, { since: '', claimant: 'another of the pod' } as AddressRequest]);
      const found = oldestFirst(groups).map(([first]) => `${first?.since} ${first?.claimant}`);
      const wanted = requests.map(({ since, claimant }) => `${since} ${claimant}`).toSorted((a, b) => (a < b ? -1 : 1));
      assert.deepEqual(found, wanted);
    }),
  );
});
