/** Detects that a benchmark would wait for ever: its controller no longer leads, or does nothing although something is left to do. */
import type { ControllerStatus } from '../src/controller/controller.ts';

/** Nothing was measured; the message says why, and is printed. */
export class NotMeasured extends Error {
  override readonly name = 'NotMeasured';
}

/** Longer than any pause of a controller between two retries. */
const STILL_MS = 120_000;
/** The most time in all: a controller that retries for ever always seems to make progress. */
const LONGEST_MS = 900_000;

export class ProgressWatch<T extends Pick<ControllerStatus, 'phase'>> {
  readonly #look: () => T;
  readonly #stillMs: number;
  #led = false;
  #seen = '';
  #since = 0;
  #began: number | undefined;

  /** @param look returns a state that changes while there is progress */
  constructor(look: () => T, stillMs = STILL_MS) {
    this.#look = look;
    this.#stillMs = stillMs;
  }

  /** @param now monotonic milliseconds. @returns a sentence, once waiting has no use */
  problem(now = performance.now()): string | undefined {
    const state = this.#look();
    const text = JSON.stringify(state);
    if (state.phase === 'leading') this.#led = true;
    else if (this.#led) return `the controller leads no more: ${text}`;
    if (text !== this.#seen) {
      this.#seen = text;
      this.#since = now;
    }
    this.#began ??= now;
    if (now - this.#began > LONGEST_MS) return `it is not done after ${Math.round((now - this.#began) / 1_000)} s: ${text}`;
    if (now - this.#since < this.#stillMs) return undefined;
    return `nothing has changed for ${Math.round((now - this.#since) / 1_000)} s: ${text}`;
  }
}
