/** What a list-watch cache is told, and what it tells. */
import type { KubeClient } from './client.ts';
import type { Clock, Random } from './clock.ts';
import type { DefinitionWatch } from './definition-watch.ts';
import type { KubeError } from './errors.ts';
import type { KubeObject, Resource } from './resource.ts';
import type { Turnstile } from './turnstile.ts';

/**
 * - `listing`: no full list was read yet
 * - `synced`: complete, and a watch keeps it so
 * - `stale`: complete once, but the server cannot be followed now; what is held is old
 * - `not-served`: the server does not know the resource (a CRD that is missing)
 * - `closed`
 */
export type CacheState = 'listing' | 'synced' | 'stale' | 'not-served' | 'closed';

/** Why a full list was read. */
export type ListReason = 'first' | 'gone' | 'undecodable' | 'errors' | 'periodic' | 'not-served' | 'behind';

export interface CacheCounters {
  lists: Record<ListReason, number>;
  /** Watches opened. */
  watches: number;
  events: number;
  bookmarks: number;
  /** Events older than what was held. */
  outdated: number;
  /** Lines of a watch that were no event. */
  undecodable: number;
  /** Watches cut because the server was silent for too long. */
  silences: number;
  /** Lists and watches that failed. */
  failures: number;
  /** Differences that a periodic list found: events that were lost. */
  healed: number;
  /** Lists that lacked objects which the server has, and were not believed. */
  doubted: number;
}

/** Something a log or a metric may want to know. */
export type CacheNotice =
  | { readonly kind: 'state'; readonly state: CacheState; readonly before: CacheState }
  | { readonly kind: 'list'; readonly reason: ListReason; readonly objects: number; readonly durationMs: number }
  | { readonly kind: 'failure'; readonly error: KubeError; readonly retryInMs: number }
  | { readonly kind: 'undecodable'; readonly error: KubeError }
  /** A list lacks so many of the objects that were there that a second one has to agree before they are taken as gone. */
  | { readonly kind: 'shrunk'; readonly absent: number; readonly had: number; readonly againInMs: number };

export interface ListWatchOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** Of a namespaced resource; left out: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Called once for each object that enters; what it returns is held. It must keep name, namespace, uid, versions. */
  readonly trim?: (object: T) => T;
  /** A resource that may be missing: `untilSynced` does not wait for it while it is not served. */
  readonly optional?: boolean;
  /**
   * The first list, where it has more objects than this, is read from the API server's own cache: its database takes five times as long
   * for custom resources. Then the cache `mayBeBehind`.
   */
  readonly cachedAbove?: number;
  /**
   * Shared by caches of one server: such a list is asked for when the one before begins to come. The server puts all of it into words first,
   * and two of them at once cost it half as much again in collections of garbage.
   */
  readonly cachedTurn?: Turnstile;
  /**
   * Label selectors, each object by exactly one of them, by which such a list of so many objects is read; undefined for all of it at once. The
   * server sends nothing before it has put all of an answer into words: what came is taken in while it does so with the next.
   */
  readonly cachedParts?: (objects: number) => Promise<readonly string[] | undefined>;
  /** Name of an array that `trim` leaves out anyway, wherever it stands: of such a list it is not even parsed. */
  readonly unread?: string;
  /** Objects a page. Default 500. */
  readonly pageSize?: number;
  /** A full list this often heals lost events (±20 %); 0 for never. Default 30 minutes. */
  readonly relistIntervalMs?: number;
  /**
   * Range from which each watch's `timeoutSeconds` is drawn. Default 300 to 600. While no bookmark was seen, a watch lasts 70 s at most.
   */
  readonly watchSeconds?: readonly [number, number];
  /** Silence allowed beyond the server's own timeout. Default 30 s. */
  readonly graceMs?: number;
  /** Silence allowed where the server sends bookmarks of the resource, one each minute as it is. Default 100 s. */
  readonly bookmarkSilenceMs?: number;
  /** Silence allowed after a write was answered whose event has to come. Default 15 s. */
  readonly ownSilenceMs?: number;
  /** First and longest delay between failing attempts. Default 500 ms and 30 s. */
  readonly backoffMs?: readonly [number, number];
  /** Delay between looks for a resource that is not served. Default 30 s. */
  readonly notServedRetryMs?: number;
  /** Tells when to look again for a resource that is not served, instead of after that delay alone. */
  readonly definitions?: Pick<DefinitionWatch, 'untilServed' | 'promises'>;
  /**
   * How long a resource that was served must be unknown to the server before its objects are taken as gone: a
   * starting API server does not know custom resources for a while. Default 2 minutes for an optional resource; for any other
   * without end, as a server that lost a CRD says nothing of what its objects are for.
   */
  readonly notServedGraceMs?: number;
  /**
   * How long a list is doubted that lacks all, or most, of what was there, though the server denies each of these by name: then a second
   * list has to agree. Default 10 s. Of fewer the server's word is enough, or a second list within a second.
   */
  readonly doubtMs?: number;
  readonly onNotice?: (notice: CacheNotice) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}
