/** Wakes whoever waits for a moment in time that a rule asked about. */
import type { Clock } from '../kube/clock.ts';
import type { Deadlines } from '../world/deadlines.ts';

/** A clock that is set back or forward is noticed within this time. */
const LONGEST_MS = 60_000;

export class DeadlineTimer {
  readonly #deadlines: Deadlines;
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: unknown;

  constructor(deadlines: Deadlines, clock: Clock, wake: () => void) {
    this.#deadlines = deadlines;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Sets the timer to the next deadline. */
  set(): void {
    this.stop();
    const { next } = this.#deadlines;
    if (next === undefined) return;
    const wait = Math.min(Math.max(next - this.#clock.wallTime(), 0) + 1, LONGEST_MS);
    this.#timer = this.#clock.setTimeout(this.#wake, wait);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
