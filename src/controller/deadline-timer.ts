/** Wakes whoever waits for a moment in time that a rule asked about. */
import type { Clock } from '../kube/clock.ts';
import type { Deadlines } from '../world/deadlines.ts';
import type { SteadyDate } from './steady-date.ts';

/** A clock that is set forward is noticed within this time. */
const LONGEST_MS = 60_000;

export class DeadlineTimer {
  readonly #deadlines: Deadlines;
  readonly #date: SteadyDate;
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: unknown;

  constructor(deadlines: Deadlines, date: SteadyDate, clock: Clock, wake: () => void) {
    this.#deadlines = deadlines;
    this.#date = date;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Sets the timer to the next deadline. */
  set(): void {
    this.stop();
    const { next } = this.#deadlines;
    if (next === undefined) return;
    const wait = Math.min(Math.max(next - this.#date.now(), 0) + 1, LONGEST_MS);
    this.#timer = this.#clock.setTimeout(this.#wake, wait);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
