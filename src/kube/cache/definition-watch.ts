import { type Clock, type Random, sleep, systemClock } from '../../timing/clock.ts';
import type { KubeClient } from '../client/client.ts';
import { ListWatchCache } from './list-watch-cache.ts';
import type { CacheEvent, ServedDefinitions } from './list-watch-options.ts';
import { type KubeObject, type Resource, resourceName } from '../resource.ts';

export const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** The fields of a CustomResourceDefinition that determine what is served. */
interface Definition extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
}

export interface DefinitionWatchOptions {
  readonly client: KubeClient;
  readonly onCacheEvent?: (event: CacheEvent) => void;
  /** A definition was created, changed or deleted. @param name `<plural>.<group>` */
  readonly onChange?: (name: string) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A server establishes a definition some moments before it serves the kind. */
const SOON_MS = 250;
/** A kind can be served without a definition (by an aggregated API server): tried again as often as a cache relists. */
const SELDOM_MS = 30 * 60_000;

/**
 * Watches the CustomResourceDefinitions, so that caches need not poll whether a missing kind is served by now. Without the right to watch
 * them, a waiting cache is woken after its own delay.
 */
export class DefinitionWatch implements ServedDefinitions {
  readonly #clock: Clock;
  readonly #cache: ListWatchCache<Definition>;
  readonly #waiting = new Set<() => void>();
  /** How often a kind was not served although its definition, in that version, declares it. */
  readonly #failedDiscoveries = new Map<string, { readonly version: string; readonly times: number }>();

  constructor({ client, onCacheEvent, onChange, clock = systemClock, random }: DefinitionWatchOptions) {
    this.#clock = clock;
    this.#cache = new ListWatchCache<Definition>({
      client,
      resource: DEFINITIONS,
      clock,
      ...(random === undefined ? {} : { random }),
      ...(onCacheEvent === undefined ? {} : { onCacheEvent }),
      trim,
      // If the right is missing, it is still missing a minute later.
      backoffMs: [500, 300_000],
      // A definition may have a megabyte.
      pageSize: 50,
    });
    this.#cache.onDelta((deltas) => {
      this.#wake();
      for (const { object } of deltas) onChange?.(object.metadata.name);
    });
    this.#cache.onState(() => this.#wake());
  }

  start(): void {
    this.#cache.start();
  }

  close(): Promise<void> {
    return this.#cache.close();
  }

  /** The server has answered another request: see `ListWatchCache.retrySoon`. */
  retrySoon(): void {
    this.#cache.retrySoon();
  }

  /** The definitions are complete, and a watch keeps them so. */
  get followed(): boolean {
    return this.#cache.state === 'synced';
  }

  /** The newest version that list or watch delivered. */
  get version(): string | undefined {
    return this.#cache.version;
  }

  /** Whether a definition declares the kind as served: then a server that does not know it is at fault, and the objects still exist. */
  isDeclared(resource: Resource): boolean {
    return this.#establishes(resource);
  }

  /** Resolves when a kind that is not served may be served; after `otherwiseMs` without a watch of definitions. Never rejects. */
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

  /** Longer each time that the server did not serve a declared kind. */
  #soon(resource: Resource): number {
    const name = resourceName(resource);
    const version = this.#cache.get(name)?.metadata.resourceVersion ?? '';
    const before = this.#failedDiscoveries.get(name);
    const times = before?.version === version ? before.times : 0;
    this.#failedDiscoveries.set(name, { version, times: times + 1 });
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

/** Drops the schemas, which are most of a definition. */
function trim({ metadata, spec, status }: Definition): Definition {
  const { name, uid, resourceVersion } = metadata;
  return {
    metadata: { name, uid, resourceVersion },
    spec: { versions: spec.versions.map(({ name: version, served }) => ({ name: version, served })) },
    status: { conditions: (status?.conditions ?? []).map(({ type, status: value }) => ({ type, status: value })) },
  };
}
