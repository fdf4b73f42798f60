/**
 * Confirms the first lists of this process. No watch saw the deletions before its start. So if rows, IP objects, pods or Subnets name an
 * object that a list lacks, the server is asked for it by name, and nothing is written before its absence is confirmed. Usually all named
 * objects exist, and this takes no time.
 */
import { SHRUNK_LIST_MS, confirmAbsent, secondListAfter } from '../../kube/cache/absence.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Clock } from '../../timing/clock.ts';
import { type Gate, GateKeeper } from '../../timing/gate.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { TABLES } from '../../kinds/generated/tables.ts';
import type { KindTable } from '../../world/kind-table.ts';
import type { ResourceName } from '../../world/resources.ts';
import { splitKey, traitsOf } from '../../world/resources.ts';
import type { AnyObservedObject, World } from '../../world/world.ts';
import type { Caches } from '../reading/caches.ts';
import { resourceOfOwner } from '../reading/row-owners.ts';

export interface FirstListsOptions {
  readonly client: KubeClient;
  readonly world: World;
  readonly caches: Pick<Caches, 'get' | 'explains' | 'relist' | 'sizeOf'>;
  readonly clock: Clock;
  readonly log: Log;
  /** As of a cache's list: see `ListWatchOptions.shrunkListMs`. */
  readonly shrunkListMs?: number;
  readonly later: (ms: number, run: () => void) => void;
  /** Called when the lists are confirmed. */
  readonly wake: () => void;
}

/** Kinds with objects that name others. */
const NAMING = (Object.entries(TABLES) as [ResourceName, Pick<KindTable<AnyObservedObject>, 'names'>][]).flatMap(([resource, { names }]) =>
  names === undefined ? [] : [[resource, { names }] as const],
);

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;

export class FirstLists {
  readonly #options: FirstListsOptions;
  readonly #confirmed = new GateKeeper('lists');
  #isAsking = false;
  #retryMs = FIRST_RETRY_MS;
  readonly #reported = new Set<ResourceName>();
  /** Objects with confirmed absence. */
  readonly #gone = new Set<string>();
  #doubted: readonly ResourceName[] = [];

  constructor(options: FirstListsOptions) {
    this.#options = options;
  }

  /** Open once the absence of objects that disappeared while no process watched is confirmed. */
  get gate(): Gate {
    return this.#confirmed.gate;
  }

  /** For reports. */
  get confirmed(): boolean {
    return this.#confirmed.isOpen;
  }

  /** Kinds with a list that lacks objects which the server has. */
  get doubted(): readonly ResourceName[] {
    return this.#doubted;
  }

  /** To be called when all lists are complete and the replica is synced. */
  check(): void {
    if (this.#confirmed.isOpen || this.#isAsking) return;
    const absent = this.#absent();
    if (absent.size === 0) {
      if (this.#reported.size > 0)
        this.#options.log.info('the first lists are complete: they have all objects that rows and other objects name', {});
      this.#doubted = [];
      this.#confirmed.open();
      return;
    }
    this.#isAsking = true;
    void this.#ask(absent).then((waitMs) => {
      this.#options.later(waitMs, () => {
        this.#isAsking = false;
        this.#options.wake();
      });
    });
  }

  /** @returns milliseconds until the next check */
  async #ask(absent: ReadonlyMap<ResourceName, ReadonlySet<string>>): Promise<number> {
    const { log, caches } = this.#options;
    const doubted: ResourceName[] = [];
    for (const [resource, keys] of absent) {
      try {
        await this.#confirm(resource, [...keys]);
        for (const key of keys) this.#gone.add(`${resource} ${key}`);
      } catch (error) {
        doubted.push(resource);
        // At once: the other kinds may take many seconds, and the process is not ready meanwhile.
        this.#doubted = [...new Set([...this.#doubted, resource])];
        if (!this.#reported.has(resource)) {
          this.#reported.add(resource);
          log.error(
            'a first list lacks objects that rows or other objects name: nothing is written before they are listed or confirmed as gone',
            {
              resource,
              absent: keys.size,
              ...(isKubeError(error) ? { code: error.code } : {}),
              error: error instanceof Error ? error.message : String(error),
            },
          );
        }
        caches.relist(resource);
      }
    }
    this.#doubted = doubted;
    if (doubted.length === 0) return 0;
    const waitMs = this.#retryMs;
    this.#retryMs = Math.min(2 * waitMs, LONGEST_RETRY_MS);
    return waitMs;
  }

  /** @throws if one of them exists, or the server does not answer */
  async #confirm(resource: ResourceName, keys: readonly string[]): Promise<void> {
    const { client, caches, clock, log, shrunkListMs = SHRUNK_LIST_MS } = this.#options;
    const traits = traitsOf(resource);
    const absence = await confirmAbsent(client, traits, keys.map(splitKey));
    const left = caches.sizeOf(resource);
    const againInMs = secondListAfter(keys.length, keys.length + left, absence, shrunkListMs);
    if (againInMs === undefined) return;
    log.warn('a first list lacks many objects that rows or other objects name: a second list has to confirm', {
      resource,
      absent: keys.length,
      listed: left,
      againInMs,
    });
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, againInMs));
    const named = new Set(keys);
    for (const { metadata } of await client.listAll(traits)) {
      const key = traits.namespaced ? `${metadata.namespace ?? ''}/${metadata.name}` : metadata.name;
      if (named.has(key)) throw new Error(`a second list has ${traits.kind} ${key}`);
    }
  }

  /** Named objects that the lists lack, by kind. */
  #absent(): ReadonlyMap<ResourceName, ReadonlySet<string>> {
    const { world, caches } = this.#options;
    const absent = new Map<ResourceName, Set<string>>();
    const named = (resource: ResourceName, key: string | undefined): void => {
      if (key === undefined || key === '' || caches.get(resource, key) !== undefined || this.#gone.has(`${resource} ${key}`)) return;
      const keys = absent.get(resource) ?? new Set();
      absent.set(resource, keys.add(key));
    };
    for (const id of world.rows.owned) {
      const ownership = world.rows.best(id)?.ownership;
      if (ownership?.kind !== 'ours' || caches.explains(ownership.owner)) continue;
      const owner = resourceOfOwner(ownership.owner);
      if (owner !== undefined) named(owner.resource, owner.key);
    }
    for (const [resource, { names }] of NAMING)
      for (const [, object] of world.tables[resource]?.entries() ?? []) for (const [of, key] of names(object)) named(of, key);
    return absent;
  }
}
