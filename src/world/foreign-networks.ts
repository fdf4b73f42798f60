/**
 * Whether other programs have networks in the database: switches and routers that are neither ours nor Kube-OVN's. What is set for the
 * whole database changes theirs too.
 */
import type { Ownership } from '../nb/ownership.ts';
import { isOwnUuid } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { Reactor } from './reactor.ts';
import { Source } from './source.ts';

const NETWORKS: ReadonlySet<string> = new Set(['Logical_Switch', 'Logical_Router']);

export class ForeignNetworks {
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
  file(table: string, uuid: Uuid, ownership: Ownership | undefined): void {
    if (!NETWORKS.has(table)) return;
    const before = this.#found.size > 0;
    if (isForeign(uuid, ownership)) this.#found.add(uuid);
    else this.#found.delete(uuid);
    if (before !== this.#found.size > 0) this.#reactor.touch(this.#source);
  }
}

/** Kiln is about to restore the ownership keys of a row of ours that lost them: such a row is not foreign. */
function isForeign(uuid: Uuid, ownership: Ownership | undefined): boolean {
  return ownership?.kind === 'foreign' && !(ownership.family === 'unknown' && isOwnUuid(uuid));
}
