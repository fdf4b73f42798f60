/** One process of the real controller on the simulation's outsides: it can be killed, stopped and continued. */
import { CONTROLLER_LEASE } from '../../../src/api/well-known.ts';
import type { Rule } from '../../../src/compile/compiler.ts';
import { Controller } from '../../../src/controller/controller.ts';
import type { LeaseTimes } from '../../../src/controller/leadership/leadership.ts';
import { KubeClient } from '../../../src/kube/client.ts';
import type { KubeRequest } from '../../../src/kube/transport.ts';
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

/** Longer than in a cluster, so that renewals are a small part of what happens. */
export const LEASE: LeaseTimes = { durationMs: 30_000, renewMs: 20_000, retryMs: 5_000 };

export interface SimulatedControllerOptions {
  readonly name: string;
  /** Of this process alone. */
  readonly identity: string;
  readonly time: VirtualTime;
  readonly api: InProcessApi;
  readonly ovn: SimulatedServer;
  readonly rules: readonly Rule[];
  readonly random: Random;
  readonly latency: () => number;
  readonly faults: ApiFaults;
  readonly log: Log;
  readonly readOnly?: boolean;
  /** Milliseconds that its date is off. */
  readonly dateOffMs?: number;
  readonly settings?: Partial<Settings>;
  /** A write of this process took effect on the API server. */
  readonly onWrite?: () => void;
  /** It asks something of the API server: told when that is put on its way. */
  readonly onSend?: (request: KubeRequest) => void;
  /** It puts a transaction on its way. */
  readonly onTransact?: () => void;
  /** The database has told it that it refuses a transaction. */
  readonly onRefused?: () => void;
  readonly overtakes?: Overtakes;
  /** Objects above which a first list is read from the API server's cache. */
  readonly cachedAbove?: number;
}

/** Says when the simulation has lost or refused a transaction; what the database itself refuses is no fault that was inflicted. */
class StruckSession extends OvsdbSession {
  readonly #clock: ProcessClock;
  readonly #refused: () => void;

  constructor(clock: ProcessClock, refused: () => void, options: OvsdbOptions) {
    super(options);
    this.#clock = clock;
    this.#refused = refused;
  }

  override async transact(...what: Parameters<OvsdbSession['transact']>): Promise<TransactOutcome> {
    const outcome = await super.transact(...what);
    if (!outcome.ok && outcome.error.outcome === 'rejected') this.#refused();
    if (!outcome.ok && (outcome.error.outcome !== 'rejected' || outcome.error.code === 'OVSDB_RESOURCES_EXHAUSTED')) this.#clock.strike();
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
  /** Milliseconds that it is stopped for when it has sent its next transaction. */
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
            ? { kind: 'refuse', status: 503 }
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
    const session = new StruckSession(this.clock, options.onRefused ?? (() => undefined), {
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

  /** What is under way comes because of who sent it. */
  #dial(dial: Dial): Dial {
    const { clock } = this;
    const line = { now: () => clock.now(), schedule: (ms: number, run: () => void) => clock.carry(ms, run) };
    return (endpoint, tls, timeoutMs, _clock, ...told) => dial(endpoint, tls, timeoutMs, line, ...told);
  }

  /** It has seen all that the servers said. */
  get caughtUp(): boolean {
    return this.transport.caughtUp && this.#session.state === 'synced';
  }

  /** SIGSTOP, and SIGCONT after that time. @param asleep its monotonic clock does not count the time */
  stop(ms: number, asleep: boolean): void {
    if (this.clock.stopped) return;
    this.#time.after(ms, this.clock.stop(asleep));
  }

  /** The same right after it sent its next transaction: that arrives when the process goes on. */
  stopSending(ms: number | undefined): void {
    this.#stopSending = ms;
  }

  /** Its Lease cannot be asked for, for so long. */
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

  /** SIGKILL: nothing more runs; its connections break. */
  kill(): void {
    this.clock.end();
    this.transport.abandon();
    this.#ovn.disconnect(this.name);
  }
}
