/**
 * Kube-OVN's own controller, as far as others see it: the Lease by which it says that it is there. Who writes beside it undoes what it does, and
 * the other way round.
 */
import { KUBE_OVN_LEASE } from '../../src/api/well-known.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';

/** What was under way when it came is answered, and whoever stood still has heard of it. */
const HEARD_MS = 60_000;

export class KubeOvn {
  readonly #now: () => number;
  #since = Infinity;
  #until = -Infinity;

  /** @param now milliseconds */
  constructor(store: ObjectStore, now: () => number) {
    this.#now = now;
    store.watchAll(({ type, table, object }) => {
      if (table !== 'leases' || object.metadata.name !== KUBE_OVN_LEASE) return;
      const { holderIdentity = '', leaseDurationSeconds = 15 } = (object['spec'] ?? {}) as {
        readonly holderIdentity?: string;
        readonly leaseDurationSeconds?: number;
      };
      const isThere = type !== 'DELETED' && holderIdentity !== '';
      if (!isThere || now() > this.#until) this.#since = isThere ? now() : Infinity;
      this.#until = isThere ? now() + leaseDurationSeconds * 1_000 : -Infinity;
    });
  }

  /** For so long that everybody knows. */
  get leads(): boolean {
    return this.#now() < this.#until && this.#now() - this.#since > HEARD_MS;
  }
}
