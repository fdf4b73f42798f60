/**
 * What a controller lets go of has no rows any more: when the last of its finalizers is taken off an object, the database has nothing that says to be of that. Rows that are left
 * then, or come after, are collected later, if at all, and meanwhile the next object of the name meets them. Read from the database at that moment, by no rule.
 */
import { FINALIZER } from '../../../src/api/well-known.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import { OWNER_KEY, UID_KEY } from '../../../src/nb/ownership.ts';
import type { Judge, Transacted } from './judge.ts';

export class FinalizerRelease implements Judge {
  readonly #gone = new Set<string>();

  /**
   * @param byHand whether a person acts now
   * @param rowOf a row that says to be of this uid
   * @param wrong told what is wrong, as a sentence
   */
  constructor(store: ObjectStore, byHand: () => boolean, rowOf: (uid: string) => string | undefined, wrong: (what: string) => void) {
    store.watchAll(({ type, object, previous }) => {
      const { uid, name, deletionTimestamp } = object.metadata;
      if (type === 'ADDED' || byHand() || deletionTimestamp === undefined || previous?.metadata.uid !== uid) return;
      const isHeld = type === 'MODIFIED' && object.metadata.finalizers?.includes(FINALIZER) === true;
      if (isHeld || previous.metadata.finalizers?.includes(FINALIZER) !== true) return;
      this.#gone.add(uid);
      const row = rowOf(uid);
      if (row !== undefined) wrong(`${object.kind ?? ''} ${name} was let go, and ${row} is still there for it`);
    });
  }

  /** A row that is made for an object which was let go before: nothing will take it away. */
  transacted({ execution }: Transacted): readonly string[] {
    return execution.differences.flatMap(({ before, after }) => {
      const ids = after?.['external_ids'];
      if (before !== undefined || !(ids instanceof Map) || !this.#gone.has(String(ids.get(UID_KEY)))) return [];
      return [`made a row for ${String(ids.get(OWNER_KEY))}, which was let go before (${String(after?.['name'] ?? '')})`];
    });
  }
}
