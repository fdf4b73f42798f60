import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeClient } from '../client/client.ts';
import { subjectOf } from '../client/client.ts';
import { type Clock, type Random, sleep, systemClock } from '../../timing/clock.ts';
import { isKubeError, KubeError } from '../errors.ts';
import { type Gate, GateKeeper } from '../../timing/gate.ts';
import { freeLease } from './lease-release.ts';
import { type Lease, LeaseObservation, type LeaseSpec, microTime } from './lease.ts';
import { LEASES, type ObjectMeta } from '../resource.ts';
import { callIsolated } from '../isolated-call.ts';

export interface LeaderElectionOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process. Default: the host's name and random digits. */
  readonly identity?: string;
  /** Other candidates wait this long after the holder's last renewal. Default 15 s. */
  readonly leaseDurationMs?: number;
  /** The holder stops this long after the start of its last successful renewal. Default 10 s; must be less than leaseDurationMs. */
  readonly renewDeadlineMs?: number;
  /** Between attempts to acquire or renew. Default 2 s. */
  readonly retryPeriodMs?: number;
  /**
   * Annotations of the holder on the Lease, read at each write of it; annotations of others stay. Undefined removes one.
   */
  readonly annotations?: () => Readonly<Record<string, string | undefined>>;
  readonly onGained?: (transitions: number) => void;
  readonly onLost?: (reason: LostReason) => void;
  /** Called when the holder changes (empty: no holder). */
  readonly onHolder?: (identity: string) => void;
  readonly onError?: (error: KubeError) => void;
  /** Called after each attempt that the server answered, also when another process holds the Lease. */
  readonly onAnswered?: () => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** `expired`: not renewed in time. `taken`: another process holds the Lease. `released`: `stop` was called. */
export type LostReason = 'expired' | 'taken' | 'released';

/**
 * Acquires a Lease and renews it. `leads` is the fence: ask it right before each write. It reads the clock, so it is right also when
 * the event loop was late and no callback has run yet. A late renewal closes it for a moment without any callback; the next one that
 * succeeds opens it. Pass a client with a transport of its own: otherwise renewals wait behind a burst
 * of writes.
 */
export class LeaderElection {
  readonly identity: string;
  readonly #options: LeaderElectionOptions;
  readonly #clock: Clock;
  readonly #durationMs: number;
  readonly #deadlineMs: number;
  readonly #retryMs: number;
  readonly #stop = new AbortController();
  readonly #observed = new LeaseObservation();
  #running: Promise<void> | undefined;
  readonly #leads: GateKeeper;
  /** Ends the pause between two attempts. A signal of its own: Node keeps a combined signal in memory for as long as it has listeners. */
  #pause = new AbortController();
  #hurried = false;
  #announced = false;
  #knownHolder: string | undefined;
  /** Our last successful write; undefined once the Lease may have changed since. */
  #written: Lease | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#leads = new GateKeeper('lease', this.#clock);
    this.identity = options.identity ?? `${hostname()}_${randomBytes(8).toString('hex')}`;
    this.#durationMs = options.leaseDurationMs ?? 15_000;
    this.#deadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryPeriodMs ?? 2_000;
    if (this.#deadlineMs >= this.#durationMs || this.#retryMs >= this.#deadlineMs) {
      throw new RangeError('leader election needs retryPeriod < renewDeadline < leaseDuration');
    }
  }

  /** Open while this process certainly holds the Lease. */
  get leads(): Gate {
    return this.#leads.gate;
  }

  /** The same for who does not wait: reports, and commands that end. */
  isLeader(): boolean {
    return this.#leads.isOpen;
  }

  /** Milliseconds left to `isLeader`; 0 where it is false. */
  get leaderForMs(): number {
    return Math.max(0, this.#leads.openUntil - this.#clock.now());
  }

  /** When the last successful renewal began: the Lease was certainly ours then. */
  get renewedAt(): number {
    return this.#leads.openUntil - this.#deadlineMs;
  }

  /** Starts the next attempt now instead of after the pause; `onAnswered` follows. */
  renewNow(): void {
    this.#hurried = true;
    this.#pause.abort();
  }

  /** The holder as last seen; empty: none. */
  get holder(): string {
    return this.#observed.holder;
  }

  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  /** Ends leadership at once, then releases the Lease so that the next leader need not wait. Finish all writes before. */
  async stop(): Promise<void> {
    const wasLeader = this.isLeader();
    this.#leads.close();
    this.#stop.abort();
    this.renewNow();
    if (this.#announced) this.#lose('released');
    await this.#running;
    if (!wasLeader) return;
    try {
      await freeLease(this.#options.client, this.#options, this.identity, this.#clock.wallTime());
    } catch (error) {
      this.#report(error);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const started = this.#clock.now();
      this.#hurried = false;
      try {
        await this.#attempt(started);
        const { onAnswered } = this.#options;
        if (onAnswered !== undefined) callIsolated(onAnswered);
      } catch (error) {
        if (signal.aborted) return;
        this.#report(error);
      }
      if (this.#announced && !this.isLeader()) this.#lose(this.#observed.holder === this.identity ? 'expired' : 'taken');
      // A loss must be announced when it happens, not one retry later; random jitter keeps candidates out of step.
      const random = (this.#options.random ?? Math.random)();
      const pause = this.#announced ? Math.min(this.#retryMs, this.leaderForMs) : this.#retryMs * (1 + 0.2 * random);
      if (!this.#hurried) {
        this.#pause = new AbortController();
        await sleep(this.#clock, pause, this.#pause.signal);
      }
      if (this.#announced && !this.isLeader() && !signal.aborted) this.#lose('expired');
    }
  }

  /** One attempt to acquire or renew. @param started when it began: the right to lead counts from here */
  async #attempt(started: number): Promise<void> {
    const timeout = new AbortController();
    // Two attempts must fit into the deadline, or one slow answer loses the Lease.
    const timer = this.#clock.setTimeout(() => timeout.abort(), this.#deadlineMs / 2);
    try {
      await this.#gainOrRenew(started, AbortSignal.any([this.#stop.signal, timeout.signal]));
    } catch (error) {
      if (!timeout.signal.aborted || !isKubeError(error, 'KUBE_CLOSED')) throw error;
      const { subject } = error;
      throw new KubeError('KUBE_TIMEOUT', subject, `the server did not answer within ${this.#deadlineMs / 2_000} s`, { cause: error });
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  async #gainOrRenew(started: number, timeout: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const seen = this.#written ?? (await client.find<Lease>(LEASES, this.#options, timeout));
    this.#written = undefined;
    this.#observe(seen);
    const spec = seen?.spec ?? {};
    const mine = spec.holderIdentity === this.identity;
    if (!mine) {
      this.#leads.close();
      if (this.#clock.now() < this.#observed.expiresAt) return;
    }
    const now = microTime(this.#clock.wallTime());
    const wanted: LeaseSpec = {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.ceil(this.#durationMs / 1000),
      acquireTime: mine ? (spec.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (spec.leaseTransitions ?? 0) + (mine || seen === undefined ? 0 : 1),
    };
    try {
      const written = seen === undefined ? await this.#create(wanted, timeout) : await this.#put(seen, wanted, timeout);
      if (this.#stop.signal.aborted) return;
      this.#written = written;
      this.#observe(written);
      const until = started + this.#deadlineMs;
      const isGain = !this.#announced && this.#clock.now() < until;
      this.#announced ||= isGain;
      this.#leads.open(until);
      const { onGained } = this.#options;
      if (isGain && onGained !== undefined) callIsolated(() => onGained(written.spec?.leaseTransitions ?? 0));
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
      // Another program wrote it: read the holder before another write passes the fence.
      this.#observe(await client.find<Lease>(LEASES, this.#options, timeout));
      if (this.#observed.holder !== this.identity) this.#leads.close();
    }
  }

  #create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const { client, namespace, name } = this.#options;
    return client.create<Lease>(LEASES, { metadata: this.#annotated({ name, namespace }), spec }, { signal });
  }

  /** Guarded by the resourceVersion that was read. */
  #put({ metadata, ...lease }: Lease, spec: LeaseSpec, signal?: AbortSignal): Promise<Lease> {
    return this.#options.client.update<Lease>(LEASES, { ...lease, metadata: this.#annotated(metadata), spec }, { signal });
  }

  #annotated(metadata: ObjectMeta): ObjectMeta {
    const all = { ...metadata.annotations, ...this.#options.annotations?.() };
    const annotations = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
    return Object.keys(all).length === 0 ? metadata : { ...metadata, annotations };
  }

  #observe(lease: Lease | undefined): void {
    this.#observed.observe(lease, this.#clock.now());
    if (this.#observed.holder === this.#knownHolder) return;
    const holder = (this.#knownHolder = this.#observed.holder);
    const { onHolder } = this.#options;
    if (onHolder !== undefined) callIsolated(() => onHolder(holder));
  }

  #lose(reason: LostReason): void {
    this.#announced = false;
    const { onLost } = this.#options;
    if (onLost !== undefined) callIsolated(() => onLost(reason));
  }

  #report(error: unknown): void {
    const { onError } = this.#options;
    const subject = subjectOf('renew', LEASES, this.#options);
    const coded = error instanceof KubeError ? error : new KubeError('KUBE_PROTOCOL', subject, String(error), { cause: error });
    if (onError !== undefined) callIsolated(() => onError(coded));
  }
}
