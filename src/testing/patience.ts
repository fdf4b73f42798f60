/**
 * How long a test waits for what has to come before it says that it did not come: far longer than the slowest machine takes, so that how
 * fast the machine is decides nothing. Only a failure lasts that long.
 */
export const PATIENCE_MS = 120_000;

const SHORTEST_MS = 50;
const LONGEST_MS = 500;

/**
 * How long to wait before looking again, in milliseconds: a fifth of what has been waited. So a wait ends little later than it could, and a
 * long one costs few looks, each of which is often a program that starts.
 */
export function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 5, SHORTEST_MS), LONGEST_MS);
}
