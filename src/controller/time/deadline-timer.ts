/** Schedules a turn for the next deadline that a rule has read. */
import type { Clock } from '../../timing/clock.ts';
import type { Deadlines } from '../../engine/deadlines.ts';
import type { MonotonicClock } from './monotonic-clock.ts';

/** A clock that was set forward takes effect within this time. */
const LONGEST_MS = 60_000;
/** A smaller difference does not mean that the clock was set. */
const DRIFT_MS = 100;

export class DeadlineTimer {
  readonly #deadlines: Deadlines;
  readonly #monotonicClock: MonotonicClock;
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: unknown;
  /** The deadline of the timer, and the difference of the monotonic clock and the process time when it was set. */
  #due: number | undefined;
  #ahead = 0;

  constructor(deadlines: Deadlines, monotonicClock: MonotonicClock, clock: Clock, wake: () => void) {
    this.#deadlines = deadlines;
    this.#monotonicClock = monotonicClock;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Sets the timer to the next deadline. A timer for it stays: most turns change no deadline. */
  set(): void {
    const { next } = this.#deadlines;
    if (next === undefined) return this.stop();
    const now = this.#monotonicClock.now();
    const ahead = now - this.#clock.now();
    if (next === this.#due && Math.abs(ahead - this.#ahead) < DRIFT_MS) return;
    this.stop();
    this.#due = next;
    this.#ahead = ahead;
    const wait = Math.min(Math.max(next - now, 0) + 1, LONGEST_MS);
    this.#timer = this.#clock.setTimeout(() => {
      this.stop();
      this.#wake();
    }, wait);
  }

  stop(): void {
    if (this.#due === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due = undefined;
  }
}
