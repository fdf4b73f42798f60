import type { Random } from './clock.ts';

export interface BackoffOptions {
  /** First delay in milliseconds. */
  readonly baseMs: number;
  /** No delay is longer. */
  readonly maxMs: number;
  readonly random?: Random;
}

/**
 * The delay before attempt `attempt` (from 0): doubles up to a maximum, random in its upper half,
 * so that clients that failed together do not come back together.
 */
export function backoffDelay(attempt: number, options: BackoffOptions): number {
  const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt, 30));
  return ceiling * (0.5 + 0.5 * (options.random ?? Math.random)());
}
