/**
 * The timeout of a test's waits: far longer than the slowest machine needs, so that the speed of the machine decides nothing. Only a
 * failing wait takes that long.
 */
export const PATIENCE_MS = 120_000;

const SHORTEST_MS = 50;
const LONGEST_MS = 500;

/**
 * The polling interval in milliseconds: a fifth of the time waited so far. So a wait ends little later than it could, and a long one polls
 * rarely: each poll often starts a program.
 */
export function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 5, SHORTEST_MS), LONGEST_MS);
}
