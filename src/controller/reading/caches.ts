/**
 * The caches: one list-watch for each resource, feeding a table of the World. The file is long because one class owns all caches.
 */
import type { ObjectSource } from '../../commit/object-writer.ts';
import type { AnyObject } from '../../diff/object-diff.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Gate, GateKeeper } from '../../timing/gate.ts';
import type { Clock, Random } from '../../timing/clock.ts';
import type { DefinitionWatch } from '../../kube/cache/definition-watch.ts';
import type { KubeError, KubeErrorCode } from '../../kube/errors.ts';
import type { Delta } from '../../kube/cache/delta.ts';
import type { CacheCounters, CacheEvent } from '../../kube/cache/list-watch-cache.ts';
import { ListWatchCache } from '../../kube/cache/list-watch-cache.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { Mutex } from '../../kube/cache/mutex.ts';
import type { ResourceName } from '../../world/resources.ts';
import { keyOf, RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { AnswersAhead } from './answers-ahead.ts';
import { ipParts } from './ip-parts.ts';
import { LateChanges } from './late-changes.ts';
import { fileObject, isObserved, keptOf } from './observed-objects.ts';
import { RESOURCE_OF_OWNER_KIND, resourceOfOwner } from './row-owners.ts';
import type { Untrimmed } from '../../world/trim.ts';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly world: World;
  readonly clock: Clock;
  readonly random?: Random;
  /** Called after each batch of changes, with the objects that changed. */
  readonly changed: (resource: ResourceName, keys: readonly string[]) => void;
  /** Called for each change, before it enters the World. */
  readonly observed?: (resource: ResourceName, delta: Delta<KubeObject>) => void;
  /** Objects are gone without an event: deleted while no watch was open, or the server lost them. */
  readonly inferredDeletions: (resource: ResourceName, count: number) => void;
  readonly onCacheEvent?: (resource: ResourceName, event: CacheEvent) => void;
  /** Undefined in a process that does not write. */
  readonly later?: (ms: number, run: () => void) => void;
  /** See `ListWatchOptions.shrunkListMs`. */
  readonly shrunkListMs?: number;
  /** Undefined: missing kinds are tried again from time to time. */
  readonly definitions?: DefinitionWatch;
  /** See `ListWatchOptions.watchAfterMs`. */
  readonly watchAfterMs?: number;
  /** Number of pods or IP objects above which the first list is read from the server's cache. */
  readonly cachedAbove?: number;
}

/** The state of one cache, for metrics. */
export interface CacheObservation {
  readonly kind: string;
  readonly objects: number;
  /** False if the server does not know the kind. */
  readonly served: boolean;
  /** Monotonic milliseconds. */
  readonly lastReceivedAt: number | undefined;
  readonly counters: CacheCounters;
}

/** Objects a page: for each page the server counts all objects. */
const PAGE = 1_000;
/** Default of `cachedAbove`. */
const MANY = 5_000;

/** Errors of the answer, not of the connection. */
const DOUBTFUL: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>(['KUBE_PROTOCOL', 'KUBE_ANSWER_TOO_LARGE', 'KUBE_LIST_DOUBTED']);

interface Entry {
  readonly resource: ResourceName;
  readonly cache: ListWatchCache<KubeObject>;
  readonly optional: boolean;
}

export class Caches implements ObjectSource {
  readonly #options: CachesOptions;
  #ready = false;
  readonly #caches = new Map<ResourceName, Entry>();
  /** Owners `<kind>/<namespace>/<name>` with an observed deletion since the start. */
  readonly #deleted = new Set<string>();
  readonly #late = new LateChanges();
  readonly #cachedLock = new Mutex();
  /** The last error of each failing resource. */
  readonly #listErrors = new Map<ResourceName, KubeError>();
  readonly #ahead: AnswersAhead;
  /** Kinds that are listed again since the server's data was restored from a backup. */
  readonly #restored = new Set<ResourceName>();
  readonly #whole = new GateKeeper('restored-lists');

  constructor(options: CachesOptions) {
    this.#options = options;
    this.#whole.open();
    const { world, clock, later = () => undefined } = options;
    this.#ahead = new AnswersAhead({
      seen: (resource, key) => this.get(resource, key)?.metadata.resourceVersion,
      relist: (resource) => this.relist(resource),
      clock,
      later,
    });
    const observed = RESOURCE_NAMES.filter((resource) => isObserved(world, resource));
    for (const resource of observed) this.#add(resource, keptOf(resource), (key, object) => fileObject(world, resource, key, object));
  }

  start(): void {
    this.#options.definitions?.start();
    for (const { cache } of this.#caches.values()) cache.start();
  }

  /** The server answers again: caches that wait after a failure retry soon. */
  retrySoon(): void {
    this.#options.definitions?.retrySoon();
    for (const { cache } of this.#caches.values()) cache.retrySoon();
  }

  async close(): Promise<void> {
    await Promise.all([this.#options.definitions?.close(), ...[...this.#caches.values()].map(({ cache }) => cache.close())]);
  }

  /** True when every cache was complete once (or its kind is optional and not served). */
  get ready(): boolean {
    return this.#ready;
  }

  /** Closed while some kinds are from before a restore of the server's data and others are from after it. */
  get whole(): Gate {
    return this.#whole.gate;
  }

  /** What one watch found holds for all: until each kind is listed again, they are no state that ever existed. */
  #restoredAll(): void {
    if (this.#restored.size > 0) return;
    this.#whole.close();
    for (const { resource, cache } of this.#caches.values()) if (cache.restored()) this.#restored.add(resource);
    this.#whole.set(this.#restored.size === 0);
  }

  #listedAgain(resource: ResourceName): void {
    if (this.#restored.delete(resource) && this.#restored.size === 0) this.#whole.open();
  }

  /** Whether the API server has answered any list. */
  get answered(): boolean {
    return [...this.#caches.values()].some(({ cache }) => cache.ready);
  }

  /** Whether a cluster may lack the kind. */
  isOptional(resource: ResourceName): boolean {
    return this.#caches.get(resource)?.optional ?? true;
  }

  /** The cache if it was listed from the server's cache and may be behind; else undefined. */
  behind(resource: ResourceName): ListWatchCache<KubeObject> | undefined {
    const cache = this.#caches.get(resource)?.cache;
    return cache?.mayBeBehind === true ? cache : undefined;
  }

  /** See `ListWatchCache.onVersion`. */
  onVersion(resource: ResourceName, listener: () => void): void {
    this.#caches.get(resource)?.cache.onVersion(listener);
  }

  /** Resources that are not listed yet, for messages. */
  get missing(): readonly ResourceName[] {
    return [...this.#caches.values()].filter(({ cache }) => !cache.ready).map(({ resource }) => resource);
  }

  /** The last error of a list among those; undefined: no answer yet. A kind that a cluster may lack is no error where it is not served. */
  get listError(): KubeError | undefined {
    return this.missing
      .flatMap((resource) => {
        const error = this.#listErrors.get(resource);
        return error === undefined || (error.code === 'KUBE_NOT_SERVED' && this.isOptional(resource)) ? [] : [error];
      })
      .at(0);
  }

  /** Complete once, and neither listed nor watched now. */
  get stale(): readonly ResourceName[] {
    return [...this.#caches.values()].flatMap(({ resource, cache }) => (cache.state === 'stale' ? [resource] : []));
  }

  /** Kinds with a list that was not accepted. */
  get doubted(): readonly ResourceName[] {
    return [...this.#caches.values()].flatMap(({ resource, cache }) => {
      const code = this.#listErrors.get(resource)?.code;
      return cache.state !== 'synced' && code !== undefined && DOUBTFUL.has(code) ? [resource] : [];
    });
  }

  /** Objects of a kind. */
  sizeOf(resource: ResourceName): number {
    return this.#caches.get(resource)?.cache.size ?? 0;
  }

  relist(resource: ResourceName): void {
    this.#caches.get(resource)?.cache.relist();
  }

  /** The server rejected a write because of what a cache lacks: the cache relists if no event arrives soon. */
  isAhead(resource: ResourceName, key: string): void {
    this.#ahead.met(resource, key);
  }

  get observations(): readonly CacheObservation[] {
    return [...this.#caches.values()].map(({ resource, cache }) => ({
      kind: traitsOf(resource).kind,
      objects: cache.size,
      served: cache.state !== 'not-served',
      lastReceivedAt: cache.lastReceivedAt,
      counters: cache.counters,
    }));
  }

  /** Lists all kinds of row owners again. @returns whether the lists have no object that the caches lack */
  async confirmed(): Promise<boolean> {
    try {
      for (const resource of new Set(RESOURCE_OF_OWNER_KIND.values())) {
        const cache = this.#caches.get(resource)?.cache;
        if (cache === undefined) continue;
        for (const object of await this.#options.client.listAll(cache.resource))
          if (cache.get(keyOf(object as { readonly metadata: { readonly namespace?: string; readonly name: string } })) === undefined)
            return false;
      }
      return true;
    } catch {
      // A server that does not answer confirms nothing; the next attempt is after the next grace period.
      return false;
    }
  }

  /** Whether an owner exists under any uid, or its deletion was observed. */
  explains(owner: string): boolean {
    return this.#deleted.has(owner) || this.ownerExists(owner);
  }

  /** Whether an owner exists under any uid. */
  ownerExists(owner: string): boolean {
    const object = resourceOfOwner(owner);
    return object !== undefined && this.get(object.resource, object.key) !== undefined;
  }

  get(resource: ResourceName, key: string): AnyObject | undefined {
    return this.#caches.get(resource)?.cache.get(key) as AnyObject | undefined;
  }

  /** Rules are behind: changes wait; not while writes of an earlier leader may still arrive. */
  hold(): void {
    for (const { cache } of this.#caches.values()) if (cache.mayBeBehind) return;
    this.#late.hold();
  }

  /** No rule is due: waiting changes enter the World. */
  release(): void {
    for (const [resource, keys] of this.#late.release()) this.#options.changed(resource, keys);
  }

  isLate(resource: ResourceName, key: string): boolean {
    return this.#late.has(resource, key);
  }

  applyOwn(resource: ResourceName, object: KubeObject): void {
    this.#caches.get(resource)?.cache.applyOwn(object);
  }

  applyOwnDelete(resource: ResourceName, key: string, uid: string): void {
    this.#caches.get(resource)?.cache.applyOwnDelete(key, uid);
  }

  expectEvent(resource: ResourceName): void {
    this.#caches.get(resource)?.cache.expectEvent();
  }

  /** Nodes are listed at the same time, and are complete long before so many IP objects. */
  async #partsBy(nodes: ResourceName, count: number): Promise<readonly string[] | undefined> {
    const each = 2 * (this.#options.cachedAbove ?? MANY);
    if (count < 2 * each) return undefined;
    await this.#caches
      .get(nodes)
      ?.cache.untilSynced()
      .catch(() => undefined);
    return ipParts(
      Array.from(this.#options.world.tables[nodes]?.entries() ?? [], ([name]) => name),
      count,
      each,
    );
  }

  #add(resource: ResourceName, trim: (object: Untrimmed) => unknown, file: (key: string, object: unknown) => void): void {
    const { group, version, plural, kind, namespaced, numerous, listedBy, only, optional = false } = traitsOf(resource);
    const { client, clock, random, onCacheEvent, definitions, cachedAbove, shrunkListMs, watchAfterMs, world } = this.#options;
    const cache = new ListWatchCache<KubeObject>({
      client,
      clock,
      ...(random === undefined ? {} : { random }),
      resource: { group, version, plural, kind, namespaced },
      trim: (object) => trim(object as unknown as Untrimmed) as KubeObject,
      optional,
      ...(only === undefined ? {} : { namespace: world.settings[only.namespaceSetting], fieldSelector: `metadata.name=${only.name}` }),
      pageSize: PAGE,
      ...(numerous !== undefined ? { cachedAbove: cachedAbove ?? MANY, cachedLock: this.#cachedLock, unread: 'managedFields' } : {}),
      ...(listedBy !== undefined ? { cachedParts: (count) => this.#partsBy(listedBy as ResourceName, count) } : {}),
      ...(shrunkListMs === undefined ? {} : { shrunkListMs }),
      ...(watchAfterMs === undefined ? {} : { watchAfterMs }),
      notServedRetryMs: optional ? 30_000 : 1_000,
      ...(definitions === undefined ? {} : { definitions }),
      onCacheEvent: (event) => {
        if (event.kind === 'failure') this.#listErrors.set(resource, event.error);
        if (event.kind === 'state' && event.state === 'synced') this.#listErrors.delete(resource);
        if (event.kind === 'restored') this.#restoredAll();
        if (event.kind === 'list' || (event.kind === 'state' && event.state === 'not-served')) this.#listedAgain(resource);
        onCacheEvent?.(resource, event);
      },
    });
    cache.onDelta((deltas) => {
      const keys: string[] = [];
      let inferredDeletions = 0;
      for (const delta of deltas) {
        const key = keyOf(delta.object as { readonly metadata: { readonly namespace?: string; readonly name: string } });
        const gone = delta.type === 'delete';
        const apply = (): void => file(key, gone ? undefined : delta.object);
        this.#options.observed?.(resource, delta);
        if (gone && delta.inferred === true) inferredDeletions++;
        else if (gone) this.#remember(kind, delta.object);
        if (this.#late.take(resource, key, apply)) continue;
        apply();
        keys.push(key);
      }
      if (inferredDeletions > 0) this.#options.inferredDeletions(resource, inferredDeletions);
      this.#options.changed(resource, keys);
    });
    cache.onState(() => {
      // Cached: it is read many times in each turn, and there are many caches.
      this.#ready = [...this.#caches.values()].every((one) => one.cache.ready);
      this.#options.changed(resource, []);
    });
    this.#caches.set(resource, { resource, cache, optional });
  }

  #remember(kind: string, object: KubeObject): void {
    this.#deleted.add(`${kind.toLowerCase()}/${object.metadata.namespace ?? ''}/${object.metadata.name}`);
    if (this.#deleted.size > 100_000) this.#deleted.delete(this.#deleted.values().next().value as string);
  }
}
