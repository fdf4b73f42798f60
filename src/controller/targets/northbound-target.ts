/**
 * The Northbound database as a target. Observed: rows by identity (`World.rows`), from the replica of a monitor. Ownership: the keys in
 * `external_ids`. Diff: row by row and member by member. Guards: the ownership of each changed row. Fence: the leader's term in NB_Global.
 */
import type { NorthboundWriterOptions, PlannedRow } from '../../commit/northbound-writer.ts';
import { NorthboundWriter } from '../../commit/northbound-writer.ts';
import type { DesiredObjects } from '../../compile/desired-objects.ts';
import type { DesiredRows } from '../../compile/desired-rows.ts';
import type { RowId } from '../../nb/row-id.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import { TURN_MS } from '../../engine/turns.ts';
import type { Clock } from '../../timing/clock.ts';
import { clusterObject } from '../../world/built-in.ts';
import type { World } from '../../world/world.ts';
import type { Leadership } from '../leadership/leadership.ts';
import type { NorthboundFailures } from '../outages/northbound-failures.ts';
import type { JournalTroubleOptions } from '../outages/journal-trouble.ts';
import { reportJournal } from '../outages/journal-trouble.ts';
import type { NorthboundLoss } from '../outages/northbound-loss.ts';
import type { Caches } from '../reading/caches.ts';
import { RowIntake } from '../reading/row-intake.ts';
import type { DriftReport } from '../reports/drift-report.ts';
import type { SharedLog } from '../reports/shared-log.ts';
import type { TurnMeter } from '../reports/turn-meter.ts';
import { logTransaction } from '../reports/write-log.ts';
import { Collection } from './collection.ts';

type FromWriter = 'journal' | 'undecided' | 'isBeingReleased' | 'mayWrite' | 'upToDate' | 'later' | 'wake';

export interface NorthboundTargetOptions extends Pick<NorthboundWriterOptions, FromWriter> {
  readonly session: OvsdbSession;
  readonly world: World;
  readonly desired: DesiredRows;
  /** What is left in Kubernetes is counted with the rows. */
  readonly objects: Pick<DesiredObjects, 'ids' | 'of'>;
  readonly leadership: Pick<Leadership, 'fence' | 'raiseFence' | 'depose'>;
  readonly caches: Pick<Caches, 'explains' | 'ownerExists' | 'confirmed' | 'sizeOf'>;
  /** False: collection never pauses. */
  readonly collectionLimit: boolean;
  /** More may be collected than before, or less. */
  readonly collectionChanged: () => void;
  readonly failures: NorthboundFailures;
  readonly loss: NorthboundLoss;
  readonly drift: Pick<DriftReport, 'report'>;
  readonly event: JournalTroubleOptions['event'];
  readonly meter: TurnMeter;
  readonly log: Log;
  readonly shared: SharedLog;
  readonly clock: Clock;
  readonly defer: (run: () => void) => void;
}

export class NorthboundTarget implements Target {
  readonly name = 'rows';
  readonly writer: NorthboundWriter;
  readonly collection: Collection;
  readonly #options: NorthboundTargetOptions;
  readonly #intake: RowIntake;
  #transactions = 0;
  #rowsWritten = 0;

  constructor(options: NorthboundTargetOptions) {
    this.#options = options;
    const { session, world, desired, leadership, log, clock, meter, later, wake } = options;
    this.#intake = new RowIntake({ rows: world.rows, clock, stepMs: TURN_MS, defer: options.defer, done: wake });
    this.collection = new Collection({
      enabled: options.collectionLimit,
      ...{ world, desired, log, clock, later, wake, objects: options.objects },
      caches: options.caches,
      undecided: options.undecided,
      leads: options.mayWrite,
      about: clusterObject(world.settings),
      event: options.event,
      held: () => meter.paused(),
      again: () => {
        this.examineAll();
        options.collectionChanged();
        wake();
      },
    });
    this.writer = new NorthboundWriter({
      ...options,
      fence: leadership.fence,
      gate: this.collection,
      ownerExists: (owner) => options.caches.ownerExists(owner),
      deposed: () => leadership.depose(),
      onTransaction: (report) => {
        meter.transaction(report);
        logTransaction(options.shared.of(report.share ?? ''), options.failures, report);
        if (!report.ok) return;
        options.loss.accepted();
        this.#transactions++;
        this.#rowsWritten += report.rows;
      },
      onDrift: (drifts, repaired) => options.drift.report(drifts, repaired),
      onLeftOut: (what) =>
        log.warn("this OVN's schema cannot hold a column or value; it is left out", { what, schema: session.schema?.version }),
      now: () => clock.now(),
      wallTime: () => clock.wallTime(),
    });
    reportJournal({ ...options, about: clusterObject(world.settings), leads: options.mayWrite });
    session.onChanges((batch) => this.#intake.take(session.replica, batch));
    session.onState((state) => {
      log.debug('ovsdb', { state });
      if (state === 'synced') this.examineAll();
      wake();
    });
  }

  /** The first contents of the database are in the World. */
  get observed(): boolean {
    return this.#options.session.generation > 0 && !this.#intake.filling;
  }

  get busy(): boolean {
    return this.#intake.busy;
  }

  get quiet(): boolean {
    return this.writer.quiet;
  }

  get waitingFor(): readonly string[] {
    const { session, loss } = this.#options;
    const isMissing = session.state !== 'synced' || this.#intake.filling || loss.violatesProtocol;
    return isMissing ? ['the Northbound database'] : [];
  }

  /** Number of committed transactions. */
  get transactions(): number {
    return this.#transactions;
  }

  get rowsWritten(): number {
    return this.#rowsWritten;
  }

  start(): void {
    this.#options.session.start();
  }

  async stop(): Promise<void> {
    await this.#options.session.close();
  }

  examineAll(): void {
    this.writer.examineAll();
  }

  /** This process begins to lead: all is compared, after the rows without an owner were counted. */
  lead(): void {
    this.collection.doubt();
    this.examineAll();
  }

  plan(only?: (id: RowId) => boolean): readonly PlannedRow[] {
    return this.writer.plan(only);
  }

  prepare(): void {
    this.collection.survey();
    this.#options.leadership.raiseFence();
  }

  flush(): boolean {
    this.writer.flush();
    return true;
  }
}
