/**
 * Answers that tell of more than a cache has: a name that is taken and that no list showed, a version that another write has made and that no
 * event told of. Mostly the event is on its way; where it does not come, the list was not the whole truth, or an event was lost, and
 * the kind is listed again.
 */
import type { Clock } from '../../kube/clock.ts';
import type { ResourceName } from '../../world/resources.ts';

export interface AnswersAheadOptions {
  /** Version of an object as the cache has it; undefined where it has none. */
  readonly seen: (resource: ResourceName, key: string) => string | undefined;
  readonly relist: (resource: ResourceName) => void;
  readonly clock: Clock;
  readonly later: (ms: number, run: () => void) => void;
}

/** In which an event comes where all is well. */
const PATIENCE_MS = 2_000;
/** Between two lists of a kind for this reason. */
const APART_MS = 10_000;
/** More than these are of one trouble, and one list ends it. */
const MOST_AWAITED = 1_000;

export class AnswersAhead {
  readonly #options: AnswersAheadOptions;
  readonly #awaited = new Map<ResourceName, Map<string, string | undefined>>();
  readonly #listedAt = new Map<ResourceName, number>();

  constructor(options: AnswersAheadOptions) {
    this.#options = options;
  }

  /** The server refused a write because of what the cache does not show. */
  met(resource: ResourceName, key: string): void {
    const { later, seen } = this.#options;
    const keys = this.#awaited.get(resource);
    if (keys !== undefined) {
      if (keys.size < MOST_AWAITED && !keys.has(key)) keys.set(key, seen(resource, key));
      return;
    }
    this.#awaited.set(resource, new Map([[key, seen(resource, key)]]));
    later(PATIENCE_MS, () => this.#look(resource));
  }

  #look(resource: ResourceName): void {
    const { clock, later, seen, relist } = this.#options;
    const keys = this.#awaited.get(resource) ?? new Map<string, string | undefined>();
    const stuck = [...keys].some(([key, version]) => seen(resource, key) === version);
    const wait = (this.#listedAt.get(resource) ?? -Infinity) + APART_MS - clock.now();
    if (stuck && wait > 0) return later(wait, () => this.#look(resource));
    this.#awaited.delete(resource);
    if (!stuck) return;
    this.#listedAt.set(resource, clock.now());
    relist(resource);
  }
}
