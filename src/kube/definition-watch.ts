import { type Clock, type Random, sleep, systemClock } from './clock.ts';
import type { KubeClient } from './client.ts';
import { ListWatchCache } from './list-watch-cache.ts';
import type { CacheNotice } from './list-watch-options.ts';
import { type KubeObject, type Resource, resourceName } from './resource.ts';

export const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** A CustomResourceDefinition, as much of it as says what is served. */
interface Definition extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
}

export interface DefinitionWatchOptions {
  readonly client: KubeClient;
  readonly onNotice?: (notice: CacheNotice) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A server establishes a definition some moments before it serves it. */
const SOON_MS = 250;
/** A kind can be served without a definition (by an aggregated API server): asked for as often as a cache lists anew. */
const SELDOM_MS = 30 * 60_000;

/**
 * Follows the definitions of custom resources, so that nobody has to ask again and again whether a kind is served by now. Where they may
 * not be watched, all is as without: whoever waits is told after its own delay.
 */
export class DefinitionWatch {
  readonly #clock: Clock;
  readonly #cache: ListWatchCache<Definition>;
  readonly #waiting = new Set<() => void>();
  /** How often a kind was not served though its definition, in that version, says so. */
  readonly #vain = new Map<string, { readonly version: string; readonly times: number }>();

  constructor({ client, onNotice, clock = systemClock, random }: DefinitionWatchOptions) {
    this.#clock = clock;
    this.#cache = new ListWatchCache<Definition>({
      client,
      resource: DEFINITIONS,
      clock,
      ...(random === undefined ? {} : { random }),
      ...(onNotice === undefined ? {} : { onNotice }),
      trim,
      // Who may not read them is not allowed to a minute later.
      backoffMs: [500, 300_000],
      // One may have a megabyte.
      pageSize: 50,
    });
    this.#cache.onDelta(() => this.#wake());
    this.#cache.onState(() => this.#wake());
  }

  start(): void {
    this.#cache.start();
  }

  close(): Promise<void> {
    return this.#cache.close();
  }

  /** As of any cache: the server has answered somebody else. */
  retrySoon(): void {
    this.#cache.retrySoon();
  }

  /** Every definition is known, and changes are heard. */
  get followed(): boolean {
    return this.#cache.state === 'synced';
  }

  /** The newest state of the server that was delivered. */
  get version(): string | undefined {
    return this.#cache.version;
  }

  /** Whether a definition says that the kind is served: then a server that does not know it has lost its way, and no object of it. */
  promises(resource: Resource): boolean {
    return this.#establishes(resource);
  }

  /** Resolves when it makes sense to ask once more for a kind that is not served, after `otherwiseMs` where that cannot be known; never rejects. */
  async untilServed(resource: Resource, otherwiseMs: number, signal: AbortSignal): Promise<void> {
    const began = this.#clock.now();
    while (!signal.aborted) {
      const left = (this.followed ? SELDOM_MS : otherwiseMs) - (this.#clock.now() - began);
      if (left <= 0) return;
      if (this.followed && this.#establishes(resource)) return sleep(this.#clock, Math.min(otherwiseMs, this.#soon(resource)), signal);
      await this.#changed(left, signal);
    }
  }

  #establishes(resource: Resource): boolean {
    const definition = this.#cache.get(resourceName(resource));
    return (
      definition?.spec.versions.some(({ name, served }) => served && name === resource.version) === true &&
      definition.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true
    );
  }

  /** Longer each time that the definition promised in vain. */
  #soon(resource: Resource): number {
    const name = resourceName(resource);
    const version = this.#cache.get(name)?.metadata.resourceVersion ?? '';
    const before = this.#vain.get(name);
    const times = before?.version === version ? before.times : 0;
    this.#vain.set(name, { version, times: times + 1 });
    return SOON_MS * 2 ** times;
  }

  #changed(ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const wake = (): void => over.abort();
    this.#waiting.add(wake);
    return sleep(this.#clock, ms, AbortSignal.any([over.signal, signal])).finally(() => this.#waiting.delete(wake));
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

/** Schemas are most of a definition. */
function trim({ metadata, spec, status }: Definition): Definition {
  const { name, uid, resourceVersion } = metadata;
  return {
    metadata: { name, uid, resourceVersion },
    spec: { versions: spec.versions.map(({ name: version, served }) => ({ name: version, served })) },
    status: { conditions: (status?.conditions ?? []).map(({ type, status: value }) => ({ type, status: value })) },
  };
}
