import type { KubeClient, ListOptions } from './client.ts';
import type { KubeObject, Resource } from './resource.ts';
import { isAtMost } from './resource-version.ts';

/** A whole list as the API server's cache has it. */
export interface CachedList<T> {
  readonly objects: readonly T[];
  readonly version: string;
}

export interface CachedAnswer<T> {
  /** The server has begun to send. */
  begun: boolean;
  /** Undefined where the cache does not come to the version that was asked for, or cannot be read. */
  readonly list: Promise<CachedList<T> | undefined>;
}

/**
 * Asks for a list from the server's cache, which costs the server a fraction of pages from its database. Servers before 1.31 do not ask the
 * database how far it is: where nothing of this kind changes, their caches stay behind, and say so after some seconds.
 *
 * @param notOlderThan the version of a page that came from the database
 * @param take keeps an object as it comes
 */
export function askCache<T>(
  client: Pick<KubeClient, 'readCached'>,
  resource: Resource,
  options: ListOptions,
  notOlderThan: string,
  take: (object: KubeObject) => T,
): CachedAnswer<T> {
  const objects: T[] = [];
  const answer: CachedAnswer<T> = {
    begun: false,
    list: client
      .readCached(resource, options, notOlderThan, (items) => {
        answer.begun = true;
        for (const item of items) objects.push(take(item));
      })
      .then((version) => (isAtMost(notOlderThan, version) ? { objects, version } : undefined))
      // Whoever asked has the pages too, and hears from them what is the matter.
      .catch(() => undefined),
  };
  return answer;
}
