/** Kiln's Lease changes hands when its holder has freed it, or did not renew it for its whole duration; held against the store's own time. */
import { CONTROLLER_LEASE } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';

interface Held {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
}

/** @param now milliseconds. @param say is told what is wrong */
export function watchHandovers(store: ObjectStore, now: () => number, say: (what: string) => void): void {
  let writtenAt = -Infinity;
  store.watchAll(({ type, table, object, previous }) => {
    if (table !== 'leases' || object.metadata.name !== CONTROLLER_LEASE || type === 'DELETED') return;
    const [was, is] = [heldBy(previous), heldBy(object)];
    const since = now() - writtenAt;
    writtenAt = now();
    const { holderIdentity: from = '', leaseDurationSeconds = 15 } = was;
    const { holderIdentity: to = '' } = is;
    if (from === '' || to === '' || from === to || since >= leaseDurationSeconds * 1_000) return;
    say(`${to} took the Lease of ${from}, which lasts ${leaseDurationSeconds} s and was renewed ${Math.round(since)} ms before`);
  });
}

function heldBy(lease: KubeObject | undefined): Held {
  return (lease?.['spec'] ?? {}) as Held;
}
