/**
 * Rows that could not be written. After the first failure a row is planned again at once, after the second it is set aside for a while, with a
 * report. One that another program changed while the transaction was under way, or changes as often as it is repaired, waits for a second.
 */
import type { RowId } from '../nb/row-id.ts';

const SET_ASIDE_MS = 30_000;
const CALM_MS = 1_000;
/** How often in a row another program may be faster for one identity before it counts as a failure. */
const MOST_RACES = 5;

export interface RowFailure {
  /** OVN does not take the row, or another program is always faster. */
  readonly isRefused: boolean;
  /** The row rests from now on, and is reported. */
  readonly isSetAside: boolean;
}

export class RowRetries {
  readonly #later: (ms: number, run: () => void) => void;
  readonly #wake: () => void;
  readonly #again: (id: RowId) => void;
  readonly #failures = new Map<RowId, number>();
  readonly #aside = new Set<RowId>();
  /** Rows that another program changes as often as they are repaired. */
  readonly #calming = new Set<RowId>();

  /**
   * @param later calls back after a while
   * @param wake something is to be done
   * @param again the row's rest is over: it is to be compared
   */
  constructor(later: (ms: number, run: () => void) => void, wake: () => void, again: (id: RowId) => void) {
    this.#later = later;
    this.#wake = wake;
    this.#again = again;
  }

  /** Identities that failed twice and rest. */
  get setAside(): number {
    return this.#aside.size;
  }

  /** All identities that rest. */
  get resting(): number {
    return this.#aside.size + this.#calming.size;
  }

  /** In a row, until it converges or the rules emit something else. */
  failures(id: RowId): number {
    return this.#failures.get(id) ?? 0;
  }

  rests(id: RowId): boolean {
    return this.#aside.has(id) || this.#calming.has(id);
  }

  isSetAside(id: RowId): boolean {
    return this.#aside.has(id);
  }

  /** The rules emit something else of it: that may be taken. */
  emitted(id: RowId): void {
    if (this.#aside.delete(id)) this.#failures.delete(id);
  }

  written(id: RowId): void {
    this.#failures.delete(id);
  }

  /** @param raced a guard failed: another program was faster */
  failed(id: RowId, raced: boolean): RowFailure {
    const failures = this.failures(id) + 1;
    this.#failures.set(id, failures);
    const isRefused = !raced || failures >= MOST_RACES;
    if (failures < 2) return { isRefused, isSetAside: false };
    if (isRefused) this.#rest(id, this.#aside, SET_ASIDE_MS);
    else this.calm(id);
    return { isRefused, isSetAside: isRefused };
  }

  calm(id: RowId): void {
    this.#rest(id, this.#calming, CALM_MS);
  }

  #rest(id: RowId, resting: Set<RowId>, ms: number): void {
    resting.add(id);
    this.#later(ms, () => {
      resting.delete(id);
      this.#again(id);
      this.#wake();
    });
  }
}
