/**
 * The controller: observes, compiles, allocates, diffs and commits, one turn at a time. Only the leader writes; standbys keep their World
 * up to date. Long, because it is the one place where all parts are connected.
 */
import type { RequestFailure } from '../allocate/allocation-step.ts';
import { AllocationStep } from '../allocate/allocation-step.ts';
import { NorthboundWriter } from '../commit/northbound-writer.ts';
import { eventOfCondition } from '../diff/condition-diff.ts';
import { ObjectWriter } from '../commit/object-writer.ts';
import { RejectedWrites } from '../commit/rejected-writes.ts';
import { shareOf } from '../commit/write-share.ts';
import { Desired } from '../compile/desired.ts';
import { Compiler } from '../compile/compiler.ts';
import { objectId } from '../compile/output.ts';
import type { Clock } from '../timing/clock.ts';
import { systemClock } from '../timing/clock.ts';
import { DefinitionWatch } from '../kube/cache/definition-watch.ts';
import { EventRecorder } from '../kube/events/event-recorder.ts';
import { KubeWriter } from '../kube/write/kube-writer.ts';
import { CONTROLLER_LEASE } from '../api/well-known.ts';
import type { ResourceName } from '../world/resources.ts';
import type { AddressRequest } from '../world/reservations.ts';
import { World } from '../world/world.ts';
import { ApiOutage } from './outages/api-outage.ts';
import { cacheLog, definitionsLog } from './reports/cache-log.ts';
import { Caches } from './reading/caches.ts';
import { definitionChanges } from './reading/definition-changes.ts';
import { CatchUp } from './leadership/catch-up.ts';
import { Collection } from './collection.ts';
import { exposeController } from './reports/controller-metrics.ts';
import type { ControllerOptions, ControllerStatus, Phase, Plan, StandingFact } from './controller-options.ts';
import { DeadlineTimer } from './time/deadline-timer.ts';
import { DriftReport } from './reports/drift-report.ts';
import { EarlyRules } from './start/early-rules.ts';
import { FirstLists } from './start/first-lists.ts';
import { Leadership } from './leadership/leadership.ts';
import { eventsOfChange } from './reports/change-events.ts';
import { ObjectEvents } from './reports/object-events.ts';
import type { StandingReport } from './reports/standing-facts.ts';
import { standingReports } from './reports/standing-facts.ts';
import { SharedLog } from './reports/shared-log.ts';
import { MonotonicClock } from './time/monotonic-clock.ts';
import { publication } from './leadership/publication.ts';
import { RowIntake } from './reading/row-intake.ts';
import { Timers } from './time/timers.ts';
import { TurnMeter } from './reports/turn-meter.ts';
import { NorthboundLoss } from './outages/northbound-loss.ts';
import { NorthboundFailures } from './outages/northbound-failures.ts';
import { logTransaction, logWrite } from './reports/write-log.ts';

export type { ControllerOptions, ControllerStatus, Phase, Plan } from './controller-options.ts';

const TURN_MS = 10;
/** If rules are due for longer than this, they are behind: further changes wait until no rule is due. */
const BEHIND_MS = 250;
const USAGE_INTERVAL_MS = 1_000;
const LABORATORY_SHRUNK_LIST_MS = 1_000;
/** Most rounds of compile and allocation in one turn; the rest waits for the next turn. */
const ROUNDS = 8;

export class Controller {
  readonly world: World;
  readonly desired: Desired;
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #caches: Caches;
  readonly #compiler: Compiler;
  readonly #early: EarlyRules;
  readonly #allocation: AllocationStep;
  readonly #collection: Collection;
  readonly #firstLists: FirstLists;
  readonly #rows: NorthboundWriter;
  readonly #writer: KubeWriter;
  readonly #objects: ObjectWriter;
  readonly #events: EventRecorder;
  readonly #objectEvents: ObjectEvents;
  /** The facts that hold when this process begins to lead, as far as they are collected; `due`: not begun. */
  #standingReports: { readonly found: StandingReport[]; readonly left: ReturnType<typeof standingReports> } | 'due' | undefined;
  readonly #leadership: Leadership;
  readonly #meter: TurnMeter;
  readonly #monotonicClock: MonotonicClock;
  readonly #deadlines: DeadlineTimer;
  readonly #timers: Timers;
  readonly #intake: RowIntake;
  readonly #loss: NorthboundLoss;
  readonly #defer: (run: () => void) => void;
  readonly #quietWaiters: (() => void)[] = [];
  #phase: Phase = 'starting';
  #doing = 'lists and rows';
  #scheduled = false;
  /** Since when turns end before all due rules have run, in monotonic milliseconds. */
  #behindSince: number | undefined;
  /** When the counts of a Subnet that were just published are due again, in monotonic milliseconds. */
  #usageDue: number | undefined;
  #transactions = 0;
  #rowsWritten = 0;
  #objectsWritten = 0;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#monotonicClock = new MonotonicClock(this.#clock);
    this.#timers = new Timers(this.#clock);
    this.#defer = options.defer ?? setImmediate;
    this.#meter = new TurnMeter(options.metrics, this.#clock);
    const { client, session, log } = options;
    const random = options.random === undefined ? {} : { random: options.random };
    this.world = new World(options.settings);
    this.desired = new Desired(this.world);
    this.#deadlines = new DeadlineTimer(this.world.deadlines, this.#monotonicClock, this.#clock, () => this.wake());
    const outage = new ApiOutage(log, this.#clock, () => this.#caches.retrySoon());
    const northboundFailures = new NorthboundFailures(log, this.#clock);
    const loss = new NorthboundLoss(session, log, this.#clock);
    this.#loss = loss;
    // In a laboratory users delete all objects of a kind on purpose.
    const doubt = options.collectionLimit === false ? { shrunkListMs: LABORATORY_SHRUNK_LIST_MS } : {};
    const { later } = this.#timers;
    this.#caches = new Caches({
      client,
      world: this.world,
      clock: this.#clock,
      ...random,
      changed: (resource, keys) => {
        for (const key of keys) this.#objects.mark(objectId(resource, key));
        this.wake();
      },
      observed: (resource, delta) => {
        if (!this.#mayWrite()) return;
        for (const { namespace, name, uid, event, ...about } of eventsOfChange(resource, delta))
          this.#objectEvents.record(about.resource, namespace, name, uid, event);
      },
      inferredDeletions: (resource, count) => {
        log.info('objects disappeared without an observed deletion', { resource, count });
        this.#collection.doubt();
      },
      onCacheEvent: cacheLog(log, outage, this.#clock),
      later,
      ...doubt,
      ...(options.cachedAbove === undefined ? {} : { cachedAbove: options.cachedAbove }),
      ...(options.followDefinitions === false
        ? {}
        : {
            definitions: new DefinitionWatch({
              client,
              clock: this.#clock,
              ...random,
              onCacheEvent: definitionsLog(log, outage),
              onChange: definitionChanges({
                pruned: this.world.pruned,
                later,
                changed: () => {
                  this.#objects.examineAll();
                  this.wake();
                },
              }),
            }),
          }),
    });
    const shared = new SharedLog(log, this.#clock);
    const failed = (rule: string, key: string, error: unknown): void => {
      this.#meter.ruleFailed(rule);
      shared
        .of(key.includes('/') ? (key.split('/').at(-2) ?? '') : '')
        .error('rule failed', { rule, key, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    };
    this.#compiler = new Compiler(
      this.world,
      this.desired,
      options.rules,
      ({ rule, key, error }) => failed(rule, key, error),
      () => {
        this.#rows.examineAll();
        this.wake();
      },
    );
    this.#early = new EarlyRules(this.world, this.#compiler, () => this.#clock.now());
    const { desired } = this;
    this.#allocation = new AllocationStep(this.world, desired.addresses);
    this.#firstLists = new FirstLists({
      client,
      world: this.world,
      caches: this.#caches,
      clock: this.#clock,
      log,
      ...doubt,
      later,
      wake: () => this.wake(),
    });
    this.#collection = new Collection({
      enabled: options.collectionLimit ?? true,
      rows: this.world.rows,
      desired: desired.rows,
      caches: this.#caches,
      log,
      later,
      paused: () => this.#meter.paused(),
      resumed: () => {
        this.#rows.examineAll();
        this.wake();
      },
    });
    const wake = (): void => this.wake();
    const { identity, lease } = options;
    this.#leadership = new Leadership({
      client,
      leaseClient: options.leaseClient ?? client,
      session,
      namespace: options.namespace,
      log,
      clock: this.#clock,
      ...random,
      outage,
      northboundFailures,
      readOnly: options.readOnly === true,
      publishes: () => publication(options.settings, { northboundFailure: northboundFailures.reason, northboundLoss: loss.reason }),
      ...(identity === undefined ? {} : { identity }),
      ...(lease === undefined ? {} : { lease }),
      changed: wake,
      raised: () => {
        this.#collection.doubt();
        this.#rows.examineAll();
        this.#objects.examineAll();
        this.#standingReports = 'due';
        this.wake();
      },
      later,
    });
    const upToDate = new CatchUp({
      client,
      behind: (resource) => this.#caches.behind(resource),
      identity: () => this.#leadership.identity,
      clock: this.#clock,
      log,
      later,
      wake,
    }).done;
    this.#intake = new RowIntake({ rows: this.world.rows, clock: this.#clock, stepMs: TURN_MS, defer: this.#defer, done: wake });
    const drift = new DriftReport({
      log,
      metrics: options.metrics,
      clock: this.#clock,
      event: (...event) => this.#objectEvents.record(...event),
    });
    this.#rows = new NorthboundWriter({
      session,
      world: this.world,
      desired: desired.rows,
      fence: this.#leadership.fence,
      limit: this.#collection.limit,
      undecided: (owner) => this.#compiler.failsFor(owner),
      isBeingReleased: (object) => this.#objects.releasesObject(object),
      mayWrite: () => this.#mayWrite(),
      upToDate,
      deposed: () => this.#leadership.depose(),
      onTransaction: (report) => {
        this.#meter.transaction(report);
        logTransaction(shared.of(report.share ?? ''), northboundFailures, report);
        if (!report.ok) return;
        loss.accepted();
        this.#transactions++;
        this.#rowsWritten += report.rows;
      },
      onDrift: (drifts, repaired) => drift.report(drifts, repaired),
      onLeftOut: (what) =>
        log.warn("this OVN's schema cannot hold a column or value; it is left out", { what, schema: session.schema?.version }),
      now: () => this.#clock.now(),
      later,
      wake,
    });
    this.#writer = new KubeWriter({ client, gate: () => this.#mayWriteObjects(), concurrency: 64, clock: this.#clock, ...random });
    this.#events = new EventRecorder({
      client,
      component: CONTROLLER_LEASE,
      gate: () => this.#mayWriteObjects(),
      clock: this.#clock,
      onDropped: ({ target: { resource, name, uid }, reason, message }, why) =>
        log.debug('event dropped', { why, kind: resource.kind, name, uid, reason, message }),
    });
    this.#objectEvents = new ObjectEvents(client, this.#events, wake, (...object) => this.#shareOf(...object));
    this.#objects = new ObjectWriter({
      desired: desired.objects,
      source: this.#caches,
      writer: this.#writer,
      pruned: this.world.pruned,
      rejected: new RejectedWrites({
        table: this.world.rejectedWrites,
        monotonicNow: this.#monotonicClock.now,
        later,
        due: (id) => this.#objects.reexamine(id),
      }),
      mayWrite: () => this.#mayWrite(),
      upToDate,
      transactionSentAt: () => this.#rows.sentAt,
      wallTime: () => this.#clock.wallTime(),
      monotonicNow: this.#monotonicClock.now,
      onWritten: (write, result) => {
        this.#meter.written(write, result);
        if (result.ok) this.#objectsWritten++;
        logWrite(shared.of(this.#shareOf(write.resource, write.namespace, write.name)), outage, write, result);
      },
      onEvent: (write, uid, event) => this.#objectEvents.record(write.resource, write.namespace, write.name, uid, event),
      onFailure: (id, error) => failed('object-diff', id, error),
      later,
      wake,
    });
    if (options.metrics !== undefined)
      exposeController(options.metrics, {
        world: this.world,
        desired,
        session,
        caches: this.#caches,
        rows: this.#rows,
        limit: this.#collection.limit,
        objects: this.#objects,
        writer: this.#writer,
        events: this.#events,
        leadership: this.#leadership,
        northboundFailures,
        loss,
        doubted: () => this.#doubted,
        clock: this.#clock,
        subnetLabel: options.subnetLabel ?? true,
        ready: () => this.waitingFor.length === 0,
        lastSuccess: () => this.#meter.lastSuccess,
      });
    session.onChanges((batch) => this.#intake.take(session.replica, batch));
    session.onState((state) => {
      log.debug('ovsdb', { state });
      if (state === 'synced') this.#rows.examineAll();
      this.wake();
    });
  }

  #shareOf(resource: ResourceName, namespace: string, name: string): string {
    return shareOf(resource, namespace, namespace === '' ? this.#caches.get(resource, name) : undefined);
  }

  start(): void {
    this.#phase = 'observing';
    this.#options.session.start();
    this.#caches.start();
    this.#leadership.start();
  }

  /** Stops writing, releases the Lease, closes everything. */
  async stop(): Promise<void> {
    this.#phase = 'stopped';
    this.#timers.end();
    this.#deadlines.stop();
    await this.#writer.close();
    await this.#events.close();
    await this.#leadership.stop();
    await this.#caches.close();
    await this.#options.session.close();
  }

  get status(): ControllerStatus {
    return {
      phase: this.#phase,
      waitingFor: this.waitingFor,
      listError: this.#caches.listError,
      transactions: this.#transactions,
      rowsWritten: this.#rowsWritten,
      objectsWritten: this.#objectsWritten,
      ruleRuns: this.world.reactor.runs,
      conflicts: this.world.rowConflicts.size,
      rowsInBackoff: this.#rows.backingOff,
      eventsWaiting: this.#events.waiting,
    };
  }

  /** The last step of the last turn, for measurements of turns. */
  get doing(): string {
    return this.#doing;
  }

  /** True when everything observed has been written (or only derived, if this process may not write) and no write is under way. */
  get quiet(): boolean {
    const derived =
      this.#observed &&
      !this.#intake.busy &&
      !this.#scheduled &&
      this.#usageDue === undefined &&
      this.#firstLists.confirmed &&
      this.world.reactor.isIdle &&
      this.#allocation.quiet;
    if (this.#options.readOnly === true) return derived;
    return derived && this.#committed;
  }

  /** True if a rule is due and no turn is scheduled: it would wait for the next event. A bug, for tests to find. */
  get overlooked(): boolean {
    if (this.#phase === 'stopped' || !this.#observed || this.#intake.busy || this.#scheduled) return false;
    return !this.world.reactor.isIdle || !this.#allocation.quiet;
  }

  /** No write is due or under way. */
  get #committed(): boolean {
    return this.#rows.quiet && this.#objects.quiet && this.#writer.queued === 0 && this.#writer.inFlight === 0;
  }

  /** All lists are complete: an object that the World lacks does not exist. */
  get complete(): boolean {
    return this.#observed && this.#phase !== 'stopped';
  }

  /** Why an address request would fail now. Reserves nothing. */
  readonly checkRequest = (request: AddressRequest): RequestFailure | undefined => this.#allocation.check(request);

  /** Resolves when the controller is quiet and leads (or only observes). */
  untilQuiet(): Promise<void> {
    return new Promise((resolve) => {
      this.#quietWaiters.push(resolve);
      this.wake();
    });
  }

  /** All due writes, also if this process may not write: empty in a converged cluster. */
  plan(): Plan {
    return { rows: this.#rows.plan(), objects: this.#objects.plan() };
  }

  /** Every fact that is reported by an Event, sent or not; for a process that only observes. */
  *facts(): Generator<StandingFact> {
    const { desired } = this;
    for (const { uid, reason, message } of desired.reports.fresh) yield { uid, reason, message, of: 'report' };
    for (const id of desired.objects.ids)
      for (const output of desired.objects.of(id))
        if (output.kind === 'patch')
          for (const condition of output.conditions ?? []) {
            const event = eventOfCondition(condition);
            if (event === undefined) continue;
            const { reason, message } = event;
            yield { uid: output.uid, reason, message, of: condition.eventOnce === true ? 'transition' : 'condition' };
          }
  }

  /** Schedules a turn. */
  wake(): void {
    if (this.#scheduled || this.#phase === 'stopped') return;
    this.#scheduled = true;
    this.#meter.woken();
    this.#defer(() => {
      this.#scheduled = false;
      const converged = this.#turn();
      if (converged !== undefined) this.#meter.turned(converged, converged && !this.#scheduled && (!this.#mayWrite() || this.#committed));
    });
  }

  /** @returns whether all due rules ran and all writes were handed over; undefined: the first lists are not complete */
  #turn(): boolean | undefined {
    if (this.#phase === 'stopped') return undefined;
    this.#phase = this.#phaseNow();
    if (this.#observed) this.#leadership.stand();
    if (this.#intake.busy) return undefined;
    const began = this.#clock.now();
    const until = began + TURN_MS;
    const enough = (): boolean => this.#clock.now() > until;
    // Only after an answer of the API server has corrected the clock: a deadline that has passed cannot become future again.
    if (this.#observed || this.#caches.answered) this.world.deadlines.advance(this.#monotonicClock.now());
    if (!this.#observed) return this.#prepare(enough);
    this.#early.end();
    const derived = this.#derive(enough);
    const derivedAt = this.#meter.phase('compile', began);
    if (!derived) return this.#again();
    this.#collection.survey();
    this.#firstLists.check();
    this.#leadership.raiseFence();
    this.#doing = 'rows compared';
    this.#rows.flush();
    // The rules have to see a conflict that the diff just found before anything else is written to its object.
    if (!this.world.reactor.isIdle) return this.#again();
    if (!this.#collectStandingReports()) return this.#again();
    this.#doing = 'objects compared';
    this.#objects.flush();
    this.#meter.phase('diff', derivedAt);
    if (this.#mayWrite()) this.#objectEvents.flush(this.desired.reports.fresh);
    this.#deadlines.set();
    this.#behindSince = undefined;
    this.#caches.release();
    if (!this.world.reactor.isIdle) this.wake();
    if (this.#quietWaiters.length > 0 && this.quiet && (this.#mayWrite() || this.#options.readOnly === true))
      for (const resolve of this.#quietWaiters.splice(0)) resolve();
    return true;
  }

  /** The API server takes seconds to serialize a long list: meanwhile this runs rules for the objects received so far. */
  #prepare(enough: () => boolean): undefined {
    this.#doing = 'address holders';
    let done = this.#allocation.prepare(enough);
    if (done && this.#missesIpsAlone) {
      this.#doing = 'rules';
      done = this.#early.run(enough);
    }
    if (!done) this.wake();
    return undefined;
  }

  get #missesIpsAlone(): boolean {
    const { missing } = this.#caches;
    return missing.length === 1 && missing[0] === 'ips' && this.#options.session.generation > 0 && !this.#intake.filling;
  }

  /**
   * Collects the facts that hold when this process begins to lead, some in each turn. No object is written before: otherwise the Event of
   * that write would be sent twice. @returns whether all were collected
   */
  #collectStandingReports(): boolean {
    if (this.#standingReports === undefined || !this.#mayWrite()) return true;
    if (this.#standingReports === 'due')
      this.#standingReports = { found: [], left: standingReports(this.desired, this.#caches, this.#clock.wallTime()) };
    const { found, left } = this.#standingReports;
    for (let next = left.next(); next.done !== true; next = left.next()) {
      if (next.value === undefined) return false;
      found.push(next.value);
    }
    this.#standingReports = undefined;
    this.#objectEvents.begin(found);
    return true;
  }

  #again(): false {
    const now = this.#clock.now();
    this.#behindSince ??= now;
    if (now - this.#behindSince >= BEHIND_MS) this.#caches.hold();
    this.wake();
    return false;
  }

  /** Runs rules and allocation alternately until both have nothing to do. @returns false if the turn's time was over before */
  #derive(enough: () => boolean): boolean {
    this.#doing = 'address holders';
    if (!this.#allocation.expectReservations(enough)) return false;
    for (let round = 0; ; round++) {
      this.#doing = 'rules';
      if (!this.world.reactor.runDue(enough)) return false;
      this.#doing = 'address requests';
      this.#allocation.run(enough);
      if (this.world.reactor.isIdle && this.#allocation.quiet) {
        this.#publishUsage();
        if (this.world.reactor.isIdle) return true;
      }
      if (round >= ROUNDS || enough()) return false;
    }
  }

  #publishUsage(): void {
    const now = this.#clock.now();
    const next = this.#allocation.usage.publish(now, USAGE_INTERVAL_MS);
    if (next === undefined) return;
    const due = now + next;
    if (this.#usageDue !== undefined && this.#usageDue <= due) return;
    this.#usageDue = due;
    this.#timers.later(next, () => {
      if (this.#usageDue === due) this.#usageDue = undefined;
      this.wake();
    });
  }

  get #observed(): boolean {
    return this.#caches.ready && this.#options.session.generation > 0 && !this.#intake.filling;
  }

  #mayWriteObjects(): boolean {
    return this.#listsConfirmed && this.#leadership.mayWriteObjects;
  }

  #mayWrite(): boolean {
    return this.#listsConfirmed && this.#leadership.mayWriteRows;
  }

  /** All lists are complete, and the absence of objects that disappeared while no process watched is confirmed. */
  get #listsConfirmed(): boolean {
    return this.#phase !== 'stopped' && this.#observed && this.#firstLists.confirmed;
  }

  /** Kinds with a list that was not accepted. */
  get #doubted(): readonly ResourceName[] {
    return [...new Set([...this.#caches.doubted, ...this.#firstLists.doubted])];
  }

  #phaseNow(): Phase {
    if (!this.#observed) return 'observing';
    if (this.#leadership.kubeOvnActive) return 'kube-ovn-active';
    return this.#leadership.holdsLease ? 'leading' : 'standby';
  }

  /** What is missing before the first write: lists that were never complete, a Northbound replica that is not synced. */
  get waitingFor(): readonly string[] {
    const missing: string[] = [...new Set<string>([...this.#caches.missing, ...this.#doubted])];
    if (this.#options.session.state !== 'synced' || this.#intake.filling || this.#loss.violatesProtocol)
      missing.push('the Northbound database');
    return missing;
  }
}
