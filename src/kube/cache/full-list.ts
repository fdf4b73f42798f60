/**
 * Reads the whole list of a resource into the contents of a cache: in pages, or a long one from the server's own cache. Objects that a list
 * lacks are confirmed as absent before they count as gone.
 */
import { confirmAbsent, listDoubted, secondListAfter, SHRUNK_LIST_MS } from './absence.ts';
import { AnswerLimit } from '../transport/answer-limit.ts';
import type { CacheCore } from './cache-core.ts';
import { rangeOf, readCachedList } from './cached-list.ts';
import type { CachedListOptions, ListPage } from '../client/client.ts';
import { sleep } from '../../timing/clock.ts';
import type { Delta } from './delta.ts';
import { isKubeError, KubeError } from '../errors.ts';
import type { ListReason } from './list-watch-options.ts';
import type { KubeObject } from '../resource.ts';
import { isAtMost } from './resource-version.ts';

const SLICE = 250;

/** Most lists in a row of which each lacks other objects. */
const MOST_SECOND_LISTS = 4;

/**
 * Objects of the first page if a long list is read from the server's cache: only the number of objects is needed of that page, and a
 * thousand custom resources cost the server half a second.
 */
const FEW = 100;

export class FullList<T extends KubeObject> {
  readonly #core: CacheCore<T>;
  /** The last list came from the server's cache, and may lack writes from before it. */
  mayBeBehind = false;
  /** The newest version in etcd when the list began for which `mayBeBehind` is set. */
  #askedAt = '';
  /** Up to which version the last list shows everything, if less than its first page. */
  #shownFrom: string | undefined;

  constructor(core: CacheCore<T>) {
    this.#core = core;
  }

  get askedAt(): string {
    return this.#askedAt;
  }

  /** @throws KubeError if the list cannot be read or is not accepted */
  async read(reason: ListReason): Promise<void> {
    const { contents } = this.#core;
    try {
      await this.#readOnce(reason);
      await this.#confirmAbsences(reason);
      this.#deliverListed(reason, contents.endList(this.#shownFrom));
    } finally {
      contents.abandonList();
    }
  }

  async #readOnce(reason: ListReason): Promise<void> {
    try {
      await this.#pages(reason, this.#core.options.pageSize ?? 500);
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
    const { client, shrunkListMs = SHRUNK_LIST_MS } = this.#core.options;
    const suspected = new Set<string>();
    for (let lists = 1; ; lists++) {
      const unlisted = this.#core.contents.unlisted(this.#shownFrom);
      const fresh = unlisted.filter(({ metadata: { uid = '' } }) => !suspected.has(uid));
      if (fresh.length === 0) return;
      const absence = await confirmAbsent(
        client,
        this.#core.resource,
        fresh.map(({ metadata: { name, namespace, uid } }) => ({ name, namespace, uid })),
        this.#core.stop.signal,
      );
      const againInMs = secondListAfter(fresh.length, this.#core.contents.objects.size, absence, shrunkListMs);
      if (againInMs === undefined) return;
      if (lists > MOST_SECOND_LISTS) throw listDoubted(this.#core.resource, fresh.length, 'each list lacks others');
      for (const { metadata } of fresh) suspected.add(metadata.uid ?? '');
      this.#core.emit({ kind: 'shrunk', absent: fresh.length, had: this.#core.contents.objects.size, againInMs });
      if (this.#core.isComplete) this.#core.setState('stale');
      await sleep(this.#core.clock, againInMs, this.#core.stop.signal);
      await this.#readOnce(reason);
    }
  }

  async #pages(reason: ListReason, limit: number | undefined): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, cachedAbove } = this.#core.options;
    // Only a page requested in advance can be under way when this ends: most lists have one page.
    let ahead: AbortController | undefined;
    const what = { namespace, labelSelector, fieldSelector, signal: this.#core.stop.signal, whole: new AnswerLimit() };
    const ask = (token?: string): Promise<ListPage<T>> => {
      const over = token === undefined ? undefined : (ahead ??= new AbortController()).signal;
      const signal = over === undefined ? what.signal : AbortSignal.any([over, what.signal]);
      const few = token === undefined && reason === 'first' && cachedAbove !== undefined && limit !== undefined;
      return client.list<T>(resource, { ...what, signal, limit: few ? Math.min(FEW, limit) : limit, continue: token });
    };
    this.#core.contents.beginList();
    this.#shownFrom = undefined;
    try {
      let coming: Promise<ListPage<T>> | undefined = ask();
      for (let at = 0; coming !== undefined; at++) {
        const page: ListPage<T> = await coming;
        if (this.#core.stop.signal.aborted) throw new KubeError('KUBE_CLOSED', this.#core.subject('list'), 'aborted');
        this.#core.received();
        if (reason === 'first' && at === 0 && (await this.#takeCached(page, what))) return;
        // The server prepares the next page while this one is processed.
        coming = page.continue === undefined ? undefined : ask(page.continue);
        coming?.catch(() => undefined);
        const objects = page.items.map((item) => this.#core.trim(item));
        await this.#takeSlices(reason, objects, page.resourceVersion);
      }
      this.mayBeBehind = false;
    } finally {
      ahead?.abort();
    }
  }

  /** Reads a long list from the server's cache, unless that is behind. @returns whether the list was accepted */
  async #takeCached(first: ListPage<T>, options: CachedListOptions): Promise<boolean> {
    const { client, resource, cachedAbove = Infinity, cachedLock, unread } = this.#core.options;
    const count = first.items.length + (first.remaining ?? 0);
    if (count <= cachedAbove) return false;
    const take = (item: KubeObject): T => {
      this.#core.received();
      return this.#core.trim(item as T);
    };
    const selectors = (await this.#core.options.cachedParts?.(count)) ?? [options.labelSelector];
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
      this.mayBeBehind = behind;
      this.#askedAt = isAtMost(first.resourceVersion, shown.to) ? shown.to : first.resourceVersion;
      return true;
    } finally {
      ended.abort();
    }
  }

  /** Objects of the dropped parts are removed if the pages that follow lack them. */
  #giveUpParts(taken: number): false {
    if (taken > 0) this.#core.contents.beginList();
    return false;
  }

  /** Processes some objects at a time, so that the event loop is not blocked. */
  async #takeSlices(reason: ListReason, objects: readonly T[], version: string): Promise<void> {
    for (let at = 0; at === 0 || at < objects.length; at += SLICE) {
      this.#deliverListed(reason, this.#core.contents.page(objects.slice(at, at + SLICE), version));
      if (objects.length <= SLICE) return;
      await new Promise(setImmediate);
      if (this.#core.stop.signal.aborted) throw new KubeError('KUBE_CLOSED', this.#core.subject('list'), 'aborted');
    }
  }

  #deliverListed(reason: ListReason, deltas: readonly Delta<T>[]): void {
    if (reason === 'periodic') this.#core.counters.healed += deltas.length;
    this.#core.deliver(deltas);
  }
}
