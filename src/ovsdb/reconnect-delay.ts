/** How long a session waits between rounds of attempts. */
import type { BackoffOptions } from '../timing/backoff.ts';
import { backoffDelay } from '../timing/backoff.ts';

/** 100 ms is below what a restart of a server takes; 5 s keeps a recovered server from waiting long for its clients. */
export const defaultBackoff: BackoffOptions = { baseMs: 100, maxMs: 5_000 };

/**
 * The delay before the next attempt. In each round every endpoint is tried without a delay. Between rounds the delay doubles, shortened
 * at random by up to half, so that the clients of one lost server do not all come back at the same time.
 *
 * @param failures failed attempts since the session was last synced for long enough
 * @param random a number in [0, 1)
 */
export function reconnectDelay(failures: number, endpoints: number, options: BackoffOptions, random: number): number {
  if (failures < endpoints) return 0;
  if (failures % endpoints !== 0) return 0;
  return backoffDelay(failures / endpoints - 1, { ...options, random: () => 1 - random });
}
