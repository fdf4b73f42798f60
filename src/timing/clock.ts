/** What a connection needs of a clock. */
export interface Scheduler {
  /** Monotonic milliseconds; never goes back, has no relation to the date. */
  now(): number;
  /** Calls `run` once after so many milliseconds. @returns cancels it */
  schedule(afterMs: number, run: () => void): () => void;
}

/** The clock of a process; tests and the simulator pass their own. */
export interface Clock {
  /** Monotonic milliseconds; never goes back, has no relation to the date. */
  now(): number;
  /** Milliseconds since 1970, only for timestamps that people read (Lease, Event). */
  wallTime(): number;
  /** Fires after 24 days at the latest. */
  setTimeout(callback: () => void, ms: number): TimerHandle;
  clearTimeout(handle: TimerHandle): void;
}

/** Opaque; undefined for no timer. */
export type TimerHandle = unknown;

/** A number in [0, 1), as `Math.random` gives. */
export type Random = () => number;

/** Timers of Node hold 2^31 - 1 ms, and one that is longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock & Scheduler = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, Math.min(ms, LONGEST_TIMER_MS)),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  schedule(afterMs, run) {
    const timer = setTimeout(run, Math.min(afterMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}
