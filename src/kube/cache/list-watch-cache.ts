/** Decides when a resource is listed and when it is watched. */
import { CacheCore } from './cache-core.ts';
import { CacheRecovery } from './cache-recovery.ts';
import { CacheWatch } from './cache-watch.ts';
import type { DeltaListener } from './delta.ts';
import { KubeError } from '../errors.ts';
import { FullList } from './full-list.ts';
import type { CacheCounters, CacheState, ListReason, ListWatchOptions } from './list-watch-options.ts';
import { isGone, keyOf, type KubeObject, type ObjectKey, type Resource } from '../resource.ts';
import { isAtMost } from './resource-version.ts';
import { sleep } from '../../timing/clock.ts';

export type { CacheCounters, CacheEvent, CacheState, ListReason, ListWatchOptions } from './list-watch-options.ts';

/**
 * A copy of a resource's objects, by list and watch. `start` begins, `close` ends.
 *
 * Guaranteed: the contents are complete up to `version` while `state` is `synced`; before the first full list `ready` is false. Listeners
 * get every change as a delta, in the order of resource versions. A deletion that list or watch delivered is never undone by a late reply
 * to an own write. An object that a list lacks, and no event reported as deleted, is kept until its absence is confirmed by name
 * (`absence.ts`).
 *
 * Retried: list and watch, until `close()`. A watch that ends or falls silent is resumed from the last version; after 410, after several
 * failures, where the server's data was restored from a backup, after an undecodable event, and every 30 minutes the cache relists. Failures back off up to 30 s, or as `Retry-After` requests.
 *
 * Costs: all trimmed objects in memory; a list at the start and every 30 minutes; one open watch.
 */
export class ListWatchCache<T extends KubeObject> {
  readonly resource: Resource;
  readonly counters: CacheCounters;
  readonly #core: CacheCore<T>;
  readonly #list: FullList<T>;
  readonly #recovery: CacheRecovery<T>;
  readonly #watch: CacheWatch<T>;
  #again = new AbortController();
  /** Why `#again` was aborted. */
  #againFor: ListReason = 'behind';
  #running: Promise<void> | undefined;
  #relistAt = Infinity;

  constructor(options: ListWatchOptions<T>) {
    this.resource = options.resource;
    this.#core = new CacheCore(options);
    this.counters = this.#core.counters;
    this.#list = new FullList(this.#core);
    this.#recovery = new CacheRecovery(this.#core);
    this.#watch = new CacheWatch(this.#core, this.#recovery);
  }

  get state(): CacheState {
    return this.#core.state;
  }

  /** Whether a full list was read, or the resource is optional and not served: the contents can be used. */
  get ready(): boolean {
    return this.state !== 'closed' && (this.#core.isComplete || (this.#core.options.optional === true && this.state === 'not-served'));
  }

  get size(): number {
    return this.#core.contents.objects.size;
  }

  /** The newest version that list or watch delivered. */
  get version(): string | undefined {
    return this.#core.contents.version;
  }

  /**
   * Whether the contents may lack writes from before the list: it came from the server's cache, and servers before 1.31 do not compare that
   * with etcd. False once `reached` or `reachedList` is true.
   */
  get mayBeBehind(): boolean {
    return this.#list.mayBeBehind;
  }

  /**
   * Whether list and watch have delivered the version of a write to one of these objects, and so all earlier writes.
   */
  reached(version: string): boolean {
    if (!isAtMost(version, this.#core.contents.version ?? '')) return false;
    this.#list.mayBeBehind = false;
    return true;
  }

  /**
   * Whether they have delivered etcd's newest version at the time of a list that may be behind: then nothing is missing that pages from
   * etcd would have had.
   */
  reachedList(): boolean {
    return this.reached(this.#list.askedAt);
  }

  /** When anything was last received, in the clock's milliseconds. */
  get lastReceivedAt(): number | undefined {
    return this.#core.lastReceivedAt;
  }

  /** @param key `namespace/name`, or `name` for cluster scope */
  get(key: ObjectKey): T | undefined {
    return this.#core.contents.objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#core.contents.objects.values();
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#core.contents.objects.keys();
  }

  /** Calls `listener` for changes from now on; the present contents are in `values`. @returns ends the calls */
  onDelta(listener: DeltaListener<T>): () => void {
    return this.#core.onDelta(listener);
  }

  /** Calls `listener` when list or watch have delivered something, be it a version alone. */
  onVersion(listener: () => void): void {
    this.#core.onVersion(listener);
  }

  onState(listener: (state: CacheState) => void): () => void {
    return this.#core.onState(listener);
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
        else if (this.state === 'closed') reject(new KubeError('KUBE_CLOSED', this.#core.subject('list'), 'the cache is closed'));
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

  /**
   * Another cache of the same server found that its data was restored from a backup: the contents are stale until they are listed
   * again. @returns whether there are any
   */
  restored(): boolean {
    if (!this.#core.isComplete || this.state === 'closed' || this.state === 'not-served') return false;
    this.#core.setState('stale');
    this.#againFor = 'restored';
    this.relist();
    this.retrySoon();
    return true;
  }

  /** Shortens the wait after a failure to some seconds: the server has answered another request. Not before its `Retry-After`. */
  retrySoon(): void {
    this.#recovery.retrySoon();
  }

  async close(): Promise<void> {
    this.#core.setState('closed');
    this.#watch.close();
    this.#core.stop.abort();
    this.#again.abort();
    await this.#running;
  }

  /**
   * Takes the object from the reply to an own write, before the watch delivers it. Ignored if the watch is past its version. Only for
   * objects that match this cache's namespace and selectors.
   */
  applyOwn(object: T): void {
    if (this.state === 'closed') return;
    const { uid = '' } = object.metadata;
    // Before trimming: a trimmed Namespace lacks the finalizers of its spec.
    this.#core.deliver(
      isGone(object) ? this.#core.contents.ownDelete(keyOf(object.metadata), uid) : this.#core.contents.own(this.#core.trim(object)),
    );
    this.expectEvent(object.metadata.resourceVersion);
  }

  /**
   * The answer to a request is ahead of the watch. If the watch receives nothing at all within `ownSilenceMs`, its connection is dead, and
   * it is opened again.
   *
   * @param version of the expected event, if known
   */
  expectEvent(version?: string): void {
    this.#watch.expectEvent(version);
  }

  /** To be called after an own write removed the object with this uid. */
  applyOwnDelete(key: ObjectKey, uid: string): void {
    if (this.state !== 'closed') this.#core.deliver(this.#core.contents.ownDelete(key, uid));
  }

  async #run(): Promise<void> {
    let reason: ListReason | undefined = 'first';
    const { options, clock, stop } = this.#core;
    const watchAt = clock.now() + (options.watchAfterMs ?? 0);
    while (!this.#core.stop.signal.aborted) {
      try {
        if (reason !== undefined) {
          await this.#readList(reason);
          reason = undefined;
          if (clock.now() < watchAt) await sleep(clock, watchAt - clock.now(), stop.signal);
          if (stop.signal.aborted) return;
        }
        reason = await this.#watch.follow(this.#relistAt, this.#again.signal);
        // What its listeners asked for meanwhile is that list.
        if (reason === 'restored') this.#again = new AbortController();
      } catch (error) {
        if (this.#core.stop.signal.aborted) return;
        const wanted = this.#again.signal.aborted;
        if (wanted) this.#again = new AbortController();
        if (!wanted) this.#watch.failed();
        reason = wanted ? this.#againFor : await this.#recovery.recover(asKubeError(error, this.#core.subject('watch')), reason);
      }
    }
  }

  async #readList(reason: ListReason): Promise<void> {
    const { options, clock, random } = this.#core;
    const started = clock.now();
    await this.#list.read(reason);
    this.#againFor = 'behind';
    this.counters.lists[reason]++;
    this.#core.isComplete = true;
    this.#recovery.listed();
    const interval = options.relistIntervalMs ?? 30 * 60_000;
    this.#relistAt = interval === 0 ? Infinity : clock.now() + interval * (0.8 + 0.4 * random());
    this.#core.setState('synced');
    this.#core.advanced();
    this.#core.emit({ kind: 'list', reason, objects: this.size, durationMs: clock.now() - started });
  }
}

function asKubeError(error: unknown, subject: KubeError['subject']): KubeError {
  return error instanceof KubeError
    ? error
    : new KubeError('KUBE_PROTOCOL', subject, error instanceof Error ? error.message : String(error), { cause: error });
}
