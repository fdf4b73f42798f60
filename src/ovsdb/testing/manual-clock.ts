import type { Clock } from '../clock.ts';

/** A clock that moves only by `advance`. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  now(): number {
    return this.#now;
  }

  schedule(afterMs: number, run: () => void): () => void {
    const timer = { at: this.#now + afterMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Runs what falls due, in order of time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.run();
    }
    this.#now = end;
  }

  get pending(): number {
    return this.#timers.size;
  }
}
