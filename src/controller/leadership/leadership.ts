/**
 * Which process may write: the holder of Kiln's Lease, with the newest term in the Northbound database, while Kube-OVN's own Lease is free.
 */
import { CONTROLLER_LEASE, KUBE_OVN_LEASE } from '../../api/well-known.ts';
import { Fence } from '../../commit/fence.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Clock, Random } from '../../timing/clock.ts';
import { allOf, type Gate, GateKeeper } from '../../timing/gate.ts';
import { ForeignLeaseWatch } from '../../kube/leader/foreign-lease-watch.ts';
import { LeaderElection } from '../../kube/leader/leader-election.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import type { ApiOutage } from '../outages/api-outage.ts';
import type { NorthboundFailures } from '../outages/northbound-failures.ts';

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
  readonly northboundFailures: NorthboundFailures;
  readonly clock: Clock;
  readonly random?: Random;
  readonly identity?: string;
  readonly lease?: LeaseTimes;
  /** The leader's annotations on the Lease. */
  readonly publishes: () => Readonly<Record<string, string | undefined>>;
  /** Observe only: never acquire the Lease. */
  readonly readOnly: boolean;
  /** Called when the right to write may have changed. */
  readonly changed: () => void;
  /** Called when a new term was written: everything has to be compared again. */
  readonly raised: () => void;
  readonly later: (ms: number, run: () => void) => void;
}

const RAISE_RETRY_MS = 500;
/** Default duration of the Lease. */
const LEASE_MS = 15_000;

export class Leadership {
  readonly fence: Fence;
  /** Open while this process may write Kubernetes objects. */
  readonly objects: Gate;
  /** Open while it may write rows as well: it has the term. */
  readonly rows: Gate;
  readonly #options: LeadershipOptions;
  readonly #election: LeaderElection;
  readonly #kubeOvn: ForeignLeaseWatch;
  #raising = false;
  #standing = false;
  #kubeOvnWasActive = false;
  /** No newer term is in the database, as far as this process knows. */
  readonly #newest = new GateKeeper('newest-term');
  readonly #synced = new GateKeeper('northbound');
  /** The Lease's `leaseTransitions` when it was acquired. */
  #gains = 0;
  /** When this process was deposed, in monotonic milliseconds. */
  #deposedAt = -Infinity;
  /** Whether the next successful renewal ends the deposition. */
  #contested = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    const {
      client,
      leaseClient,
      namespace,
      log,
      outage,
      northboundFailures,
      identity,
      lease,
      changed,
      clock,
      publishes: annotations,
    } = options;
    const random = options.random === undefined ? {} : { random: options.random };
    this.fence = new Fence(options.session, (error) => northboundFailures.failed(error));
    this.#newest.open();
    options.session.onState((state) => this.#synced.set(state === 'synced'));
    this.#synced.set(options.session.state === 'synced');
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
        this.#newest.open();
        this.fence.drop();
        changed();
      },
      onLost: (reason) => {
        log.warn('no longer leading', { reason, ...(reason === 'taken' ? { holder: this.#election.holder } : {}) });
        // The next leader will write what this one could not.
        outage.answered('writes');
        northboundFailures.forget();
        this.fence.drop();
        changed();
      },
      onError: (error) => {
        if (!outage.failed('lease', error)) log.warn('lease could not be renewed', { code: error.code, error: error.message });
      },
      onAnswered: () => {
        outage.answered('lease');
        if (this.#contested && !this.#newest.isOpen && this.holdsLease && this.#election.renewedAt >= this.#deposedAt)
          this.#takeNext('the API server confirms that this process holds the Lease: it takes the next term');
      },
    });
    // A process that only observes never opens it.
    const writes = new GateKeeper('read-only');
    writes.set(!options.readOnly);
    this.objects = allOf('objects', [writes.gate, this.#newest.gate, this.#election.leads, this.#kubeOvn.free]);
    this.rows = allOf('rows', [this.objects, this.#synced.gate, this.fence.raised]);
  }

  start(): void {
    this.#kubeOvn.start();
  }

  /** Starts the election when all lists are complete: a process that cannot work must not keep the Lease from one that can. */
  stand(): void {
    if (this.#standing || this.#options.readOnly) return;
    this.#standing = true;
    this.#election.start();
  }

  /** Releases the Lease. */
  async stop(): Promise<void> {
    if (this.#standing) await this.#election.stop();
    await this.#kubeOvn.close();
  }

  get identity(): string {
    return this.#election.identity;
  }

  /** Whether this process certainly holds the Lease now. For reports; what may be written now, the gates say. */
  get holdsLease(): boolean {
    return this.#election.isLeader();
  }

  get kubeOvnActive(): boolean {
    return this.#kubeOvn.state.kind === 'held';
  }

  /** The term with which it may write now; for reports. */
  get writingTerm(): number | undefined {
    const may = !this.#options.readOnly && this.#newest.isOpen && this.holdsLease && this.#kubeOvn.state.kind === 'free';
    return may ? this.fence.term : undefined;
  }

  /**
   * A newer term is in the database: this process writes nothing until it certainly holds the Lease, and renews it at once. If another
   * process holds the Lease, this one has lost it. If the renewal succeeds, the newer term belongs to no leader (a suspended process wrote
   * it after losing the Lease, the database was restored from elsewhere, or a user wrote it), and this process takes the next term. If that
   * happens again within the duration of the Lease, it waits for that duration first, so that two processes do not raise terms in a loop.
   */
  depose(): void {
    if (!this.#newest.isOpen) return;
    const now = this.#options.clock.now();
    const durationMs = this.#options.lease?.durationMs ?? LEASE_MS;
    this.#contested = now - this.#deposedAt >= durationMs;
    this.#deposedAt = now;
    this.#newest.close();
    this.#options.log.error('deposed: another process writes with a newer term; this one stops writing until it certainly holds the Lease');
    if (this.#contested) this.#election.renewNow();
    this.#options.later(durationMs, () => {
      if (!this.#newest.isOpen && this.#deposedAt === now && this.holdsLease)
        this.#takeNext('this process still holds the Lease: it takes the next term');
    });
  }

  #takeNext(why: string): void {
    this.#options.log.warn(why);
    this.fence.drop();
    this.#newest.open();
    this.#options.changed();
  }

  /** A leader without a term, or without the row of NB_Global, takes the next term. */
  raiseFence(): void {
    if (this.#raising || this.fence.isRaised) return;
    const { changed } = this.#options;
    if (!this.objects.passes(changed) || !this.#synced.gate.passes(changed)) return;
    this.#raising = true;
    void this.fence.raise(this.#gains).then((raised) => {
      this.#raising = false;
      if (raised) {
        this.#options.northboundFailures.accepted();
        this.#options.log.info('writing', { term: this.fence.term });
        this.#options.raised();
      } else this.#raiseLater();
    });
  }

  /** Another program wrote the row at the same time, or the server did not answer: try again later, so that two processes do not loop. */
  #raiseLater(): void {
    this.#options.later(RAISE_RETRY_MS, this.#options.changed);
  }
}
