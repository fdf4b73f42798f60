/** Watches a resource, one watch after the other, and takes their events into the contents of a cache. */
import type { CacheCore } from './cache-core.ts';
import type { CacheRecovery } from './cache-recovery.ts';
import type { TimerHandle } from '../../timing/clock.ts';
import type { Delta } from './delta.ts';
import type { ListReason } from './list-watch-options.ts';
import type { KubeObject } from '../resource.ts';
import { isAfter, isAtMost } from './resource-version.ts';
import { type FollowedEvent, runWatch, type WatchEnd } from './watch-run.ts';

/** Range of `timeoutSeconds` while no bookmark was received: a server sends one right before it ends a watch. */
const UNPROVEN_SECONDS = [60, 70] as const;

/**
 * A watch from a version that the server has not reached, since its data was restored from a backup, is silent: no event, no error, no
 * bookmark. So after such a silence the server is asked for its version. Servers send bookmarks each minute.
 */
const ASK_AFTER_MS = 75_000;
/** The same after a failure: whoever restores a backup stops the server. */
const ASK_SOON_MS = 5_000;

export class CacheWatch<T extends KubeObject> {
  readonly #core: CacheCore<T>;
  readonly #recovery: CacheRecovery<T>;
  /** Whether the server sends bookmarks of this resource, and has not been silent since. */
  #sendsBookmarks = false;
  /** Ends the watch under way as silent. */
  #overdue = new AbortController();
  /** Runs while an event is expected. */
  #expecting: TimerHandle;
  /** When the server is asked for its version, if neither event nor bookmark comes before; 0: soon. */
  #askAt = Infinity;
  #isAsking = false;

  constructor(core: CacheCore<T>, recovery: CacheRecovery<T>) {
    this.#core = core;
    this.#recovery = recovery;
  }

  /** Watches until there is a reason to relist; resumes from the last version as long as the server accepts it. */
  async follow(relistAt: number, again: AbortSignal): Promise<ListReason | undefined> {
    const { client, resource, namespace, labelSelector, fieldSelector } = this.#core.options;
    const timeoutSeconds = this.#timeoutSeconds();
    const started = this.#core.clock.now();
    this.#askAt = this.#askAt === 0 ? started + ASK_SOON_MS : Math.min(this.#askAt, started + ASK_AFTER_MS);
    const untilRelist = relistAt - started;
    if (untilRelist <= 0) return 'periodic';
    const bookmarkSilenceMs = this.#core.options.bookmarkSilenceMs ?? 100_000;
    this.#overdue = new AbortController();
    const end: WatchEnd = await runWatch<T>({
      resource,
      subject: this.#core.subject('watch'),
      clock: this.#core.clock,
      signal: again,
      open: (signal) =>
        client.watch(resource, {
          namespace,
          labelSelector,
          fieldSelector,
          resourceVersion: this.#core.contents.version ?? '',
          timeoutSeconds,
          signal,
        }),
      limitMs: untilRelist,
      silenceMs: this.#sendsBookmarks ? bookmarkSilenceMs : timeoutSeconds * 1000 + (this.#core.options.graceMs ?? 30_000),
      bookmarkSilenceMs,
      overdue: this.#overdue.signal,
      askAt: () => this.#askAt,
      ask: () => this.#ask(),
      opened: () => {
        this.#core.counters.watches++;
        this.#core.received();
        this.#core.setState('synced');
      },
      events: (events) => this.#take(events),
    });
    switch (end.kind) {
      case 'limit':
        return 'periodic';
      case 'restored':
        this.#core.restored(end.served);
        return 'restored';
      case 'gone':
        if (this.#recovery.inARow++ > 0) await this.#recovery.pause(this.#recovery.inARow);
        return 'gone';
      case 'undecodable':
        this.#core.counters.undecodable++;
        this.#core.emit({ kind: 'undecodable', error: end.error });
        // A server that sends the same bad event again must not be asked in a tight loop.
        await this.#recovery.pause(this.#recovery.inARow++);
        return 'undecodable';
      case 'failed':
        throw end.error;
      case 'silent': {
        // Silence from the start is no failure if bookmarks were received before: servers before 1.21 send no bookmark of the start
        // version, and a restarted server sends none before the first change of the resource.
        const quiet = this.#sendsBookmarks && end.fromTheStart;
        this.#sendsBookmarks = false;
        this.#core.counters.silences++;
        this.#askAt = 0;
        if (quiet) return undefined;
        throw end.error;
      }
      case 'ended':
        // Otherwise a server that closes watches at once would be asked in a tight loop.
        if (this.#core.clock.now() - started < 1000) await this.#recovery.pause(Math.min(this.#recovery.inARow++, 3));
        else this.#recovery.inARow = 0;
        return undefined;
    }
  }

  /** Short without bookmarks: then only the end of the watch shows that the connection is alive. */
  #timeoutSeconds(): number {
    const drawn = this.#core.random();
    const from = ([shortest, longest]: readonly [number, number]): number =>
      Math.max(1, Math.round(shortest + (longest - shortest) * drawn));
    const wanted = from(this.#core.options.watchSeconds ?? [300, 600]);
    return this.#sendsBookmarks ? wanted : Math.min(wanted, from(UNPROVEN_SECONDS));
  }

  #take(events: readonly FollowedEvent<T>[]): void {
    const deltas: Delta<T>[] = [];
    this.#core.received();
    this.#askAt = this.#core.clock.now() + ASK_AFTER_MS;
    this.#recovery.inARow = 0;
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        this.#core.counters.bookmarks++;
        this.#sendsBookmarks = true;
        this.#core.contents.bookmark(event.version);
      } else {
        this.#core.counters.events++;
        if (!this.#core.contents.event(event.type, this.#core.trim(event.object), deltas)) this.#core.counters.outdated++;
      }
    }
    this.#core.deliver(deltas);
    this.#core.advanced();
  }

  /** @returns the server's version, if it is older than what list and watch have delivered */
  async #ask(): Promise<string | undefined> {
    this.#askAt = this.#core.clock.now() + ASK_AFTER_MS;
    if (this.#isAsking) return undefined;
    this.#isAsking = true;
    const { client, resource, namespace, labelSelector, fieldSelector } = this.#core.options;
    const asked = this.#core.contents.version ?? '';
    try {
      const signal = this.#core.stop.signal;
      const { resourceVersion } = await client.list<T>(resource, { namespace, labelSelector, fieldSelector, limit: 1, signal });
      return isAfter(asked, resourceVersion) ? resourceVersion : undefined;
    } catch {
      // A server that does not answer is the watch's to notice.
      return undefined;
    } finally {
      this.#isAsking = false;
    }
  }

  /** The watch is opened again, and the server asked, since another request failed. */
  failed(): void {
    this.#askAt = 0;
  }

  /**
   * The answer to a request is ahead of the watch. If the watch receives nothing at all within `ownSilenceMs`, its connection is dead, and
   * it is opened again.
   *
   * @param version of the expected event, if known
   */
  expectEvent(version?: string): void {
    const come = (): boolean => version !== undefined && isAtMost(version, this.#core.contents.version ?? '');
    if (this.#expecting !== undefined || this.#core.state === 'closed' || come()) return;
    const since = this.#core.clock.now();
    const watch = this.#overdue;
    this.#expecting = this.#core.clock.setTimeout(() => {
      this.#expecting = undefined;
      if (!come() && (this.#core.lastReceivedAt ?? 0) <= since) watch.abort();
    }, this.#core.options.ownSilenceMs ?? 15_000);
  }

  close(): void {
    this.#core.clock.clearTimeout(this.#expecting);
  }
}
