/** What the parts of a list-watch cache share: its contents, its state, and what it reports of both. */
import { CacheContents } from './cache-contents.ts';
import { subjectOf } from '../client/client.ts';
import { type Clock, type Random, systemClock } from '../../timing/clock.ts';
import type { Delta, DeltaListener } from './delta.ts';
import { callIsolated } from '../isolated-call.ts';
import type { CacheCounters, CacheEvent, CacheState, ListWatchOptions } from './list-watch-options.ts';
import type { KubeObject, Resource } from '../resource.ts';

export class CacheCore<T extends KubeObject> {
  readonly resource: Resource;
  readonly options: ListWatchOptions<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly contents = new CacheContents<T>();
  readonly counters: CacheCounters = {
    lists: { first: 0, gone: 0, undecodable: 0, errors: 0, periodic: 0, 'not-served': 0, behind: 0, restored: 0 },
    ...{ watches: 0, events: 0, bookmarks: 0, outdated: 0, undecodable: 0, silences: 0, failures: 0, healed: 0, doubted: 0 },
  };
  /** Aborted when the cache is closed. */
  readonly stop = new AbortController();
  /** A full list was read at some time. */
  isComplete = false;
  readonly #listeners = new Set<DeltaListener<T>>();
  readonly #versionListeners = new Set<() => void>();
  readonly #stateListeners = new Set<(state: CacheState) => void>();
  #state: CacheState = 'listing';
  #lastReceivedAt: number | undefined;

  constructor(options: ListWatchOptions<T>) {
    this.resource = options.resource;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
  }

  get state(): CacheState {
    return this.#state;
  }

  /** When anything was last received, in the clock's milliseconds. */
  get lastReceivedAt(): number | undefined {
    return this.#lastReceivedAt;
  }

  received(): void {
    this.#lastReceivedAt = this.clock.now();
  }

  onDelta(listener: DeltaListener<T>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onState(listener: (state: CacheState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  onVersion(listener: () => void): void {
    this.#versionListeners.add(listener);
  }

  /** The contents may have a newer version, also if nothing changed. */
  advanced(): void {
    for (const listener of this.#versionListeners) callIsolated(listener);
  }

  deliver(deltas: readonly Delta<T>[]): void {
    if (deltas.length === 0) return;
    for (const listener of this.#listeners) callIsolated(() => listener(deltas));
  }

  /** The server's data is older than the contents: these are stale until a full list was read. @param served the server's version */
  restored(served: string): void {
    this.setState('stale');
    this.emit({ kind: 'restored', held: this.contents.version ?? '', served });
  }

  setState(state: CacheState): void {
    const before = this.#state;
    if (before === 'closed' || before === state) return;
    this.#state = state;
    this.emit({ kind: 'state', state, before });
    for (const listener of [...this.#stateListeners]) callIsolated(() => listener(state));
  }

  emit(event: CacheEvent): void {
    const { onCacheEvent } = this.options;
    if (onCacheEvent !== undefined) callIsolated(() => onCacheEvent(event));
  }

  trim(object: T): T {
    return this.options.trim === undefined ? object : this.options.trim(object);
  }

  subject(verb: string): ReturnType<typeof subjectOf> {
    return subjectOf(verb, this.resource, { namespace: this.options.namespace });
  }
}
