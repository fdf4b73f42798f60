/**
 * A pool that has its addresses as a set keeps it while what its spec asks cannot be: whoever matches the set's name would be dropped in silence
 * without it. Held against the rest before, by no rule.
 */
import { ipPoolAddressSet } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { Finding } from './judge.ts';

const POOLS = 'ippools.kubeovn.io';

export class SetsKept {
  readonly #store: ObjectStore;
  readonly #hasSet: (uid: string, name: string) => boolean;
  /** Names of sets that a person took away or wrote to since the last rest. */
  readonly touched = new Set<string>();
  /** Uids of pools that had their set at the last rest. */
  #had = new Set<string>();

  /** @param hasSet whether there is an address set of this name that is its own */
  constructor(store: ObjectStore, hasSet: (uid: string, name: string) => boolean) {
    this.#store = store;
    this.#hasSet = hasSet;
  }

  /** All is quiet and judged. */
  remember(): void {
    this.touched.clear();
    this.#had = new Set(this.#asking().flatMap(({ metadata: { uid, name } }) => (this.#hasSet(uid, ipPoolAddressSet(name)) ? [uid] : [])));
  }

  judge(): readonly Finding[] {
    return this.#asking().flatMap(({ metadata: { uid, name } }): readonly Finding[] => {
      const set = ipPoolAddressSet(name);
      if (!this.#had.has(uid) || this.touched.has(set) || this.#hasSet(uid, set)) return [];
      return [
        { kind: 'I3 address set', message: `I3: IPPool ${name} had its addresses as set ${set}, asks for that still, and it is gone` },
      ];
    });
  }

  #asking(): readonly KubeObject[] {
    return this.#store.list(POOLS).filter(({ metadata, ...pool }) => {
      const { enableAddressSet } = (pool['spec'] ?? {}) as { readonly enableAddressSet?: boolean };
      return metadata.deletionTimestamp === undefined && enableAddressSet === true;
    });
  }
}
