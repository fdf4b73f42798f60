/**
 * Terms, by which the database tells leaders apart: each is one process's alone, and who was told that another term is in force asks for nothing before the API server has
 * confirmed its Lease once more. Held against transactions as they are sent and the Lease in the store, by no part of the product.
 */
import { CONTROLLER_LEASE } from '../../src/api/well-known.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { leaderOf } from './misdeeds.ts';

const TERM = /^kiln: term (\d+)/;

export class Terms {
  /** Which process has a term. */
  #owners = new Map<string, string>();
  /** When each process last gained or renewed the Lease, and when it was told of a newer term since. */
  readonly #renewed = new Map<string, number>();
  readonly #outrun = new Map<string, number>();

  /** @param now milliseconds */
  constructor(store: ObjectStore, now: () => number) {
    store.watchAll(({ table, object }) => {
      if (table === 'leases' && object.metadata.name === CONTROLLER_LEASE) this.#renewed.set(leaderOf(store), now());
    });
  }

  /** Somebody took the term out of the database, or wrote another one: what was is not known there any more. */
  forget(): void {
    this.#owners = new Map();
  }

  /** A transaction that took effect. @returns what is wrong, as the rest of a sentence */
  wrote(identity: string, operations: readonly unknown[]): string | undefined {
    const said = (operations as readonly { readonly comment?: string }[]).find(({ comment }) => comment !== undefined)?.comment ?? '';
    const term = TERM.exec(said)?.[1];
    if (term === undefined) return undefined;
    const owner = this.#owners.get(term);
    this.#owners.set(term, owner ?? identity);
    return owner === undefined || owner === identity ? undefined : `writes under term ${term}, which is that of ${owner}`;
  }

  /** The database has told it that a newer term is in force. */
  outrun(identity: string, now: number): void {
    this.#outrun.set(identity, now);
  }

  /** It asks for a write. @returns what is wrong, as the rest of a sentence */
  asked(identity: string, now: number): string | undefined {
    const told = this.#outrun.get(identity);
    if (told === undefined || now <= told) return undefined;
    if ((this.#renewed.get(identity) ?? -Infinity) <= told)
      return 'was sent after a newer term was met, and before the Lease was confirmed';
    this.#outrun.delete(identity);
    return undefined;
  }
}
