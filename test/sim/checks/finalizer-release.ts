/**
 * When a controller removes its finalizer from an object, the database has no row of that row owner any longer. A row that is left, or made
 * later, is collected late, if at all, and conflicts with the next object of the name. Read from the database at that point, without a
 * rule.
 */
import { FINALIZER } from '../../../src/api/well-known.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import { OWNER_KEY, UID_KEY } from '../../../src/nb/ownership.ts';
import type { Check, Transacted } from './check.ts';

export class FinalizerRelease implements Check {
  readonly #released = new Set<string>();

  /**
   * @param byHand whether a user acts now
   * @param rowOf finds a row whose row owner has this uid
   * @param onFault receives each fault, as a sentence
   */
  constructor(store: ObjectStore, byHand: () => boolean, rowOf: (uid: string) => string | undefined, onFault: (message: string) => void) {
    store.watchAll(({ type, object, previous }) => {
      const { uid, name, deletionTimestamp } = object.metadata;
      if (type === 'ADDED' || byHand() || deletionTimestamp === undefined || previous?.metadata.uid !== uid) return;
      const hasFinalizer = type === 'MODIFIED' && object.metadata.finalizers?.includes(FINALIZER) === true;
      if (hasFinalizer || previous.metadata.finalizers?.includes(FINALIZER) !== true) return;
      this.#released.add(uid);
      const row = rowOf(uid);
      if (row !== undefined) onFault(`the finalizer of ${object.kind ?? ''} ${name} was removed, and its row ${row} still exists`);
    });
  }

  /** A row that is made for an object after its finalizer was removed: nothing will collect it. */
  transacted({ execution }: Transacted): readonly string[] {
    return execution.differences.flatMap(({ before, after }) => {
      const ids = after?.['external_ids'];
      if (before !== undefined || !(ids instanceof Map) || !this.#released.has(String(ids.get(UID_KEY)))) return [];
      return [`made a row for ${String(ids.get(OWNER_KEY))}, whose finalizer was removed before (${String(after?.['name'] ?? '')})`];
    });
  }
}
