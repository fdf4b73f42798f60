/**
 * Rows that could not be written. After the first failure a row is planned again at once, after the second it is set aside for a while,
 * with a report. One that another program changed while the transaction was under way, or changes as often as it is repaired, waits for a
 * second.
 */
import type { RowId } from '../nb/row-id.ts';

const SET_ASIDE_MS = 30_000;
const CONTESTED_MS = 1_000;
/** Lost races in a row of one identity before they count as a failure. */
const MOST_RACES = 5;

export interface RowFailure {
  /** OVN rejects the row, or another program always writes first. */
  readonly isRejected: boolean;
  /** The row is in backoff from now on, and is reported. */
  readonly isSetAside: boolean;
}

export class RowRetries {
  readonly #later: (ms: number, run: () => void) => void;
  readonly #wake: () => void;
  readonly #again: (id: RowId) => void;
  readonly #failures = new Map<RowId, number>();
  readonly #aside = new Set<RowId>();
  /** Rows that another program changes as often as they are repaired. */
  readonly #contested = new Set<RowId>();

  /**
   * @param later a timer of the caller's clock
   * @param wake schedules a turn
   * @param again compares the row, when its backoff is over
   */
  constructor(later: (ms: number, run: () => void) => void, wake: () => void, again: (id: RowId) => void) {
    this.#later = later;
    this.#wake = wake;
    this.#again = again;
  }

  /** Identities that failed twice and are in backoff. */
  get setAside(): number {
    return this.#aside.size;
  }

  /** All identities in backoff. */
  get backingOff(): number {
    return this.#aside.size + this.#contested.size;
  }

  /** Number of failures in a row, until the row converges or its outputs change. */
  failures(id: RowId): number {
    return this.#failures.get(id) ?? 0;
  }

  inBackoff(id: RowId): boolean {
    return this.#aside.has(id) || this.#contested.has(id);
  }

  isSetAside(id: RowId): boolean {
    return this.#aside.has(id);
  }

  /** Its outputs changed: the new ones may succeed. */
  emitted(id: RowId): void {
    if (this.#aside.delete(id)) this.#failures.delete(id);
  }

  written(id: RowId): void {
    this.#failures.delete(id);
  }

  /** @param raced a guard failed: another program wrote first */
  failed(id: RowId, raced: boolean): RowFailure {
    const failures = this.failures(id) + 1;
    this.#failures.set(id, failures);
    const isRejected = !raced || failures >= MOST_RACES;
    if (failures < 2) return { isRejected, isSetAside: false };
    if (isRejected) this.#backOff(id, this.#aside, SET_ASIDE_MS);
    else this.contested(id);
    return { isRejected, isSetAside: isRejected };
  }

  contested(id: RowId): void {
    this.#backOff(id, this.#contested, CONTESTED_MS);
  }

  #backOff(id: RowId, waiting: Set<RowId>, ms: number): void {
    waiting.add(id);
    this.#later(ms, () => {
      waiting.delete(id);
      this.#again(id);
      this.#wake();
    });
  }
}
