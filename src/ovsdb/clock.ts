/** Time as the session sees it, so that tests can make their own. */
export interface Clock {
  /** Milliseconds from any fixed point; never goes back. */
  now(): number;
  /** Runs once after that many milliseconds; what is returned cancels it. */
  schedule(afterMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(afterMs, run) {
    const timer = setTimeout(run, afterMs);
    return () => clearTimeout(timer);
  },
};
