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
interface Eviction {
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export class EvictionLimit {
  readonly #evictions = new Map<string, Eviction>();
  /** Number of evictions under way by namespace. */
  readonly #inFlight = new Map<string, number>();
  /** Namespaces below their own limit that wait: since when, and when they last called `take`. */
  readonly #waiting = new Map<string, { readonly since: number; readonly asked: number }>();

  /**
   * @param key namespace and name
   * @param now milliseconds since the epoch
   * @param uidOf uid of the pod that has the key now
   */
  take(key: string, uid: string, now: number, uidOf: (key: string) => string | undefined): EvictionTurn {
    for (const [one, { uid: evicted, until }] of this.#evictions) if (until <= now || uidOf(one) !== evicted) this.#left(one);
    if (this.#evictions.has(key)) return 'asked';
    const namespace = namespaceOf(key);
    const inFlight = this.#inFlight.get(namespace) ?? 0;
    if (inFlight >= MOST_OF_NAMESPACE) return 'later';
    const isFull = this.#evictions.size >= MOST;
    if (isFull || this.#othersGoFirst(namespace, inFlight, now)) {
      this.#waiting.set(namespace, { since: this.#waiting.get(namespace)?.since ?? now, asked: now });
      return isFull ? 'later' : 'soon';
    }
    this.#waiting.delete(namespace);
    this.#inFlight.set(namespace, inFlight + 1);
    this.#evictions.set(key, { uid, until: now + PATIENCE_MS });
    return 'now';
  }

  /** The API server rejected the eviction. */
  rejected(key: string): void {
    this.#left(key);
  }

  /** Whether another waiting namespace has fewer evictions under way, or as many and waits longer. */
  #othersGoFirst(namespace: string, inFlight: number, now: number): boolean {
    const since = this.#waiting.get(namespace)?.since ?? now;
    for (const [other, waits] of this.#waiting) {
      if (now - waits.asked > WAITS_MS) this.#waiting.delete(other);
      else if (other !== namespace) {
        const others = this.#inFlight.get(other) ?? 0;
        if (others < inFlight || (others === inFlight && waits.since < since)) return true;
      }
    }
    return false;
  }

  #left(key: string): void {
    if (!this.#evictions.delete(key)) return;
    const namespace = namespaceOf(key);
    const inFlight = (this.#inFlight.get(namespace) ?? 0) - 1;
    if (inFlight > 0) this.#inFlight.set(namespace, inFlight);
    else this.#inFlight.delete(namespace);
  }
}

function namespaceOf(key: string): string {
  return key.slice(key.indexOf('/') + 1).split('/')[0] ?? '';
}

/** When to repeat a `take` that returned `later`, although nothing changed. */
export const EVICTION_RETRY_MS = PATIENCE_MS;
/** The same for `soon`. */
export const EVICTION_TURN_MS = 500;
