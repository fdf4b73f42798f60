/**
 * Whether rows of Kube-OVN without its vendor key remain: those into which the migration of Kube-OVN 1.15 would write the key. It runs
 * unless `NB_Global` names that release or a newer one.
 */
import type { ExternalIds, Ownership } from '../nb/ownership.ts';
import { isKeyless } from '../nb/ownership.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { Reactor } from './reactor.ts';
import { Source } from './source.ts';

export class KeylessRows {
  readonly #reactor: Reactor;
  readonly #found = new Set<Uuid>();
  readonly #source = new Source();

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** Tracked. */
  get exist(): boolean {
    if (this.#reactor.tracking) this.#reactor.track(this.#source);
    return this.#found.size > 0;
  }

  /** @param ownership of the row; undefined when it is gone */
  file(uuid: Uuid, table: string, name: string, externalIds: ExternalIds | undefined, ownership: Ownership | undefined): void {
    const before = this.#found.size > 0;
    if (ownership !== undefined && isKeyless(table, name, externalIds, ownership)) this.#found.add(uuid);
    else this.#found.delete(uuid);
    if (before !== this.#found.size > 0) this.#reactor.touch(this.#source);
  }
}
