/**
 * Bounds on evictions, beside the disruption budgets that the API server keeps: so many pods are on their way out at a time, and one is
 * asked to leave once in a while only. Namespaces take turns: pods of one that do not go (a finalizer, hours of grace) keep none of another.
 */

/** Pods on their way out at once, of one namespace and of all. */
const MOST_OF_NAMESPACE = 5;
const MOST = 10;
/** A pod that is still there after so long gives up its place and is asked again. */
const PATIENCE_MS = 60_000;
/** A namespace that waits asks in each turn: one that did not ask for so long waits no more. */
const WAITS_MS = 2_000;

export type EvictionTurn =
  /** Send it. */
  | 'now'
  /** It was asked already. */
  | 'asked'
  /** As many as may leave at a time are leaving. */
  | 'later'
  /** There is a place, and it is another namespace's turn: to be asked again soon, also where nothing changes. */
  | 'soon';

interface Leaving {
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export class EvictionLimit {
  readonly #leaving = new Map<string, Leaving>();
  /** Pods on their way out by namespace. */
  readonly #places = new Map<string, number>();
  /** Namespaces that have room of their own and were told to wait: since when, and when they asked last. */
  readonly #waiting = new Map<string, { readonly since: number; readonly asked: number }>();

  /**
   * @param key namespace and name
   * @param now milliseconds since the epoch
   * @param uidOf uid of the pod that is there now under a key
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

  /** The server did not take it. */
  rejected(key: string): void {
    this.#left(key);
  }

  /** Whether another namespace waits that has fewer on their way out, or as many and waits for longer. */
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

/** When one that was told `later` is worth another try although nothing changed. */
export const EVICTION_RETRY_MS = PATIENCE_MS;
/** When one that was told `soon` is. */
export const EVICTION_TURN_MS = 500;
