/**
 * Makes sure that a new leader has seen everything before its first write.
 *
 * A long list of IP objects or pods is read from the API server's cache, which may be behind. Then the leader could miss an address that an
 * earlier leader allocated, or a pod could look deleted. A watch delivers the changes of a kind in the order of their versions. So the
 * leader writes to one IP object: when the watch delivers that write, it has delivered all earlier ones. It does not write to pods for
 * this. In a large cluster some pod changes all the time, and its event serves the same purpose; if none does, pods are listed again from
 * etcd. A leader without anything to write does none of this.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import type { Clock } from '../../timing/clock.ts';
import { type Gate, GateKeeper } from '../../timing/gate.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { ListWatchCache } from '../../kube/cache/list-watch-cache.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import type { Log } from '../../runtime/log.ts';
import type { Caches } from '../reading/caches.ts';
import type { ResourceName } from '../../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';

export interface CatchUpOptions {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, 'behind' | 'onVersion'>;
  readonly identity: () => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly later: (ms: number, run: () => void) => void;
}

const RETRY_MS = 1_000;

const numerous = (how: 'written' | 'watched'): ResourceName =>
  RESOURCE_NAMES.find((resource) => traitsOf(resource).numerous === how) as ResourceName;
/** IP objects. */
const WRITTEN = numerous('written');
/** Pods. */
const WATCHED = numerous('watched');

export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #done = new GateKeeper('catch-up');
  #isAsked = false;
  #touching = false;
  /** The version of the IP object after the write. */
  #touched: string | undefined;
  /** Caches that relist. */
  readonly #listed = new Set<ListWatchCache<KubeObject>>();
  #awaitingPods = false;
  readonly #unfit = new Set<string>();

  constructor(options: CatchUpOptions) {
    this.#options = options;
    for (const resource of [WRITTEN, WATCHED]) options.caches.onVersion(resource, () => this.#lookAgain());
  }

  /** Whether a leader with something to write may write. The first that asks begins it. */
  readonly gate: Gate = {
    name: 'catch-up',
    passes: (wake) => {
      this.#isAsked = true;
      if (!this.#done.isOpen) this.#look();
      return this.#done.gate.passes(wake);
    },
  };

  #lookAgain(): void {
    if (this.#isAsked && !this.#done.isOpen) this.#look();
  }

  #look(): void {
    const pods = this.#podsAreSeen();
    if (this.#ipsAreSeen() && pods) this.#done.open();
  }

  #podsAreSeen(): boolean {
    const cache = this.#options.caches.behind(WATCHED);
    if (cache === undefined) return true;
    if (cache.reachedList()) {
      this.#options.log.info('pods are up to date', { version: cache.version });
      return true;
    }
    if (!this.#awaitingPods) this.#awaitPods();
    return false;
  }

  /** Waits a moment for a change of any pod. */
  #awaitPods(): void {
    this.#awaitingPods = true;
    const { caches, later } = this.#options;
    later(RETRY_MS, () => {
      this.#awaitingPods = false;
      const cache = caches.behind(WATCHED);
      if (cache !== undefined && !cache.reachedList()) this.#listAnew(cache);
      this.#lookAgain();
    });
  }

  #listAnew(cache: ListWatchCache<KubeObject>): void {
    if (!this.#listed.has(cache)) cache.relist();
    this.#listed.add(cache);
  }

  #ipsAreSeen(): boolean {
    const cache = this.#options.caches.behind(WRITTEN);
    if (cache === undefined) return true;
    if (this.#touched !== undefined && cache.reached(this.#touched)) {
      this.#options.log.info('IP objects are up to date', { version: this.#touched });
      return true;
    }
    if (!this.#touching && this.#touched === undefined) void this.#touch(cache);
    return false;
  }

  async #touch(cache: ListWatchCache<KubeObject>): Promise<void> {
    const { client, identity, clock, log, later } = this.#options;
    const object = this.#fit(cache);
    this.#touching = true;
    if (object === undefined) return this.#relist(cache);
    const { name, uid } = object.metadata;
    try {
      // The value is new each time: a write that changes nothing causes no event.
      const seen = `${new Date(clock.wallTime()).toISOString()} ${identity()}`;
      const touched = await client.mergePatch(
        cache.resource,
        { name },
        { metadata: { uid, annotations: { [kilnAnnotation.seen]: seen } } },
      );
      this.#touched = touched.metadata.resourceVersion;
      this.#touching = false;
      this.#lookAgain();
    } catch (error) {
      if (!isKubeError(error)) throw error;
      // The object is gone or was re-created: the cache is behind.
      const unfit = error.code === 'KUBE_NOT_FOUND' || error.code === 'KUBE_PRECONDITION' || error.code === 'KUBE_CONFLICT';
      if (unfit) this.#unfit.add(uid ?? '');
      else log.warn('nothing is written before IP objects are up to date', { name, code: error.code, error: error.message });
      later(unfit ? 0 : RETRY_MS, () => {
        this.#touching = false;
        this.#lookAgain();
      });
    }
  }

  /** Every IP object in the cache is gone or was re-created, so none can be written to. */
  #relist(cache: ListWatchCache<KubeObject>): void {
    this.#listAnew(cache);
    this.#options.later(RETRY_MS, () => {
      this.#touching = false;
      this.#lookAgain();
    });
  }

  #fit(cache: ListWatchCache<KubeObject>): KubeObject | undefined {
    for (const object of cache.values()) if (!this.#unfit.has(object.metadata.uid ?? '')) return object;
    return undefined;
  }
}
