/** How long to wait between rounds of attempts. Milliseconds. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** 100 ms is below what a restart of a server takes; 5 s keeps a recovered server from waiting long for its clients. */
export const defaultBackoff: BackoffOptions = { baseMs: 100, maxMs: 5_000 };

/**
 * The delay before the next attempt. Each endpoint is tried once at once; then the rounds are spaced by a doubling delay,
 * shortened by up to half at random so that clients of one lost server do not come back in step.
 *
 * @param failures attempts that failed since the session was last well
 * @param random a number in [0, 1)
 */
export function reconnectDelay(failures: number, endpoints: number, options: BackoffOptions, random: number): number {
  if (failures < endpoints) return 0;
  if (failures % endpoints !== 0) return 0;
  const round = failures / endpoints;
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(round - 1, 30));
  return full * (1 - random / 2);
}
