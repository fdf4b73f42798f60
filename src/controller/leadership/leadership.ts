/**
 * Who may write: the holder of Kiln's Lease, with the newest term in the Northbound database, while Kube-OVN's own Lease is free.
 */
import { CONTROLLER_LEASE, KUBE_OVN_LEASE } from '../../api/well-known.ts';
import { Fence } from '../../commit/fence.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock, Random } from '../../kube/clock.ts';
import { ForeignLeaseWatch } from '../../kube/foreign-lease-watch.ts';
import { LeaderElection } from '../../kube/leader-election.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import type { ApiOutage } from '../outages/api-outage.ts';
import type { NorthboundRefusals } from '../outages/northbound-refusals.ts';

/** Milliseconds. */
export interface LeaseTimes {
  readonly durationMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

export interface LeadershipOptions {
  readonly client: KubeClient;
  /** A connection of its own for the Lease, so that renewals never wait behind a burst of writes. */
  readonly leaseClient: KubeClient;
  readonly session: OvsdbSession;
  readonly namespace: string;
  readonly log: Log;
  readonly outage: ApiOutage;
  readonly refusals: NorthboundRefusals;
  readonly clock: Clock;
  readonly random?: Random;
  readonly identity?: string;
  readonly lease?: LeaseTimes;
  /** What the leader tells of itself, as annotations of the Lease. */
  readonly publishes: () => Readonly<Record<string, string | undefined>>;
  /** Observe only: never ask for the Lease. */
  readonly readOnly: boolean;
  /** Something about it changed. */
  readonly changed: () => void;
  /** A new term was written: everything is to be looked at again. */
  readonly raised: () => void;
  readonly later: (ms: number, run: () => void) => void;
}

const RAISE_RETRY_MS = 500;
/** As long as a Lease lasts where nothing else is said. */
const LEASE_MS = 15_000;

export class Leadership {
  readonly fence: Fence;
  readonly #options: LeadershipOptions;
  readonly #election: LeaderElection;
  readonly #kubeOvn: ForeignLeaseWatch;
  #raising = false;
  #standing = false;
  #kubeOvnWasActive = false;
  #deposed = false;
  /** How often the Lease had changed hands when it was gained. */
  #gains = 0;
  /** When, in monotonic milliseconds. */
  #deposedAt = -Infinity;
  /** Whether the next proof that the Lease is ours ends it. */
  #contested = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    const { client, leaseClient, namespace, log, outage, refusals, identity, lease, changed, clock, publishes: annotations } = options;
    const random = options.random === undefined ? {} : { random: options.random };
    this.fence = new Fence(options.session, (error) => refusals.refused(error));
    this.#kubeOvn = new ForeignLeaseWatch({
      client,
      namespace,
      name: KUBE_OVN_LEASE,
      clock,
      ...random,
      onChange: (state) => {
        if (state.kind === 'held')
          log.warn("Kube-OVN's controller is active; Kiln observes and does not write", {
            lease: `${namespace}/${KUBE_OVN_LEASE}`,
            holder: state.holder,
          });
        else if (this.#kubeOvnWasActive && state.kind === 'free') log.info("Kube-OVN's controller is not active any more; Kiln may write");
        this.#kubeOvnWasActive = state.kind === 'held';
        changed();
      },
    });
    this.#election = new LeaderElection({
      client: leaseClient,
      namespace,
      name: CONTROLLER_LEASE,
      clock,
      annotations,
      ...random,
      ...(identity === undefined ? {} : { identity }),
      ...(lease === undefined ? {} : { leaseDurationMs: lease.durationMs, renewDeadlineMs: lease.renewMs, retryPeriodMs: lease.retryMs }),
      onGained: (transitions) => {
        this.#gains = transitions;
        log.info('leading', { lease: `${namespace}/${CONTROLLER_LEASE}`, identity: this.#election.identity });
        this.#deposed = false;
        this.fence.drop();
        changed();
      },
      onLost: (reason) => {
        log.warn('no longer leading', { reason, ...(reason === 'taken' ? { holder: this.#election.holder } : {}) });
        // What could not be written is the next leader's work.
        outage.answered('writes');
        refusals.forget();
        this.fence.drop();
        changed();
      },
      onError: (error) => {
        if (!outage.failed('lease', error)) log.warn('lease could not be renewed', { code: error.code, error: error.message });
      },
      onAnswered: () => {
        outage.answered('lease');
        if (this.#contested && this.#deposed && this.holdsLease && this.#election.renewedAt >= this.#deposedAt)
          this.#takeNext('the API server says that the Lease is held here: taking the next term');
      },
    });
  }

  start(): void {
    this.#kubeOvn.start();
  }

  /** Asks for the Lease, once everything was observed: a process that cannot work must not keep the Lease from one that can. */
  stand(): void {
    if (this.#standing || this.#options.readOnly) return;
    this.#standing = true;
    this.#election.start();
  }

  /** Gives the Lease back. */
  async stop(): Promise<void> {
    if (this.#standing) await this.#election.stop();
    await this.#kubeOvn.close();
  }

  get identity(): string {
    return this.#election.identity;
  }

  /** The Lease is surely ours right now: asked before each write. */
  get holdsLease(): boolean {
    return this.#election.isLeader();
  }

  get kubeOvnActive(): boolean {
    return this.#kubeOvn.state.kind === 'held';
  }

  /** Kubernetes writes may go out. */
  get mayWriteObjects(): boolean {
    return !this.#options.readOnly && !this.#deposed && this.#election.isLeader() && this.#kubeOvn.state.kind === 'free';
  }

  /** Northbound writes may go out as well: the fence is ours. */
  get mayWriteRows(): boolean {
    return this.mayWriteObjects && this.#options.session.state === 'synced' && this.fence.term !== undefined;
  }

  /**
   * Another process has a newer term: nothing is written until the Lease is surely this one's. The API server is asked at once: if that process
   * holds the Lease, this one has lost it; if this one renews it, the newer term belongs to no leader (a process that was stopped wrote it
   * after it lost the Lease, the database was restored from elsewhere, somebody wrote it by hand), and the next one is taken. Who finds a newer term
   * again within the time of a Lease waits for as long before it takes another: two are not to be hot over it.
   */
  depose(): void {
    if (this.#deposed) return;
    const now = this.#options.clock.now();
    const durationMs = this.#options.lease?.durationMs ?? LEASE_MS;
    this.#contested = now - this.#deposedAt >= durationMs;
    this.#deposedAt = now;
    this.#deposed = true;
    this.#options.log.error('deposed: another process writes with a newer term; this one stops writing until the Lease is surely its own');
    if (this.#contested) this.#election.renewNow();
    this.#options.later(durationMs, () => {
      if (this.#deposed && this.#deposedAt === now && this.holdsLease) this.#takeNext('the Lease is still held here: taking the next term');
    });
  }

  #takeNext(why: string): void {
    this.#options.log.warn(why);
    this.#deposed = false;
    this.fence.drop();
    this.#options.changed();
  }

  /** A leader without a term takes the next one; so does one whose NB_Global row vanished. */
  raiseFence(): void {
    if (this.#raising || !this.mayWriteObjects || this.#options.session.state !== 'synced') return;
    if (this.fence.isRaised) return;
    this.#raising = true;
    void this.fence.raise(this.#gains).then((raised) => {
      this.#raising = false;
      if (raised) {
        this.#options.refusals.accepted();
        this.#options.log.info('writing', { term: this.fence.term });
        this.#options.raised();
      } else this.#raiseLater();
    });
  }

  /** Somebody wrote the same row in that moment, or the server could not be asked: two who both would lead are not to be hot over it. */
  #raiseLater(): void {
    this.#options.later(RAISE_RETRY_MS, this.#options.changed);
  }
}
