/**
 * Limits evictions, in addition to the disruption budgets of the API server: so many pods are being evicted at a time, and the eviction of
 * one is repeated once a minute at most. Namespaces take turns: pods that do not end (a finalizer, hours of grace) block none of another
 * one.
 */

/** Most evictions under way, of one namespace and of all. */
const MOST_OF_NAMESPACE = 5;
const MOST = 10;
/** After this time a pod that still exists no longer counts, and is evicted again. */
const PATIENCE_MS = 60_000;
/** A waiting namespace calls `take` in each turn: one that did not for so long no longer waits. */
const WAITS_MS = 2_000;

export type EvictionTurn =
  /** Send it. */
  | 'now'
  /** Its eviction is under way. */
  | 'asked'
  /** The limit is reached. */
  | 'later'
  /** The limit is not reached, and it is another namespace's turn: to be repeated soon, also without a change. */
  | 'soon';

/** An eviction under way. */
interface Leaving {
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export class EvictionLimit {
  readonly #leaving = new Map<string, Leaving>();
  /** Number of evictions under way by namespace. */
  readonly #places = new Map<string, number>();
  /** Namespaces below their own limit that wait: since when, and when they last called `take`. */
  readonly #waiting = new Map<string, { readonly since: number; readonly asked: number }>();

  /**
   * @param key namespace and name
   * @param now milliseconds since the epoch
   * @param uidOf uid of the pod that has the key now
   */
  take(key: string, uid: string, now: number, uidOf: (key: string) => string | undefined): EvictionTurn {
    for (const [one, { uid: leaving, until }] of this.#leaving) if (until <= now || uidOf(one) !== leaving) this.#left(one);
    if (this.#leaving.has(key)) return 'asked';
    const namespace = namespaceOf(key);
    const places = this.#places.get(namespace) ?? 0;
    if (places >= MOST_OF_NAMESPACE) return 'later';
    const isFull = this.#leaving.size >= MOST;
    if (isFull || this.#othersGoFirst(namespace, places, now)) {
      this.#waiting.set(namespace, { since: this.#waiting.get(namespace)?.since ?? now, asked: now });
      return isFull ? 'later' : 'soon';
    }
    this.#waiting.delete(namespace);
    this.#places.set(namespace, places + 1);
    this.#leaving.set(key, { uid, until: now + PATIENCE_MS });
    return 'now';
  }

  /** The API server rejected the eviction. */
  rejected(key: string): void {
    this.#left(key);
  }

  /** Whether another waiting namespace has fewer evictions under way, or as many and waits longer. */
  #othersGoFirst(namespace: string, places: number, now: number): boolean {
    const since = this.#waiting.get(namespace)?.since ?? now;
    for (const [other, waits] of this.#waiting) {
      if (now - waits.asked > WAITS_MS) this.#waiting.delete(other);
      else if (other !== namespace) {
        const others = this.#places.get(other) ?? 0;
        if (others < places || (others === places && waits.since < since)) return true;
      }
    }
    return false;
  }

  #left(key: string): void {
    if (!this.#leaving.delete(key)) return;
    const namespace = namespaceOf(key);
    const places = (this.#places.get(namespace) ?? 0) - 1;
    if (places > 0) this.#places.set(namespace, places);
    else this.#places.delete(namespace);
  }
}

function namespaceOf(key: string): string {
  return key.slice(key.indexOf('/') + 1).split('/')[0] ?? '';
}

/** When to repeat a `take` that returned `later`, although nothing changed. */
export const EVICTION_RETRY_MS = PATIENCE_MS;
/** The same for `soon`. */
export const EVICTION_TURN_MS = 500;
