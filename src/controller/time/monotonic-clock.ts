/**
 * The clock that decides when a deadline has passed: the host's clock, except that it never goes back while the process runs. If the
 * clock is set back, the date continues from where it was. So a running deadline takes as long as before, and a new one does not pass at
 * once.
 */
import type { Clock } from '../../timing/clock.ts';

export class MonotonicClock {
  readonly #clock: Clock;
  /** No date before the first read: the first answer of the API server may still correct a clock that is ahead. */
  #latest = -Infinity;
  /** When it had this date, in monotonic milliseconds. */
  #at = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch; never goes back. */
  readonly now = (): number => {
    const at = this.#clock.now();
    this.#latest = Math.max(this.#clock.wallTime(), this.#latest + at - this.#at);
    this.#at = at;
    return this.#latest;
  };
}
