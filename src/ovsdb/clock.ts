/** The session's clock; tests pass their own. */
export interface Clock {
  /** Milliseconds from any fixed point; never goes back. */
  now(): number;
  /** Calls `run` once after so many milliseconds. @returns cancels it */
  schedule(afterMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(afterMs, run) {
    const timer = setTimeout(run, afterMs);
    return () => clearTimeout(timer);
  },
};
