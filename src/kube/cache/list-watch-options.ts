/** Options, states and events of a list-watch cache. */
import type { KubeClient } from '../client/client.ts';
import type { Clock, Random } from '../../timing/clock.ts';
import type { KubeError } from '../errors.ts';
import type { KubeObject, Resource } from '../resource.ts';
import type { Mutex } from './mutex.ts';

/**
 * - `listing`: no full list was read yet
 * - `synced`: complete, and a watch keeps it so
 * - `stale`: complete once, but list and watch fail now; the contents are old
 * - `not-served`: the server does not know the resource (a missing CRD)
 * - `closed`
 */
export type CacheState = 'listing' | 'synced' | 'stale' | 'not-served' | 'closed';

/** Why a full list was read. */
export type ListReason = 'first' | 'gone' | 'undecodable' | 'errors' | 'periodic' | 'not-served' | 'behind' | 'restored';

export interface CacheCounters {
  lists: Record<ListReason, number>;
  /** Watches opened. */
  watches: number;
  events: number;
  bookmarks: number;
  /** Events older than the contents. */
  outdated: number;
  /** Lines of a watch that are no event. */
  undecodable: number;
  /** Watches that the cache ended because the server was silent for too long. */
  silences: number;
  /** Lists and watches that failed. */
  failures: number;
  /** Differences found by a periodic list: lost events. */
  healed: number;
  /** Lists that the cache did not accept, since they lacked objects that the server has. */
  doubted: number;
}

/** For a log or a metric. */
export type CacheEvent =
  | { readonly kind: 'state'; readonly state: CacheState; readonly before: CacheState }
  | { readonly kind: 'list'; readonly reason: ListReason; readonly objects: number; readonly durationMs: number }
  | { readonly kind: 'failure'; readonly error: KubeError; readonly retryInMs: number }
  | { readonly kind: 'undecodable'; readonly error: KubeError }
  /** The server's version is older than the contents: its data was restored from a backup. A full list follows. */
  | { readonly kind: 'restored'; readonly held: string; readonly served: string }
  /** A list lacks so many objects that a second list has to lack them too before they count as gone. */
  | { readonly kind: 'shrunk'; readonly absent: number; readonly had: number; readonly againInMs: number };

/** Reports to a cache that a kind is served: the watch of CustomResourceDefinitions. */
export interface ServedDefinitions {
  /** A definition declares the kind, in that version. */
  isDeclared(resource: Resource): boolean;
  /** Resolves when a kind that is not served may be served; after `otherwiseMs` where that is not known. Never rejects. */
  untilServed(resource: Resource, otherwiseMs: number, signal: AbortSignal): Promise<void>;
}

export interface ListWatchOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** For a namespaced resource. Default: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Called once for each object that enters; the cache keeps the result. It must keep name, namespace, uid and versions. */
  readonly trim?: (object: T) => T;
  /** The resource may be missing: `untilSynced` does not wait for it while it is not served. */
  readonly optional?: boolean;
  /**
   * A first list with more objects than this is read from the API server's cache: etcd takes five times as long for custom resources. Then
   * the cache `mayBeBehind`.
   */
  readonly cachedAbove?: number;
  /**
   * A lock shared by the caches of one server: it requests one such list at a time until its first bytes arrive. The server serializes a
   * list as a whole, and two at once cost it half as much again in garbage collections.
   */
  readonly cachedLock?: Mutex;
  /**
   * Label selectors for reading such a list in parts; each object matches exactly one. Undefined: all in one part. The server sends nothing
   * before it has serialized a whole answer: the cache takes one part in while the server serializes the next.
   */
  readonly cachedParts?: (objects: number) => Promise<readonly string[] | undefined>;
  /** Name of an array that `trim` leaves out anyway, at any depth: in such a list it is not even parsed. */
  readonly unread?: string;
  /** The first watch is opened this long after the start at the earliest: a process that reads once, and quickly, opens none. Default 0. */
  readonly watchAfterMs?: number;
  /** Objects a page. Default 500. */
  readonly pageSize?: number;
  /** Interval of full lists, which repair lost events (±20 %); 0 for never. Default 30 minutes. */
  readonly relistIntervalMs?: number;
  /**
   * Range of the random `timeoutSeconds` of each watch. Default 300 to 600. While no bookmark was received, a watch lasts at most 70 s.
   */
  readonly watchSeconds?: readonly [number, number];
  /** Silence allowed beyond the server's own timeout. Default 30 s. */
  readonly graceMs?: number;
  /** Silence allowed if the server sends bookmarks of the resource, which it does each minute. Default 100 s. */
  readonly bookmarkSilenceMs?: number;
  /** Silence allowed after the answer to a write whose event has to arrive. Default 15 s. */
  readonly ownSilenceMs?: number;
  /** First and longest delay between failing attempts. Default 500 ms and 30 s. */
  readonly backoffMs?: readonly [number, number];
  /** Delay between attempts for a resource that is not served. Default 30 s. */
  readonly notServedRetryMs?: number;
  /** Wakes the cache when a missing resource may be served, instead of that delay alone. */
  readonly definitions?: ServedDefinitions;
  /**
   * How long the server must not know a resource that it served before its objects count as gone: a starting API server does not know
   * custom resources for a while. Default 2 minutes for an optional resource; no end for any other, because a missing CRD does not mean
   * that its objects are no longer needed.
   */
  readonly notServedGraceMs?: number;
  /**
   * Delay of the second list after a list that lacks all or most objects, although the server answers 404 to their names. Default 10 s. For
   * fewer objects the 404s are enough, or a second list after a second.
   */
  readonly shrunkListMs?: number;
  readonly onCacheEvent?: (event: CacheEvent) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}
