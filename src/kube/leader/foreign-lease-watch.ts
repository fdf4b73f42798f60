import type { KubeClient } from '../client/client.ts';
import { type Clock, type Random, systemClock, type TimerHandle } from '../../timing/clock.ts';
import { type Lease, LeaseObservation } from './lease.ts';
import { ListWatchCache } from '../cache/list-watch-cache.ts';
import { type Gate, GateKeeper } from '../../timing/gate.ts';
import { LEASES } from '../resource.ts';
import { callIsolated } from '../isolated-call.ts';

/** `unknown`: list and watch fail; treat the Lease as held. */
export type ForeignLeaseState =
  { readonly kind: 'unknown' } | { readonly kind: 'free' } | { readonly kind: 'held'; readonly holder: string };

export interface ForeignLeaseOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Kube-OVN's controller: `kube-ovn-controller`. */
  readonly name: string;
  readonly onChange?: (state: ForeignLeaseState) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Watches the Lease of another program to find out whether its leader is alive. A Lease seen for the first time counts as held for its
 * whole duration; after that, only while it is renewed.
 */
export class ForeignLeaseWatch {
  readonly #options: ForeignLeaseOptions;
  readonly #clock: Clock;
  readonly #cache: ListWatchCache<Lease>;
  readonly #observed = new LeaseObservation();
  readonly #free = new GateKeeper('other-lease');
  #state: ForeignLeaseState = { kind: 'unknown' };
  #timer: TimerHandle;

  constructor(options: ForeignLeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#cache = new ListWatchCache<Lease>({
      client: options.client,
      resource: LEASES,
      namespace: options.namespace,
      fieldSelector: `metadata.name=${options.name}`,
      clock: this.#clock,
      ...(options.random === undefined ? {} : { random: options.random }),
    });
    this.#cache.onDelta(() => this.#look());
    this.#cache.onState(() => this.#look());
  }

  /** Open while the Lease is certainly free. */
  get free(): Gate {
    return this.#free.gate;
  }

  /** For reports. */
  get state(): ForeignLeaseState {
    return this.#state;
  }

  start(): this {
    this.#cache.start();
    return this;
  }

  untilSynced(): Promise<void> {
    return this.#cache.untilSynced();
  }

  async close(): Promise<void> {
    await this.#cache.close();
    this.#clock.clearTimeout(this.#timer);
  }

  #look(): void {
    const now = this.#clock.now();
    this.#clock.clearTimeout(this.#timer);
    this.#observed.observe(this.#cache.get(`${this.#options.namespace}/${this.#options.name}`), now);
    const left = this.#observed.expiresAt - now;
    const { holder } = this.#observed;
    if (this.#cache.state !== 'synced') {
      // Without a watch the Lease looks unchanged, but that does not mean that it expired.
      this.#set({ kind: 'unknown' });
    } else if (holder !== '' && left > 0) {
      this.#timer = this.#clock.setTimeout(() => this.#look(), left);
      this.#set({ kind: 'held', holder });
    } else this.#set({ kind: 'free' });
  }

  #set(state: ForeignLeaseState): void {
    const before = this.#state;
    if (before.kind === state.kind && (state.kind !== 'held' || (before.kind === 'held' && before.holder === state.holder))) return;
    this.#state = state;
    this.#free.set(state.kind === 'free');
    const { onChange } = this.#options;
    if (onChange !== undefined) callIsolated(() => onChange(state));
  }
}
