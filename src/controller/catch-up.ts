/**
 * Before the first write of a leader that listed IP objects or pods from a cache of the API server, which may be behind: what a leader before
 * it has just given away must be seen, and no pod may be taken as gone. A write to one of these objects is an event among theirs, and a watch
 * delivers them in the order of their versions: when it delivers this one, it has delivered all that was written before. An IP object is
 * written to for that. A pod is not Kiln's to touch: where many are, one of them is written to all the time, and else they are listed from the
 * database. Nothing is written where nothing is to be written: then it does not matter.
 */
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { isKubeError } from '../kube/errors.ts';
import type { ListWatchCache } from '../kube/list-watch-cache.ts';
import type { KubeObject } from '../kube/resource.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import type { Log } from '../runtime/log.ts';

export interface CatchUpOptions {
  readonly client: KubeClient;
  /** The cache of these objects where it may be behind. */
  readonly behind: (resource: 'ips' | 'pods') => ListWatchCache<KubeObject> | undefined;
  readonly identity: () => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly later: (ms: number, run: () => void) => void;
  readonly wake: () => void;
}

const RETRY_MS = 1_000;

export class CatchUp {
  readonly #options: CatchUpOptions;
  #touching = false;
  /** The version that the touched object has since. */
  #touched: string | undefined;
  /** Caches that were told to list anew. */
  readonly #listed = new Set<ListWatchCache<KubeObject>>();
  #awaitingPods = false;
  readonly #unfit = new Set<string>();

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** Asked by a leader that has something to write: whether it may; `wake` is called when that changes. */
  readonly done = (): boolean => {
    const pods = this.#podsAreSeen();
    return this.#ipsAreSeen() && pods;
  };

  #podsAreSeen(): boolean {
    const cache = this.#options.behind('pods');
    if (cache === undefined) return true;
    if (cache.reachedList()) {
      this.#options.log.info('pods are up to date', { version: cache.version });
      return true;
    }
    if (!this.#awaitingPods) this.#awaitPods();
    return false;
  }

  /** An event of one, for a moment. */
  #awaitPods(): void {
    this.#awaitingPods = true;
    const { behind, later, wake } = this.#options;
    later(RETRY_MS, () => {
      this.#awaitingPods = false;
      const cache = behind('pods');
      if (cache !== undefined && !cache.reachedList()) this.#listAnew(cache);
      wake();
    });
  }

  #listAnew(cache: ListWatchCache<KubeObject>): void {
    if (!this.#listed.has(cache)) cache.listAgain();
    this.#listed.add(cache);
  }

  #ipsAreSeen(): boolean {
    const cache = this.#options.behind('ips');
    if (cache === undefined) return true;
    if (this.#touched !== undefined && cache.reached(this.#touched)) {
      this.#options.log.info('IP objects are up to date', { version: this.#touched });
      return true;
    }
    if (!this.#touching && this.#touched === undefined) void this.#touch(cache);
    return false;
  }

  async #touch(cache: ListWatchCache<KubeObject>): Promise<void> {
    const { client, identity, clock, log, later, wake } = this.#options;
    const object = this.#fit(cache);
    this.#touching = true;
    if (object === undefined) return this.#listAgain(cache);
    const { name, uid } = object.metadata;
    try {
      // No two are the same: one that changes nothing is no event.
      const seen = `${new Date(clock.wallTime()).toISOString()} ${identity()}`;
      const touched = await client.mergePatch(
        cache.resource,
        { name },
        { metadata: { uid, annotations: { [kilnAnnotation.seen]: seen } } },
      );
      this.#touched = touched.metadata.resourceVersion;
      this.#touching = false;
      wake();
    } catch (error) {
      if (!isKubeError(error)) throw error;
      // It is gone, or another: what the cache has of it is old.
      const unfit = error.code === 'KUBE_NOT_FOUND' || error.code === 'KUBE_PRECONDITION' || error.code === 'KUBE_CONFLICT';
      if (unfit) this.#unfit.add(uid ?? '');
      else log.warn('nothing is written before IP objects are up to date', { name, code: error.code, error: error.message });
      later(unfit ? 0 : RETRY_MS, () => {
        this.#touching = false;
        wake();
      });
    }
  }

  /** All that it has is gone, or was made again: nothing of it can be touched. */
  #listAgain(cache: ListWatchCache<KubeObject>): void {
    this.#listAnew(cache);
    this.#options.later(RETRY_MS, () => {
      this.#touching = false;
      this.#options.wake();
    });
  }

  #fit(cache: ListWatchCache<KubeObject>): KubeObject | undefined {
    for (const object of cache.values()) if (!this.#unfit.has(object.metadata.uid ?? '')) return object;
    return undefined;
  }
}
