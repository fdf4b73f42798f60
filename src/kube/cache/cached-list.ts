import type { CachedListOptions, KubeClient } from '../client/client.ts';
import type { KubeObject, Resource } from '../resource.ts';
import { isAtMost } from './resource-version.ts';
import type { Mutex } from './mutex.ts';

/** A whole list from the API server's cache. */
export interface CachedList<T> {
  readonly objects: readonly T[];
  readonly version: string;
}

/**
 * Reads a whole list from the API server's cache (`resourceVersion=0`): etcd takes five times as long for custom resources. The list is a
 * consistent state of the past: all writes up to its version, which may be older than etcd's.
 *
 * @param take called for each object as it arrives; the result is kept
 * @param lock held from before the request until the first objects arrive
 * @returns undefined if it cannot be read; the caller then lists in pages, and gets the error of those
 */
export async function readCachedList<T>(
  client: Pick<KubeClient, 'readCached'>,
  resource: Resource,
  options: CachedListOptions,
  take: (object: KubeObject) => T,
  lock?: Mutex,
): Promise<CachedList<T> | undefined> {
  const objects: T[] = [];
  const begun = await lock?.acquire();
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

/** The oldest and the newest of some versions; undefined if they have no order. */
export function rangeOf(versions: readonly string[]): { readonly from: string; readonly to: string } | undefined {
  const from = versions.find((one) => versions.every((other) => isAtMost(one, other) || one === other));
  const to = versions.find((one) => versions.every((other) => isAtMost(other, one) || one === other));
  return from === undefined || to === undefined ? undefined : { from, to };
}
