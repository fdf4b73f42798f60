/** Timers that are cancelled together. */
import type { Clock } from '../../timing/clock.ts';

export class Timers {
  readonly #clock: Clock;
  readonly #running = new Set<unknown>();
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly later = (ms: number, run: () => void): void => {
    if (this.#ended) return;
    const timer = this.#clock.setTimeout(() => {
      this.#running.delete(timer);
      run();
    }, ms);
    this.#running.add(timer);
  };

  end(): void {
    this.#ended = true;
    for (const timer of this.#running) this.#clock.clearTimeout(timer);
    this.#running.clear();
  }
}
