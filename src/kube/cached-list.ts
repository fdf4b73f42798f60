import type { CachedListOptions, KubeClient } from './client.ts';
import type { KubeObject, Resource } from './resource.ts';
import { isAtMost } from './resource-version.ts';
import type { Turnstile } from './turnstile.ts';

/** A whole list as the API server's cache has it. */
export interface CachedList<T> {
  readonly objects: readonly T[];
  readonly version: string;
}

/**
 * Reads a whole list from the API server's cache: its database takes five times as long for custom resources. It is a true state of the
 * past: all that had been written up to its version, which may be behind what the database has.
 *
 * @param take keeps an object as it comes
 * @param turn is waited for, and over when the first objects come
 * @returns undefined where it cannot be read; whoever asked has pages too, and hears from them what is the matter
 */
export async function readCachedList<T>(
  client: Pick<KubeClient, 'readCached'>,
  resource: Resource,
  options: CachedListOptions,
  take: (object: KubeObject) => T,
  turn?: Turnstile,
): Promise<CachedList<T> | undefined> {
  const objects: T[] = [];
  const begun = await turn?.enter();
  try {
    const version = await client.readCached(resource, options, (items) => {
      begun?.();
      for (const item of items) objects.push(take(item));
    });
    return { objects, version };
  } catch {
    return undefined;
  } finally {
    begun?.();
  }
}

/** From the oldest to the newest of some versions; undefined where they have no order. */
export function rangeOf(versions: readonly string[]): { readonly from: string; readonly to: string } | undefined {
  const from = versions.find((one) => versions.every((other) => isAtMost(one, other) || one === other));
  const to = versions.find((one) => versions.every((other) => isAtMost(other, one) || one === other));
  return from === undefined || to === undefined ? undefined : { from, to };
}
