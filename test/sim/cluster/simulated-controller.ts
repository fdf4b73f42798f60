/** One process of the real controller on simulated servers: it can be killed, stopped and continued. */
import { CONTROLLER_LEASE } from '../../../src/api/well-known.ts';
import type { Rule } from '../../../src/compile/rule.ts';
import { Controller } from '../../../src/controller/controller.ts';
import type { LeaseTimes } from '../../../src/controller/leadership/leadership.ts';
import { KubeClient } from '../../../src/kube/client/client.ts';
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import type { InProcessApi } from '../../../lab/apiserver/in-process.ts';
import { monitoredColumns } from '../../../src/nb/tables.ts';
import type { Dial, OvsdbOptions, TransactOutcome } from '../../../src/ovsdb/index.ts';
import { OvsdbSession } from '../../../src/ovsdb/index.ts';
import type { SimulatedServer } from '../../../src/ovsdb/testing/simulated/server.ts';
import type { Log } from '../../../src/runtime/log.ts';
import { DEFAULT_SETTINGS } from '../../../src/world/settings.ts';
import type { Settings } from '../../../src/world/settings.ts';
import type { ApiFaults, Overtakes } from './api-transport.ts';
import { ApiTransport } from './api-transport.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';
import { ProcessClock } from './virtual-time.ts';

/** Longer than in a real cluster, so that renewals are a small part of what happens. */
export const LEASE: LeaseTimes = { durationMs: 30_000, renewMs: 20_000, retryMs: 5_000 };

export interface SimulatedControllerOptions {
  readonly name: string;
  /** Unique to this process. */
  readonly identity: string;
  readonly time: VirtualTime;
  readonly api: InProcessApi;
  readonly ovn: SimulatedServer;
  readonly rules: readonly Rule[];
  readonly random: Random;
  readonly latency: () => number;
  readonly faults: ApiFaults;
  readonly log: Log;
  readonly journal?: Journal;
  readonly readOnly?: boolean;
  /** Milliseconds that its wall clock is off. */
  readonly dateOffMs?: number;
  readonly settings?: Partial<Settings>;
  /** A write of this process took effect on the API server. */
  readonly onWrite?: () => void;
  /** The process sends a request to the API server. */
  readonly onSend?: (request: KubeRequest) => void;
  /** The process sends a transaction. */
  readonly onTransact?: () => void;
  /** The database answered a transaction with an error. */
  readonly onTransactionFailed?: () => void;
  readonly overtakes?: Overtakes;
  /** Objects above which a first list is read from the API server's cache. */
  readonly cachedAbove?: number;
}

/** Marks the timers set after a transaction that the simulation lost or failed. An error of the database itself is no injected fault. */
class FaultAwareSession extends OvsdbSession {
  readonly #clock: ProcessClock;
  readonly #transactionFailed: () => void;

  constructor(clock: ProcessClock, transactionFailed: () => void, options: OvsdbOptions) {
    super(options);
    this.#clock = clock;
    this.#transactionFailed = transactionFailed;
  }

  override async transact(...what: Parameters<OvsdbSession['transact']>): Promise<TransactOutcome> {
    const outcome = await super.transact(...what);
    if (!outcome.ok && outcome.error.outcome === 'rejected') this.#transactionFailed();
    if (!outcome.ok && (outcome.error.outcome !== 'rejected' || outcome.error.code === 'OVSDB_RESOURCES_EXHAUSTED'))
      this.#clock.noteFault();
    return outcome;
  }
}

export class SimulatedController {
  readonly controller: Controller;
  readonly clock: ProcessClock;
  readonly transport: ApiTransport;
  readonly name: string;
  readonly identity: string;
  readonly #ovn: SimulatedServer;
  readonly #time: VirtualTime;
  /** Milliseconds for which it is stopped after it has sent its next transaction. */
  #stopSending: number | undefined;
  #leaseCutUntil = -Infinity;
  readonly #session: OvsdbSession;
  readonly #onTransact: (() => void) | undefined;

  constructor(options: SimulatedControllerOptions) {
    const {
      name,
      identity,
      time,
      api,
      ovn,
      rules,
      random,
      latency,
      faults,
      log,
      readOnly = false,
      settings,
      onWrite,
      onSend,
      overtakes,
    } = options;
    this.name = name;
    this.identity = identity;
    this.#ovn = ovn;
    this.#time = time;
    this.#onTransact = options.onTransact;
    this.clock = new ProcessClock(time, name);
    this.clock.jump(options.dateOffMs ?? 0);
    this.transport = new ApiTransport({
      api,
      clock: this.clock,
      latency,
      faults: {
        fate: (request) =>
          time.now < this.#leaseCutUntil && request.path.includes(`/leases/${CONTROLLER_LEASE}`)
            ? { kind: 'reject', status: 503 }
            : faults.fate(request),
        watchDelay: (plural) => faults.watchDelay(plural),
        repeats: (plural) => faults.repeats(plural),
      },
      ...(overtakes === undefined ? {} : { overtakes }),
      ...(onSend === undefined ? {} : { onSend }),
      watches: !readOnly,
      onRequest: (request, status) => {
        const { method, path } = request;
        if (method !== 'GET' && status < 300 && !path.includes('/leases')) onWrite?.();
      },
    });
    const session = new FaultAwareSession(this.clock, options.onTransactionFailed ?? (() => undefined), {
      endpoints: [1, 2, 3].map((member) => `tcp:127.0.0.1:664${member}`),
      database: 'OVN_Northbound',
      tables: monitoredColumns(),
      leaderOnly: true,
      clock: this.clock,
      random: random.next,
      dial: this.#dial(ovn.dialFor(name, (method) => this.#sent(method))),
    });
    this.#session = session;
    this.controller = new Controller({
      client: new KubeClient(this.transport),
      session,
      rules,
      settings: { ...DEFAULT_SETTINGS, ...settings },
      namespace: 'kube-system',
      log,
      ...(options.journal !== undefined && { journal: options.journal }),
      readOnly,
      collectionLimit: false,
      followDefinitions: false,
      ...(options.cachedAbove !== undefined && { cachedAbove: options.cachedAbove }),
      clock: this.clock,
      random: random.next,
      defer: (turn) => void this.clock.carry(0, turn),
      identity,
      lease: LEASE,
    });
    this.controller.start();
  }

  /** The cause of a message under way is that of its sender. */
  #dial(dial: Dial): Dial {
    const { clock } = this;
    const line = { now: () => clock.now(), schedule: (ms: number, run: () => void) => clock.carry(ms, run) };
    return (endpoint, tls, timeoutMs, _clock, ...rest) => dial(endpoint, tls, timeoutMs, line, ...rest);
  }

  /** Whether it has received everything that the servers sent. */
  get caughtUp(): boolean {
    return this.transport.caughtUp && this.#session.state === 'synced';
  }

  /** SIGSTOP, and SIGCONT after that time. @param asleep its monotonic clock does not count the time */
  stop(ms: number, asleep: boolean): void {
    if (this.clock.stopped) return;
    this.#time.after(ms, this.clock.stop(asleep));
  }

  /** Stops it right after it sent its next transaction, which arrives when the process continues. */
  stopSending(ms: number | undefined): void {
    this.#stopSending = ms;
  }

  /** For this time its requests for the Lease fail. */
  cutLease(ms: number): void {
    this.#leaseCutUntil = this.#time.now + ms;
  }

  #sent(method: string | undefined): void {
    if (method !== 'transact') return;
    this.#onTransact?.();
    if (this.#stopSending === undefined) return;
    this.stop(this.#stopSending, true);
    this.#stopSending = undefined;
  }

  /** SIGKILL: nothing more runs, and its connections break. */
  kill(): void {
    this.clock.end();
    this.transport.abandon();
    this.#ovn.disconnect(this.name);
  }
}
