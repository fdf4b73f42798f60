import type { Random } from './clock.ts';

export interface BackoffOptions {
  /** First delay in milliseconds. */
  readonly baseMs: number;
  /** No delay is longer. */
  readonly maxMs: number;
  readonly random?: Random;
}

/** Doubles from the first delay up to a maximum. @param attempt from 0 */
export function doublingDelay(attempt: number, baseMs: number, maxMs: number): number {
  return Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
}

/**
 * The delay before attempt `attempt` (from 0): doubles up to a maximum, random in its upper half,
 * so that clients that failed together do not come back together.
 */
export function backoffDelay(attempt: number, { baseMs, maxMs, random = Math.random }: BackoffOptions): number {
  return doublingDelay(attempt, baseMs, maxMs) * (0.5 + 0.5 * random());
}
