/**
 * Answers to writes which show that the API server is ahead of a cache: a name that exists and no list had, a version that no event
 * delivered, or an object that is gone. Usually the event arrives soon. If it does not, the list was incomplete or an event was lost, and
 * the kind is listed again.
 */
import type { Clock } from '../../timing/clock.ts';
import type { ResourceName } from '../../world/resources.ts';

export interface AnswersAheadOptions {
  /** The version of an object in the cache; undefined: the cache lacks the object. */
  readonly seen: (resource: ResourceName, key: string) => string | undefined;
  readonly relist: (resource: ResourceName) => void;
  readonly clock: Clock;
  readonly later: (ms: number, run: () => void) => void;
}

/** Usual time for an event to arrive. */
const CHECK_AFTER_MS = 2_000;
/** Least time between two such lists of a kind. */
const APART_MS = 10_000;
/** Most objects awaited: more have the same cause, and one list ends it. */
const MOST_AWAITED = 1_000;

export class AnswersAhead {
  readonly #options: AnswersAheadOptions;
  readonly #awaited = new Map<ResourceName, Map<string, string | undefined>>();
  readonly #listedAt = new Map<ResourceName, number>();

  constructor(options: AnswersAheadOptions) {
    this.#options = options;
  }

  /** The server rejected a write because of an object or a version that the cache lacks, or of an object that only the cache has. */
  met(resource: ResourceName, key: string): void {
    const { later, seen } = this.#options;
    const keys = this.#awaited.get(resource);
    if (keys !== undefined) {
      if (keys.size < MOST_AWAITED && !keys.has(key)) keys.set(key, seen(resource, key));
      return;
    }
    this.#awaited.set(resource, new Map([[key, seen(resource, key)]]));
    later(CHECK_AFTER_MS, () => this.#check(resource));
  }

  #check(resource: ResourceName): void {
    const { clock, later, seen, relist } = this.#options;
    const keys = this.#awaited.get(resource) ?? new Map<string, string | undefined>();
    const stuck = [...keys].some(([key, version]) => seen(resource, key) === version);
    const wait = (this.#listedAt.get(resource) ?? -Infinity) + APART_MS - clock.now();
    if (stuck && wait > 0) return later(wait, () => this.#check(resource));
    this.#awaited.delete(resource);
    if (!stuck) return;
    this.#listedAt.set(resource, clock.now());
    relist(resource);
  }
}
