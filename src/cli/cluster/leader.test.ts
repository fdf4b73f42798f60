/** Who leads, by the Lease. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandIo } from '../connection/cluster-command.ts';
import { leaderOf } from './leader.ts';

/** A cluster whose Lease is another one at each look. */
function leases(...all: readonly (readonly [holder: string, renewed: string])[]): Pick<CommandIo, 'client'> {
  let looks = 0;
  const find = (): Promise<unknown> => {
    const [holderIdentity, renewTime] = all[Math.min(looks++, all.length - 1)] ?? [];
    return Promise.resolve({ metadata: { name: 'kiln-controller' }, spec: { holderIdentity, renewTime, leaseDurationSeconds: 4 } });
  };
  return { client: { find } as unknown as CommandIo['client'] };
}

test('a Lease that had expired and that another process acquires meanwhile: the new leader is named, with its own time', async () => {
  const io = leases(['old', '2026-01-01T00:00:00.000000Z'], ['new', '2026-01-01T00:00:40.000000Z']);
  const { identity, renewed, live } = (await leaderOf(io, 'kube-system')) ?? assert.fail();
  assert.deepEqual([identity, renewed, live], ['new', '2026-01-01T00:00:40.000000Z', true]);
});

test('a Lease without a holder: the last state, and nobody leads', async () => {
  const { identity, live } = (await leaderOf(leases(['', '2026-01-01T00:00:00.000000Z']), 'kube-system')) ?? assert.fail();
  assert.deepEqual([identity, live], ['', false]);
});
