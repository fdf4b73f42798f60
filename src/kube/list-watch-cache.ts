/** One resource, listed and followed. Long, because list, watch, recovery and what is told of them are one state. */
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

/** Range of `timeoutSeconds` while no bookmark was seen: a server sends one right before it ends a watch. */
const UNPROVEN_SECONDS = [60, 70] as const;

/** Failures in a row after which resuming is given up for a full list. */
const RESUMES = 4;

const SLICE = 250;

/** Lists in a row that each lack something else. */
const MOST_SECOND_LISTS = 4;
/** Failures after which a list that is not believed is asked for no less often: an honest one ends the doubt. */
const DOUBTED_ATTEMPTS = 3;

/**
 * Objects of the first page where a long list is read from the server's cache: how many there are is all that is needed of it then, and a
 * thousand custom resources cost the server half a second.
 */
const FEW = 100;

/** An always current copy of a resource's objects, by list and watch. `start` begins, `close` ends. */
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
  /** Up to which version the last list shows everything, where that is less than its first page. */
  #shownFrom: string | undefined;
  /** What the server's database had come to when the list began that `mayBeBehind` is said of. */
  #askedAt = '';
  #failures = 0;
  #notServedSince: number | undefined;
  #relistAt = Infinity;
  #lastReceivedAt: number | undefined;
  /** The server was seen to send bookmarks of this resource, and has not been silent since. */
  #sendsBookmarks = false;
  /** Ends the watch under way as silent. */
  #overdue = new AbortController();
  /** Runs while an event has to come. */
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

  /** A full list was read at some time, or the resource is optional and not served: what is held can be used. */
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
   * What is held may lack what was written before the list was asked for, until `reached` says otherwise: it came from the server's own
   * cache, and servers before 1.31 do not ask their database how far it is.
   */
  get mayBeBehind(): boolean {
    return this.#mayBeBehind;
  }

  /**
   * Whether list and watch have come to the version that a write of one of these objects was answered with, and hence to all that was
   * written before.
   */
  reached(version: string): boolean {
    if (!isAtMost(version, this.#held.version ?? '')) return false;
    this.#mayBeBehind = false;
    return true;
  }

  /**
   * Whether they have come to what the server's database had when a list that may be behind was asked for: then nothing is missing that pages
   * from the database would have shown.
   */
  reachedList(): boolean {
    return this.reached(this.#askedAt);
  }

  /** When the server last sent anything, in the clock's milliseconds. */
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

  /** Listeners get what changes from now on; what is held already is in `values`. @returns its removal */
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

  /** Resolves when `ready`. @throws KubeError KUBE_CLOSED when the cache is closed before */
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

  /** Ends the watch and lists anew, from the server's database. */
  relist(): void {
    this.#again.abort();
  }

  /** After a failure, tries again within some seconds: the server has answered somebody else. Not where it said how long to wait. */
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
   * Takes in the object of a reply to a write of our own before the watch shows it. Ignored where the watch has been
   * past it. Only for objects that this cache's namespace and selectors cover.
   */
  applyOwn(object: T): void {
    if (this.#state === 'closed') return;
    const { uid = '' } = object.metadata;
    // Before it is trimmed: what is left of a Namespace does not tell.
    this.#deliver(isGone(object) ? this.#held.ownDelete(keyOf(object.metadata), uid) : this.#held.own(this.#trim(object)));
    this.expectEvent(object.metadata.resourceVersion);
  }

  /**
   * The server answered a request with what no event has told yet: a watch of which nothing at all is heard within `ownSilenceMs` is dead,
   * though nobody closed it, and is opened again.
   *
   * @param version of the event, where it is known
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

  /** Takes in that a write of our own removed the object with this uid. */
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
      // The token of a long list expired under way: once more in a single answer, which cannot expire.
      if (!isKubeError(error, 'KUBE_GONE')) throw error;
      await this.#pages(reason, undefined);
    }
  }

  /**
   * What vanished without its deletion having been seen stays until the server denies it by name, or, where that is not enough, until a second
   * list lacks it as well. @throws KubeError KUBE_LIST_DOUBTED where the server has it
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
    // Only a page that is asked for ahead can be under way when this ends: most lists have one.
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
        // The server makes the next page while this one is taken in.
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

  /** A long list is read from the server's cache, unless that shows to be behind. @returns whether it was */
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
        // Of a list in one part it is known by now that it cannot be used.
        if (selectors.length === 1 && objects.length !== count && !isAtMost(first.resourceVersion, version)) return false;
        versions.push(version);
        taken += objects.length;
        await this.#takeSlices('first', objects, version);
      }
      const shown = rangeOf(versions);
      if (shown === undefined) return this.#giveUpParts(taken);
      // What moved from part to part between two states may be in none, until the watch has told of it.
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

  /** What parts showed is gone where the pages that follow do not show it. */
  #giveUpParts(taken: number): false {
    if (taken > 0) this.#held.beginList();
    return false;
  }

  /** Some at a time: others have their turns meanwhile. */
  async #takeSlices(reason: ListReason, objects: readonly T[], version: string): Promise<void> {
    for (let at = 0; at === 0 || at < objects.length; at += SLICE) {
      this.#deliverListed(reason, this.#held.page(objects.slice(at, at + SLICE), version));
      if (objects.length <= SLICE) return;
      await new Promise(setImmediate);
      if (this.#stop.signal.aborted) throw new KubeError('KUBE_CLOSED', this.#subject('list'), 'aborted');
    }
  }

  /** Follows until there is a reason to list; resumes as long as the server lets us. */
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
        // A server that sends the same again must not be asked in a tight loop.
        await this.#pause(this.#failures++);
        return 'undecodable';
      case 'failed':
        throw end.error;
      case 'silent': {
        // Servers before 1.21 send no bookmark of the version that a watch began with, and one that was started anew none of a resource
        // before something happens to it: only where it was never so, or something was heard, is it in trouble.
        const quiet = this.#sendsBookmarks && end.fromTheStart;
        this.#sendsBookmarks = false;
        this.counters.silences++;
        if (quiet) return undefined;
        throw end.error;
      }
      case 'ended':
        // A server that closes watches at once would otherwise be asked in a tight loop.
        if (this.#clock.now() - started < 1000) await this.#pause(Math.min(this.#failures++, 3));
        else this.#failures = 0;
        return undefined;
    }
  }

  /** Short where only its end can tell that the server still lives: a connection may hang that nobody closes. */
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

  /** Waits as the failure asks. @returns why to list next, or undefined to resume the watch */
  async #recover(error: KubeError, wasListing: ListReason | undefined): Promise<ListReason | undefined> {
    this.counters.failures++;
    // Once is the usual end of an old version; again, before anything was heard, is a server in trouble.
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
    // What is still held goes when its grace is over, whatever becomes of the definition.
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
