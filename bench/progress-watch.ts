/** Says when a benchmark would wait in vain: its controller leads no more, or does nothing though there is something to do. */
import type { ControllerStatus } from '../src/controller/controller.ts';

/** Nothing was measured, and why: for whoever reads the terminal. */
export class NotMeasured extends Error {
  override readonly name = 'NotMeasured';
}

/** Longer than any pause of a controller between two tries. */
const STILL_MS = 120_000;
/** What asks again and again for what is not there never stands still. */
const LONGEST_MS = 900_000;

export class ProgressWatch<T extends Pick<ControllerStatus, 'phase'>> {
  readonly #look: () => T;
  readonly #stillMs: number;
  #led = false;
  #seen = '';
  #since = 0;
  #began: number | undefined;

  /** @param look what changes while something is done */
  constructor(look: () => T, stillMs = STILL_MS) {
    this.#look = look;
    this.#stillMs = stillMs;
  }

  /** @param now monotonic milliseconds. @returns a sentence, once there is no use in waiting */
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
