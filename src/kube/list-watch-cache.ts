/** Lists and watches one resource. Long, because list, watch, recovery and their notices share one state. */
import { SHRUNK_LIST_MS, listDoubted, confirmAbsent, secondListAfter } from './absence.ts';
import { AnswerLimit } from './answer-limit.ts';
import { backoffDelay } from './backoff.ts';
import { rangeOf, readCachedList } from './cached-list.ts';
import { type CachedListOptions, type ListPage, subjectOf } from './client.ts';
import { type Clock, type Random, sleep, systemClock, type TimerHandle } from './clock.ts';
import type { Delta, DeltaListener } from './delta.ts';
import { isKubeError, KubeError } from './errors.ts';
import type { CacheCounters, CacheNotice, CacheState, ListReason, ListWatchOptions } from './list-watch-options.ts';
import { CacheContents } from './cache-contents.ts';
import { isGone, keyOf, type KubeObject, type ObjectKey, type Resource } from './resource.ts';
import { isAtMost } from './resource-version.ts';
import { RetryDelay } from './retry-delay.ts';
import { callIsolated } from './isolated-call.ts';
import { type FollowedEvent, runWatch, type WatchEnd } from './watch-run.ts';

export type { CacheCounters, CacheNotice, CacheState, ListReason, ListWatchOptions } from './list-watch-options.ts';

/** Range of `timeoutSeconds` while no bookmark was received: a server sends one right before it ends a watch. */
const UNPROVEN_SECONDS = [60, 70] as const;

/** After so many failures in a row the cache relists instead of resuming the watch. */
const RESUMES = 4;

const SLICE = 250;

/** Most lists in a row of which each lacks other objects. */
const MOST_SECOND_LISTS = 4;
/** The delay between lists that are not accepted stops growing after so many: the next one may be right. */
const DOUBTED_ATTEMPTS = 3;

/**
 * Objects of the first page if a long list is read from the server's cache: only the number of objects is needed of that page, and a thousand
 * custom resources cost the server half a second.
 */
const FEW = 100;

/**
 * A copy of a resource's objects, by list and watch. `start` begins, `close` ends.
 *
 * Guaranteed: the contents are complete up to `version` while `state` is `synced`; before the first full list `ready` is false. Listeners
 * get every change as a delta, in the order of resource versions. A deletion that list or watch delivered is never undone by a late reply
 * to an own write. An object that a list lacks, and no event reported as deleted, is kept until its absence is confirmed by name
 * (`absence.ts`).
 *
 * Retried: list and watch, until `close()`. A watch that ends or falls silent is resumed from the last version; after 410, after several
 * failures, after an undecodable event, and every 30 minutes the cache relists. Failures back off up to 30 s, or as `Retry-After` says.
 *
 * Costs: all trimmed objects in memory; a list at the start and every 30 minutes; one open watch.
 */
export class ListWatchCache<T extends KubeObject> {
  readonly resource: Resource;
  readonly counters: CacheCounters = {
    lists: { first: 0, gone: 0, undecodable: 0, errors: 0, periodic: 0, 'not-served': 0, behind: 0 },
    watches: 0,
    events: 0,
    bookmarks: 0,
    outdated: 0,
    undecodable: 0,
    silences: 0,
    failures: 0,
    healed: 0,
    doubted: 0,
  };
  readonly #options: ListWatchOptions<T>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #held = new CacheContents<T>();
  readonly #retry: RetryDelay;
  readonly #listeners = new Set<DeltaListener<T>>();
  readonly #stateListeners = new Set<(state: CacheState) => void>();
  readonly #stop = new AbortController();
  #again = new AbortController();
  #running: Promise<void> | undefined;
  #state: CacheState = 'listing';
  #complete = false;
  #mayBeBehind = false;
  /** Up to which version the last list shows everything, if less than its first page. */
  #shownFrom: string | undefined;
  /** The newest version in etcd when the list began for which `mayBeBehind` is set. */
  #askedAt = '';
  #failures = 0;
  #notServedSince: number | undefined;
  #relistAt = Infinity;
  #lastReceivedAt: number | undefined;
  /** Whether the server sends bookmarks of this resource, and has not been silent since. */
  #sendsBookmarks = false;
  /** Ends the watch under way as silent. */
  #overdue = new AbortController();
  /** Runs while an event is expected. */
  #expecting: TimerHandle;

  constructor(options: ListWatchOptions<T>) {
    this.resource = options.resource;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#retry = new RetryDelay(this.#clock, this.#random);
  }

  get state(): CacheState {
    return this.#state;
  }

  /** Whether a full list was read, or the resource is optional and not served: the contents can be used. */
  get ready(): boolean {
    return this.#state !== 'closed' && (this.#complete || (this.#options.optional === true && this.#state === 'not-served'));
  }

  get size(): number {
    return this.#held.objects.size;
  }

  /** The newest version that list or watch delivered. */
  get version(): string | undefined {
    return this.#held.version;
  }

  /**
   * Whether the contents may lack writes from before the list: it came from the server's cache, and servers before 1.31 do not compare that
   * with etcd. False once `reached` or `reachedList` is true.
   */
  get mayBeBehind(): boolean {
    return this.#mayBeBehind;
  }

  /**
   * Whether list and watch have delivered the version of a write to one of these objects, and so all earlier writes.
   */
  reached(version: string): boolean {
    if (!isAtMost(version, this.#held.version ?? '')) return false;
    this.#mayBeBehind = false;
    return true;
  }

  /**
   * Whether they have delivered etcd's newest version at the time of a list that may be behind: then nothing is missing that pages from etcd
   * would have had.
   */
  reachedList(): boolean {
    return this.reached(this.#askedAt);
  }

  /** When anything was last received, in the clock's milliseconds. */
  get lastReceivedAt(): number | undefined {
    return this.#lastReceivedAt;
  }

  /** @param key `namespace/name`, or `name` for cluster scope */
  get(key: ObjectKey): T | undefined {
    return this.#held.objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#held.objects.values();
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#held.objects.keys();
  }

  /** Calls `listener` for changes from now on; the present contents are in `values`. @returns ends the calls */
  onDelta(listener: DeltaListener<T>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onState(listener: (state: CacheState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  /** Resolves when `ready`. @throws KubeError KUBE_CLOSED if the cache is closed before */
  untilSynced(): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        if (this.ready) resolve();
        else if (this.#state === 'closed') reject(new KubeError('KUBE_CLOSED', this.#subject('list'), 'the cache is closed'));
        else return false;
        return true;
      };
      if (look()) return;
      const remove = this.onState(() => {
        if (look()) remove();
      });
    });
  }

  /** Ends the watch and lists again, from etcd. */
  relist(): void {
    this.#again.abort();
  }

  /** Shortens the wait after a failure to some seconds: the server has answered another request. Not before its `Retry-After`. */
  retrySoon(): void {
    this.#retry.shorten();
  }

  async close(): Promise<void> {
    this.#setState('closed');
    this.#clock.clearTimeout(this.#expecting);
    this.#stop.abort();
    this.#again.abort();
    await this.#running;
  }

  /**
   * Takes the object from the reply to an own write, before the watch delivers it. Ignored if the watch is past its version. Only for objects
   * that match this cache's namespace and selectors.
   */
  applyOwn(object: T): void {
    if (this.#state === 'closed') return;
    const { uid = '' } = object.metadata;
    // Before trimming: a trimmed Namespace lacks the finalizers of its spec.
    this.#deliver(isGone(object) ? this.#held.ownDelete(keyOf(object.metadata), uid) : this.#held.own(this.#trim(object)));
    this.expectEvent(object.metadata.resourceVersion);
  }

  /**
   * The answer to a request is ahead of the watch. If the watch receives nothing at all within `ownSilenceMs`, its connection is dead, and it is
   * opened again.
   *
   * @param version of the expected event, if known
   */
  expectEvent(version?: string): void {
    const come = (): boolean => version !== undefined && isAtMost(version, this.#held.version ?? '');
    if (this.#expecting !== undefined || this.#state === 'closed' || come()) return;
    const since = this.#clock.now();
    const watch = this.#overdue;
    this.#expecting = this.#clock.setTimeout(() => {
      this.#expecting = undefined;
      if (!come() && (this.#lastReceivedAt ?? 0) <= since) watch.abort();
    }, this.#options.ownSilenceMs ?? 15_000);
  }

  /** To be called after an own write removed the object with this uid. */
  applyOwnDelete(key: ObjectKey, uid: string): void {
    if (this.#state !== 'closed') this.#deliver(this.#held.ownDelete(key, uid));
  }

  async #run(): Promise<void> {
    let reason: ListReason | undefined = 'first';
    while (!this.#stop.signal.aborted) {
      try {
        if (reason !== undefined) {
          await this.#list(reason);
          reason = undefined;
        }
        reason = await this.#watch();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        const wanted = this.#again.signal.aborted;
        if (wanted) this.#again = new AbortController();
        reason = wanted ? 'behind' : await this.#recover(asKubeError(error, this.#subject('watch')), reason);
      }
    }
  }

  async #list(reason: ListReason): Promise<void> {
    const started = this.#clock.now();
    try {
      await this.#read(reason);
      await this.#confirmAbsences(reason);
      this.#deliverListed(reason, this.#held.endList(this.#shownFrom));
    } finally {
      this.#held.abandonList();
    }
    this.counters.lists[reason]++;
    this.#complete = true;
    this.#notServedSince = undefined;
    const interval = this.#options.relistIntervalMs ?? 30 * 60_000;
    this.#relistAt = interval === 0 ? Infinity : this.#clock.now() + interval * (0.8 + 0.4 * this.#random());
    this.#setState('synced');
    this.#notice({ kind: 'list', reason, objects: this.size, durationMs: this.#clock.now() - started });
  }

  async #read(reason: ListReason): Promise<void> {
    try {
      await this.#pages(reason, this.#options.pageSize ?? 500);
    } catch (error) {
      // The continue token of a long list expired: list again in a single answer, which cannot expire.
      if (!isKubeError(error, 'KUBE_GONE')) throw error;
      await this.#pages(reason, undefined);
    }
  }

  /**
   * Objects that disappeared without a deletion event stay until the server answers 404 to their names, or, if that is not enough, until a
   * second list lacks them too. @throws KubeError KUBE_LIST_DOUBTED if the server has one of them
   */
  async #confirmAbsences(reason: ListReason): Promise<void> {
    const { client, shrunkListMs = SHRUNK_LIST_MS } = this.#options;
    const suspected = new Set<string>();
    for (let lists = 1; ; lists++) {
      const unlisted = this.#held.unlisted(this.#shownFrom);
      const fresh = unlisted.filter(({ metadata: { uid = '' } }) => !suspected.has(uid));
      if (fresh.length === 0) return;
      const absence = await confirmAbsent(
        client,
        this.resource,
        fresh.map(({ metadata: { name, namespace, uid } }) => ({ name, namespace, uid })),
        this.#stop.signal,
      );
      const againInMs = secondListAfter(fresh.length, this.size, absence, shrunkListMs);
      if (againInMs === undefined) return;
      if (lists > MOST_SECOND_LISTS) throw listDoubted(this.resource, fresh.length, 'each list lacks others');
      for (const { metadata } of fresh) suspected.add(metadata.uid ?? '');
      this.#notice({ kind: 'shrunk', absent: fresh.length, had: this.size, againInMs });
      if (this.#complete) this.#setState('stale');
      await sleep(this.#clock, againInMs, this.#stop.signal);
      await this.#read(reason);
    }
  }

  async #pages(reason: ListReason, limit: number | undefined): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, cachedAbove } = this.#options;
    // Only a page requested in advance can be under way when this ends: most lists have one page.
    let ahead: AbortController | undefined;
    const what = { namespace, labelSelector, fieldSelector, signal: this.#stop.signal, whole: new AnswerLimit() };
    const ask = (token?: string): Promise<ListPage<T>> => {
      const over = token === undefined ? undefined : (ahead ??= new AbortController()).signal;
      const signal = over === undefined ? what.signal : AbortSignal.any([over, what.signal]);
      const few = token === undefined && reason === 'first' && cachedAbove !== undefined && limit !== undefined;
      return client.list<T>(resource, { ...what, signal, limit: few ? Math.min(FEW, limit) : limit, continue: token });
    };
    this.#held.beginList();
    this.#shownFrom = undefined;
    try {
      let coming: Promise<ListPage<T>> | undefined = ask();
      for (let at = 0; coming !== undefined; at++) {
        const page: ListPage<T> = await coming;
        if (this.#stop.signal.aborted) throw new KubeError('KUBE_CLOSED', this.#subject('list'), 'aborted');
        this.#lastReceivedAt = this.#clock.now();
        if (reason === 'first' && at === 0 && (await this.#takeCached(page, what))) return;
        // The server prepares the next page while this one is processed.
        coming = page.continue === undefined ? undefined : ask(page.continue);
        coming?.catch(() => undefined);
        const objects = page.items.map((item) => this.#trim(item));
        await this.#takeSlices(reason, objects, page.resourceVersion);
      }
      this.#mayBeBehind = false;
    } finally {
      ahead?.abort();
    }
  }

  /** Reads a long list from the server's cache, unless that is behind. @returns whether the list was accepted */
  async #takeCached(first: ListPage<T>, options: CachedListOptions): Promise<boolean> {
    const { client, resource, cachedAbove = Infinity, cachedLock, unread } = this.#options;
    const count = first.items.length + (first.remaining ?? 0);
    if (count <= cachedAbove) return false;
    const take = (item: KubeObject): T => {
      this.#lastReceivedAt = this.#clock.now();
      return this.#trim(item as T);
    };
    const selectors = (await this.#options.cachedParts?.(count)) ?? [options.labelSelector];
    const ended = new AbortController();
    const signal = options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
    const coming = selectors.map((labelSelector) =>
      readCachedList(client, resource, { ...options, labelSelector, signal, unread }, take, cachedLock),
    );
    const versions: string[] = [];
    let taken = 0;
    try {
      for (const part of coming) {
        const cached = await part;
        if (cached === undefined) return this.#giveUpParts(taken);
        const { objects, version } = cached;
        // A list in one part with another number of objects cannot be used.
        if (selectors.length === 1 && objects.length !== count && !isAtMost(first.resourceVersion, version)) return false;
        versions.push(version);
        taken += objects.length;
        await this.#takeSlices('first', objects, version);
      }
      const shown = rangeOf(versions);
      if (shown === undefined) return this.#giveUpParts(taken);
      // An object whose label changed between the parts may be in none of them, until the watch delivers its event.
      const behind = !isAtMost(first.resourceVersion, shown.from) || shown.from !== shown.to;
      if (behind && taken !== count) return this.#giveUpParts(taken);
      this.#shownFrom = shown.from;
      this.#mayBeBehind = behind;
      this.#askedAt = isAtMost(first.resourceVersion, shown.to) ? shown.to : first.resourceVersion;
      return true;
    } finally {
      ended.abort();
    }
  }

  /** Objects of the dropped parts are removed if the pages that follow lack them. */
  #giveUpParts(taken: number): false {
    if (taken > 0) this.#held.beginList();
    return false;
  }

  /** Processes some objects at a time, so that the event loop is not blocked. */
  async #takeSlices(reason: ListReason, objects: readonly T[], version: string): Promise<void> {
    for (let at = 0; at === 0 || at < objects.length; at += SLICE) {
      this.#deliverListed(reason, this.#held.page(objects.slice(at, at + SLICE), version));
      if (objects.length <= SLICE) return;
      await new Promise(setImmediate);
      if (this.#stop.signal.aborted) throw new KubeError('KUBE_CLOSED', this.#subject('list'), 'aborted');
    }
  }

  /** Watches until there is a reason to relist; resumes from the last version as long as the server accepts it. */
  async #watch(): Promise<ListReason | undefined> {
    const { client, resource, namespace, labelSelector, fieldSelector } = this.#options;
    const timeoutSeconds = this.#timeoutSeconds();
    const started = this.#clock.now();
    const untilRelist = this.#relistAt - started;
    if (untilRelist <= 0) return 'periodic';
    const bookmarkSilenceMs = this.#options.bookmarkSilenceMs ?? 100_000;
    this.#overdue = new AbortController();
    const end: WatchEnd = await runWatch<T>({
      resource,
      subject: this.#subject('watch'),
      clock: this.#clock,
      signal: this.#again.signal,
      open: (signal) =>
        client.watch(resource, {
          namespace,
          labelSelector,
          fieldSelector,
          resourceVersion: this.#held.version ?? '',
          timeoutSeconds,
          signal,
        }),
      limitMs: untilRelist,
      silenceMs: this.#sendsBookmarks ? bookmarkSilenceMs : timeoutSeconds * 1000 + (this.#options.graceMs ?? 30_000),
      bookmarkSilenceMs,
      overdue: this.#overdue.signal,
      opened: () => {
        this.counters.watches++;
        this.#lastReceivedAt = this.#clock.now();
        this.#setState('synced');
      },
      events: (events) => this.#take(events),
    });
    switch (end.kind) {
      case 'limit':
        return 'periodic';
      case 'gone':
        if (this.#failures++ > 0) await this.#pause(this.#failures);
        return 'gone';
      case 'undecodable':
        this.counters.undecodable++;
        this.#notice({ kind: 'undecodable', error: end.error });
        // A server that sends the same bad event again must not be asked in a tight loop.
        await this.#pause(this.#failures++);
        return 'undecodable';
      case 'failed':
        throw end.error;
      case 'silent': {
        // Silence from the start is no failure if bookmarks were received before: servers before 1.21 send no bookmark of the start version, and a
        // restarted server sends none before the first change of the resource.
        const quiet = this.#sendsBookmarks && end.fromTheStart;
        this.#sendsBookmarks = false;
        this.counters.silences++;
        if (quiet) return undefined;
        throw end.error;
      }
      case 'ended':
        // Otherwise a server that closes watches at once would be asked in a tight loop.
        if (this.#clock.now() - started < 1000) await this.#pause(Math.min(this.#failures++, 3));
        else this.#failures = 0;
        return undefined;
    }
  }

  /** Short without bookmarks: then only the end of the watch shows that the connection is alive. */
  #timeoutSeconds(): number {
    const drawn = this.#random();
    const from = ([shortest, longest]: readonly [number, number]): number =>
      Math.max(1, Math.round(shortest + (longest - shortest) * drawn));
    const wanted = from(this.#options.watchSeconds ?? [300, 600]);
    return this.#sendsBookmarks ? wanted : Math.min(wanted, from(UNPROVEN_SECONDS));
  }

  #take(events: readonly FollowedEvent<T>[]): void {
    const deltas: Delta<T>[] = [];
    this.#lastReceivedAt = this.#clock.now();
    this.#failures = 0;
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        this.counters.bookmarks++;
        this.#sendsBookmarks = true;
        this.#held.bookmark(event.version);
      } else {
        this.counters.events++;
        if (!this.#held.event(event.type, this.#trim(event.object), deltas)) this.counters.outdated++;
      }
    }
    this.#deliver(deltas);
  }

  /** Waits after a failure. @returns why to relist, or undefined to resume the watch */
  async #recover(error: KubeError, wasListing: ListReason | undefined): Promise<ListReason | undefined> {
    this.counters.failures++;
    // A first 410 is the usual end of an old version; a second one, before anything was received, is a failure.
    if (error.code === 'KUBE_GONE' && this.#failures++ === 0) return wasListing ?? 'gone';
    if (error.code === 'KUBE_NOT_SERVED' || error.code === 'KUBE_NOT_FOUND') {
      await this.#notServed(error);
      return 'not-served';
    }
    if (this.#complete) this.#setState('stale');
    const attempt = this.#failures++;
    if (error.code === 'KUBE_LIST_DOUBTED') this.counters.doubted++;
    const answered = error.code === 'KUBE_LIST_DOUBTED' || error.code === 'KUBE_PROTOCOL';
    await this.#pause(answered ? Math.min(attempt, DOUBTED_ATTEMPTS) : attempt, error);
    return wasListing ?? (attempt + 1 >= RESUMES ? 'errors' : undefined);
  }

  async #notServed(error: KubeError): Promise<void> {
    const now = this.#clock.now();
    this.#notServedSince ??= now;
    const grace = this.#options.notServedGraceMs ?? (this.#options.optional === true ? 120_000 : Infinity);
    const { definitions } = this.#options;
    const over = now - this.#notServedSince >= grace && definitions?.isDeclared(this.resource) !== true;
    if (this.size > 0 && over) this.#deliver(this.#held.clear());
    this.#setState('not-served');
    const slow = (this.#options.notServedRetryMs ?? 30_000) * (0.8 + 0.4 * this.#random());
    this.#notice({ kind: 'failure', error, retryInMs: slow });
    // The remaining contents are removed when the grace period is over, also without a definition.
    if (definitions === undefined || this.size > 0) await sleep(this.#clock, slow, this.#stop.signal);
    else await definitions.untilServed(this.resource, slow, this.#stop.signal);
  }

  async #pause(attempt: number, error?: KubeError): Promise<void> {
    const [baseMs, maxMs] = this.#options.backoffMs ?? [500, 30_000];
    const delay = Math.max(error?.retryAfterMs ?? 0, backoffDelay(attempt, { baseMs, maxMs, random: this.#random }));
    if (error !== undefined) this.#notice({ kind: 'failure', error, retryInMs: delay });
    if (error === undefined || error.retryAfterMs !== undefined) await sleep(this.#clock, delay, this.#stop.signal);
    else await this.#retry.wait(delay, this.#stop.signal);
  }

  #deliverListed(reason: ListReason, deltas: readonly Delta<T>[]): void {
    if (reason === 'periodic') this.counters.healed += deltas.length;
    this.#deliver(deltas);
  }

  #deliver(deltas: readonly Delta<T>[]): void {
    if (deltas.length === 0) return;
    for (const listener of this.#listeners) callIsolated(() => listener(deltas));
  }

  #setState(state: CacheState): void {
    const before = this.#state;
    if (before === 'closed' || before === state) return;
    this.#state = state;
    this.#notice({ kind: 'state', state, before });
    for (const listener of [...this.#stateListeners]) callIsolated(() => listener(state));
  }

  #trim(object: T): T {
    return this.#options.trim === undefined ? object : this.#options.trim(object);
  }

  #notice(notice: CacheNotice): void {
    const { onNotice } = this.#options;
    if (onNotice !== undefined) callIsolated(() => onNotice(notice));
  }

  #subject(verb: string): ReturnType<typeof subjectOf> {
    return subjectOf(verb, this.resource, { namespace: this.#options.namespace });
  }
}

function asKubeError(error: unknown, subject: KubeError['subject']): KubeError {
  return error instanceof KubeError
    ? error
    : new KubeError('KUBE_PROTOCOL', subject, error instanceof Error ? error.message : String(error), { cause: error });
}
