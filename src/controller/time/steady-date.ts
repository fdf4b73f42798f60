/**
 * The date that this process reckons with: leases, rests and patience end by it. It is the clock's as long as that goes on. When somebody sets
 * the clock back, it goes on from where it was: what has begun takes as long as it would have taken, and what begins does not end at once.
 */
import type { Clock } from '../../kube/clock.ts';

export class MonotonicClock {
  readonly #clock: Clock;
  /** Before anybody asked: a clock that is ahead may be put right by the first answer of the API server. */
  #date = -Infinity;
  /** When it was that, in monotonic milliseconds. */
  #at = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch; never goes back. */
  readonly now = (): number => {
    const at = this.#clock.now();
    this.#date = Math.max(this.#clock.wallTime(), this.#date + at - this.#at);
    this.#at = at;
    return this.#date;
  };
}
