/** A Northbound writer with a session, a World and a fence of its own, for tests against a real ovsdb-server. */
import assert from 'node:assert/strict';
import type { Drift } from '../../diff/drift.ts';
import { Desired } from '../../compile/desired.ts';
import type { ObjectId, Output } from '../../compile/output.ts';
import type { Journal } from '../../journal/journal.ts';
import { NO_JOURNAL } from '../../journal/journal.ts';
import { monitoredColumns } from '../../nb/tables.ts';
import type { OvsdbError } from '../../ovsdb/index.ts';
import { OvsdbSession } from '../../ovsdb/index.ts';
import type { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { until } from '../../testing/until.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { OPEN_GATE } from '../collection-gate.ts';
import { Fence } from '../fence.ts';
import type { TransactionReport } from '../northbound-writer.ts';
import { NorthboundWriter } from '../northbound-writer.ts';

/** The writer of one controller process. */
export class WriterProcess implements AsyncDisposable {
  readonly world = new World(DEFAULT_SETTINGS);
  readonly desired = new Desired();
  readonly session: OvsdbSession;
  readonly fence: Fence;
  readonly writer: NorthboundWriter;
  readonly reports: TransactionReport[] = [];
  readonly leftOut: string[] = [];
  readonly drifted: Drift[] = [];
  readonly repaired: Drift[] = [];
  /** Owners for which a rule throws. */
  readonly undecided = new Set<string>();
  /** Objects that exist, as owner texts. */
  readonly owners = new Set<string>();
  /** Objects that an unanswered write releases. */
  readonly releasing = new Set<ObjectId>();
  /** How often the writer called `wake`. */
  wakes = 0;
  deposed = false;
  /** Timers take their full time; by default they are shortened. */
  slow = false;
  leads = true;
  /** All writes of earlier leaders were observed. A leader that listed from a cache knows that only later. */
  upToDate = true;
  readonly #journal: Journal;
  #outputs: readonly Output[] = [];

  /**
   * @param server one, or the endpoints of a cluster
   * @param onFailed called with the reason when the server rejects a new term
   */
  constructor(server: OvsdbServerProcess | readonly string[], onFailed?: (error: OvsdbError) => void, journal: Journal = NO_JOURNAL) {
    this.#journal = journal;
    const endpoints = 'unix' in server ? [server.unix] : server;
    this.session = new OvsdbSession({
      endpoints,
      database: 'OVN_Northbound',
      tables: monitoredColumns(),
      leaderOnly: endpoints.length > 1,
      probeIntervalMs: endpoints.length > 1 ? 1_000 : 5_000,
    });
    this.fence = new Fence(this.session, onFailed);
    this.writer = new NorthboundWriter({
      session: this.session,
      world: this.world,
      desired: this.desired.rows,
      fence: this.fence,
      gate: OPEN_GATE,
      journal,
      ownerExists: (owner) => this.owners.has(owner),
      undecided: (owner) => this.undecided.has(owner),
      isBeingReleased: (object) => this.releasing.has(object),
      upToDate: () => this.upToDate,
      mayWrite: () => this.leads && this.session.state === 'synced',
      deposed: () => {
        this.deposed = true;
        this.leads = false;
      },
      onTransaction: (report) => this.reports.push(report),
      onDrift: (drifts, repaired) => (repaired ? this.repaired : this.drifted).push(...drifts),
      onLeftOut: (what) => this.leftOut.push(what),
      now: () => performance.now(),
      wallTime: () => Date.now(),
      later: (ms, again) => void setTimeout(again, this.slow ? ms : Math.min(ms, 50)).unref(),
      wake: () => {
        this.wakes++;
        setImmediate(() => this.writer.flush());
      },
    });
    this.session.onChanges((batch) => {
      this.world.rows.apply(this.session.replica, batch);
      setImmediate(() => this.writer.flush());
    });
  }

  async start(leads = true): Promise<this> {
    this.leads = leads;
    this.session.onState((state) => {
      if (state === 'synced') this.writer.examineAll();
      setImmediate(() => this.writer.flush());
    });
    this.session.start();
    await this.session.untilSynced();
    assert.equal(await this.fence.raise(0), true);
    return this;
  }

  /** Sends nothing yet. */
  desire(outputs: readonly Output[]): void {
    this.desired.replace(this.#outputs, outputs);
    this.#outputs = outputs;
  }

  async want(outputs: readonly Output[]): Promise<void> {
    this.desire(outputs);
    this.writer.flush();
    await this.quiet();
  }

  /** Resolves when the replica has all that others have committed: the server sends it before the reply to a later request. */
  async seen(): Promise<void> {
    await this.session.transact([{ op: 'comment', comment: 'seen' }]);
  }

  async quiet(): Promise<void> {
    await until('the writer is quiet', () => {
      this.writer.flush();
      return this.writer.quiet;
    });
  }

  /** Closes its journal, too. */
  async close(): Promise<void> {
    await this.session.close();
    await this.#journal.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
