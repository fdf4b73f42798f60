/** Whether the database has rows of a kind: the rows are counted as they are observed, and a rule reads whether there is any. */
import { isKeyless } from '../nb/ownership.ts';
import { isOwnUuid } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { Reactor } from '../engine/reactor.ts';
import type { Entry } from './row-identity.ts';
import { Source } from '../engine/source.ts';

type Filed = Pick<Entry, 'table' | 'uuid' | 'ownership' | 'row'>;

export class FoundRows {
  readonly #reactor: Reactor;
  readonly #isOne: (entry: Filed) => boolean;
  readonly #found = new Set<Uuid>();
  readonly #source = new Source();

  constructor(reactor: Reactor, isOne: (entry: Filed) => boolean) {
    this.#reactor = reactor;
    this.#isOne = isOne;
  }

  /** Tracked. */
  get exist(): boolean {
    if (this.#reactor.tracking) this.#reactor.track(this.#source);
    return this.#found.size > 0;
  }

  file(entry: Filed): void {
    this.#keep(entry.uuid, this.#isOne(entry));
  }

  forget(uuid: Uuid): void {
    this.#keep(uuid, false);
  }

  #keep(uuid: Uuid, isOne: boolean): void {
    const before = this.#found.size > 0;
    if (isOne) this.#found.add(uuid);
    else this.#found.delete(uuid);
    if (before !== this.#found.size > 0) this.#reactor.touch(this.#source);
  }
}

const NETWORKS: ReadonlySet<string> = new Set(['Logical_Switch', 'Logical_Router']);

/**
 * A network of another program: a switch or router that is neither ours nor Kube-OVN's. What is set for the whole database changes it too.
 * Kiln is about to restore the ownership keys of a row of ours that lost them: such a row is not foreign.
 */
export function isForeignNetwork({ table, uuid, ownership }: Filed): boolean {
  return NETWORKS.has(table) && ownership.kind === 'foreign' && !(ownership.family === 'unknown' && isOwnUuid(uuid));
}

/**
 * A row of Kube-OVN without its vendor key: the migration of Kube-OVN 1.15 would write the key into it. It runs unless `NB_Global` names
 * that release or a newer one.
 */
export function isKeylessRow({ table, ownership, row: { name, external_ids: keys } }: Filed): boolean {
  return isKeyless(table, typeof name === 'string' ? name : '', keys instanceof Map ? keys : undefined, ownership);
}
