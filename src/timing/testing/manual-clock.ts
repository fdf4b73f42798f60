import type { Clock, Scheduler, TimerHandle } from '../clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that moves only by `advance`. */
export class ManualClock implements Clock, Scheduler {
  #now: number;
  readonly #timers = new Set<Timer>();
  readonly #wallOffset = Date.UTC(2030, 0, 1);

  /** @param start the initial time */
  constructor(start = 1_000) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  wallTime(): number {
    return this.#wallOffset + this.#now;
  }

  setTimeout(callback: () => void, ms: number): TimerHandle {
    const timer: Timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(handle: TimerHandle): void {
    this.#timers.delete(handle as Timer);
  }

  schedule(afterMs: number, run: () => void): () => void {
    const timer = this.setTimeout(run, afterMs);
    return () => this.clearTimeout(timer);
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Advances the time and runs due timers in order; a callback sees the time at which it was due. */
  advance(ms: number): void {
    const target = this.#now + ms;
    for (;;) {
      let next: Timer | undefined;
      for (const timer of this.#timers) if (timer.at <= target && (next === undefined || timer.at < next.at)) next = timer;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = target;
  }
}
