/**
 * Bounds on evictions, beside the disruption budgets that the API server keeps: so many pods are on their way out at a time, and one is
 * asked to leave once in a while only.
 */

/** Pods on their way out at once. */
const MOST = 5;
/** A pod that is still there after so long gives up its place and is asked again. */
const PATIENCE_MS = 60_000;

export type EvictionTurn =
  /** Send it. */
  | 'now'
  /** It was asked already. */
  | 'asked'
  /** Others go first. */
  | 'later';

interface Leaving {
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export class EvictionLimit {
  readonly #leaving = new Map<string, Leaving>();

  /**
   * @param now milliseconds since the epoch
   * @param uidOf uid of the pod that is there now under a key
   */
  take(key: string, uid: string, now: number, uidOf: (key: string) => string | undefined): EvictionTurn {
    for (const [one, { uid: leaving, until }] of this.#leaving) {
      if (until <= now || uidOf(one) !== leaving) this.#leaving.delete(one);
    }
    if (this.#leaving.has(key)) return 'asked';
    if (this.#leaving.size >= MOST) return 'later';
    this.#leaving.set(key, { uid, until: now + PATIENCE_MS });
    return 'now';
  }

  /** The server did not take it. */
  refused(key: string): void {
    this.#leaving.delete(key);
  }
}

/** When one that was told `later` is worth another try although nothing changed. */
export const EVICTION_RETRY_MS = PATIENCE_MS;
