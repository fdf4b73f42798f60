/**
 * The controller: observes, compiles, allocates, diffs and commits, one turn at a time (`Turns`), to two targets: the Northbound database
 * and the API server. Only the leader writes; standbys keep their World up to date. All parts are connected here.
 */
import type { RequestFailure } from '../allocate/allocation-step.ts';
import { AllocationStep } from '../allocate/allocation-step.ts';
import { Desired } from '../compile/desired.ts';
import { Compiler } from '../engine/compiler.ts';
import type { Output } from '../compile/output.ts';
import type { Target } from '../engine/target.ts';
import { Turns } from '../engine/turns.ts';
import { stackOf } from '../runtime/source-positions.ts';
import { allOf, type Gate } from '../timing/gate.ts';
import { systemClock, type Clock } from '../timing/clock.ts';
import type { AddressRequest } from '../world/reservations.ts';
import { World } from '../world/world.ts';
import { ApiOutage } from './outages/api-outage.ts';
import { CatchUp } from './leadership/catch-up.ts';
import { exposeController } from './reports/controller-metrics.ts';
import type { ControllerOptions, ControllerStatus, Phase, Plan, PlanPart } from './controller-options.ts';
import { DeadlineTimer } from './time/deadline-timer.ts';
import { DriftReport } from './reports/drift-report.ts';
import { DefaultVpc } from './start/default-vpc.ts';
import { EarlyRules } from './start/early-rules.ts';
import { Leadership } from './leadership/leadership.ts';
import { SharedLog } from './reports/shared-log.ts';
import type { StandingFact } from './reports/standing-facts.ts';
import { standingFacts } from './reports/standing-facts.ts';
import { MonotonicClock } from './time/monotonic-clock.ts';
import { publication } from './leadership/publication.ts';
import { Timers } from './time/timers.ts';
import { TurnMeter } from './reports/turn-meter.ts';
import { NorthboundLoss } from './outages/northbound-loss.ts';
import { NorthboundFailures } from './outages/northbound-failures.ts';
import { NO_JOURNAL } from '../journal/journal.ts';
import { KubernetesTarget } from './targets/kubernetes-target.ts';
import { NorthboundTarget } from './targets/northbound-target.ts';

export type { ControllerOptions, ControllerStatus, Phase, Plan, PlanPart } from './controller-options.ts';

/** If rules are due for longer than this, they are behind: further changes wait until no rule is due. */
const BEHIND_MS = 250;
const USAGE_INTERVAL_MS = 1_000; // to spare writes: a reader does not wait
const LABORATORY_SHRUNK_LIST_MS = 1_000;
/** Most rounds of compile and allocation in one turn; the rest waits for the next turn. */
const ROUNDS = 8;

export class Controller {
  readonly world: World;
  readonly desired: Desired;
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #compiler: Compiler<World, Output>;
  readonly #early: EarlyRules;
  readonly #allocation: AllocationStep;
  readonly #rows: NorthboundTarget;
  readonly #objects: KubernetesTarget;
  readonly #turns: Turns;
  readonly #leadership: Leadership;
  readonly #meter: TurnMeter;
  readonly #monotonicClock: MonotonicClock;
  readonly #deadlines: DeadlineTimer;
  readonly #timers: Timers;
  readonly #catchUp: CatchUp;
  readonly #defaultVpc: DefaultVpc;
  /** What holds every write of objects back, and of rows. */
  readonly #mayWriteObjects: Gate;
  readonly #mayWrite: Gate;
  readonly #wake = (): void => this.wake();
  readonly #quietWaiters: (() => void)[] = [];
  #phase: Phase = 'starting';
  /** Since when turns end before all due rules have run, in monotonic milliseconds. */
  #behindSince: number | undefined;
  /** When the rules of this turn had run, in monotonic milliseconds. */
  #derivedAt = 0;
  /** When the counts of a Subnet that were just published are due again, in monotonic milliseconds. */
  #usageDue: number | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    this.#monotonicClock = new MonotonicClock(clock);
    this.#timers = new Timers(clock);
    this.#meter = new TurnMeter(options.metrics, clock);
    const meter = this.#meter;
    const { client, session, log, metrics, defer = setImmediate } = options;
    const random = options.random === undefined ? {} : { random: options.random };
    const world = new World(options.settings);
    const desired = new Desired(world);
    this.world = world;
    this.desired = desired;
    const wake = this.#wake;
    const { later } = this.#timers;
    this.#deadlines = new DeadlineTimer(world.deadlines, this.#monotonicClock, clock, wake);
    const outage = new ApiOutage(log, clock, () => this.#objects.caches.retrySoon());
    const failures = new NorthboundFailures(log, clock);
    const loss = new NorthboundLoss(session, log, clock);
    const journal = options.journal ?? NO_JOURNAL;
    const troubles = () => ({ northbound: failures.reason, loss: loss.reason, journal: journal.failure });
    const event = (...of: Parameters<KubernetesTarget['events']['record']>): void => this.#objects.events.record(...of);
    const shared = new SharedLog(log, clock);
    const failed = (rule: string, key: string, error: unknown): void => {
      meter.ruleFailed(rule);
      shared.of(key.includes('/') ? (key.split('/').at(-2) ?? '') : '').error('rule failed', { rule, key, error: stackOf(error) });
    };
    this.#compiler = new Compiler(
      world,
      desired,
      options.rules,
      ({ rule, key, error }) => failed(rule, key, error),
      () => {
        this.#rows.examineAll();
        wake();
      },
    );
    this.#early = new EarlyRules(world, this.#compiler, () => clock.now());
    this.#allocation = new AllocationStep(world, desired.addresses);
    const { identity, lease } = options;
    this.#leadership = new Leadership({
      client,
      leaseClient: options.leaseClient ?? client,
      session,
      namespace: options.namespace,
      log,
      clock,
      ...random,
      outage,
      northboundFailures: failures,
      readOnly: options.readOnly === true,
      publishes: () => publication(options.settings, { ...troubles(), collection: this.#rows.collection.pausedFor }),
      ...(identity === undefined ? {} : { identity }),
      ...(lease === undefined ? {} : { lease }),
      changed: wake,
      raised: () => {
        this.#rows.lead();
        this.#objects.lead();
        wake();
      },
      later,
    });
    const upToDate = (): boolean => this.#catchUp.gate.passes(wake);
    const ofBoth = { world, meter, log, shared, clock, later, wake, upToDate, mayWrite: () => this.#passes(this.#mayWrite) };
    this.#objects = new KubernetesTarget({
      ...ofBoth,
      ...random,
      client,
      desired,
      mayWriteObjects: () => this.#passes(this.#mayWriteObjects),
      maySendEvents: (wake) => this.#mayWriteObjects.passes(wake),
      collects: (object, owner) => this.#rows.collection.allowsLeftover(object, owner),
      inferredDeletions: () => this.#rows.collection.doubt(),
      // In a laboratory users delete all objects of a kind on purpose.
      shrunkListMs: options.collectionLimit === false ? LABORATORY_SHRUNK_LIST_MS : undefined,
      ...{ cachedAbove: options.cachedAbove, watchAfterMs: options.watchAfterMs },
      followDefinitions: options.followDefinitions ?? true,
      outage,
      transactionSentAt: () => this.#rows.writer.sentAt,
      monotonicNow: this.#monotonicClock.now,
      onFailure: (id, error) => failed('object-diff', id, error),
    });
    this.#defaultVpc = new DefaultVpc(world);
    this.#mayWriteObjects = allOf('objects', [this.#objects.listed, this.#defaultVpc.gate, this.#leadership.objects]);
    this.#mayWrite = allOf('rows', [this.#objects.listed, this.#defaultVpc.gate, this.#leadership.rows]);
    this.#catchUp = new CatchUp({ client, clock, log, later, caches: this.#objects.caches, identity: () => this.#leadership.identity });
    this.#rows = new NorthboundTarget({
      ...ofBoth,
      session,
      desired: desired.rows,
      ...{ journal, event, objects: desired.objects },
      collectionChanged: () => this.#objects.examineAll(),
      leadership: this.#leadership,
      caches: this.#objects.caches,
      collectionLimit: options.collectionLimit ?? true,
      failures,
      loss,
      drift: new DriftReport({ log, metrics, clock, event }),
      defer,
      undecided: (owner) => this.#compiler.failsFor(owner),
      isBeingReleased: (object) => this.#objects.releasesObject(object),
    });
    this.#turns = new Turns({
      reactor: world.reactor,
      // Objects after rows: a pod is marked as allocated once its port row is written.
      targets: this.#targets,
      clock,
      defer,
      woken: () => meter.woken(),
      begin: () => this.#begin(),
      early: (enough) => this.#prepare(enough),
      derive: (enough) => this.#deriveMeasured(enough),
      again: () => this.#again(),
      ended: () => this.#ended(),
      turned: (converged) =>
        meter.turned(converged, converged && !this.#turns.scheduled && (!this.#passes(this.#mayWrite) || this.#turns.committed)),
    });
    if (metrics !== undefined)
      exposeController(metrics, {
        world,
        desired,
        session,
        caches: this.#objects.caches,
        rows: this.#rows.writer,
        collection: this.#rows.collection,
        objects: this.#objects.writer,
        writer: this.#objects.requests,
        events: this.#objects.recorder,
        leadership: this.#leadership,
        northboundFailures: failures,
        journal,
        loss,
        doubted: () => this.#objects.doubted,
        clock,
        subnetLabel: options.subnetLabel ?? true,
        ready: () => this.waitingFor.length === 0,
        lastSuccess: () => meter.lastSuccess,
      });
  }

  get #targets(): readonly Target[] {
    return [this.#rows, this.#objects];
  }

  start(): void {
    this.#phase = 'observing';
    for (const target of this.#targets) target.start();
    this.#leadership.start();
  }

  /** Stops writing, releases the Lease, closes everything. */
  async stop(): Promise<void> {
    this.#phase = 'stopped';
    this.#turns.stop();
    this.#timers.end();
    this.#deadlines.stop();
    await this.#objects.stop();
    await this.#leadership.stop();
    await this.#rows.stop();
  }

  get status(): ControllerStatus {
    return {
      phase: this.#phase,
      waitingFor: this.waitingFor,
      ...{ listError: this.#objects.caches.listError, stale: this.#objects.caches.stale },
      transactions: this.#rows.transactions,
      rowsWritten: this.#rows.rowsWritten,
      objectsWritten: this.#objects.objectsWritten,
      ruleRuns: this.world.reactor.runs,
      conflicts: this.world.rowConflicts.size,
      rowsInBackoff: this.#rows.writer.backingOff,
      eventsWaiting: this.#objects.recorder.waiting,
    };
  }

  /** The last step of the last turn, for measurements of turns. */
  get doing(): string {
    return this.#turns.doing;
  }

  /** True when everything observed has been written (or only derived, if this process may not write) and no write is under way. */
  get quiet(): boolean {
    const derived =
      this.#turns.observed &&
      this.#turns.consistent &&
      !this.#turns.scheduled &&
      this.#usageDue === undefined &&
      this.#objects.confirmed &&
      this.world.reactor.isIdle &&
      this.#allocation.quiet;
    if (this.#options.readOnly === true) return derived;
    return derived && this.#turns.committed;
  }

  /** True if a rule is due and no turn is scheduled: it would wait for the next event. A bug, for tests to find. */
  get overlooked(): boolean {
    const { observed, consistent, scheduled } = this.#turns;
    if (this.#phase === 'stopped' || !observed || !consistent || scheduled) return false;
    return !this.world.reactor.isIdle || !this.#allocation.quiet;
  }

  /** All lists are complete: an object that the World lacks does not exist. */
  get complete(): boolean {
    return this.#turns.observed && this.#phase !== 'stopped';
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

  /** All due writes, also if this process may not write: empty in a converged cluster. @param only rows and objects that are compared */
  plan(only?: PlanPart): Plan {
    return { rows: this.#rows.plan(only?.row), objects: this.#objects.plan(only?.object) };
  }

  /** Every fact that is reported by an Event, sent or not; for a process that only observes. */
  facts(): Generator<StandingFact> {
    return standingFacts(this.desired);
  }

  /** Schedules a turn. */
  wake(): void {
    this.#turns.wake();
  }

  #begin(): void {
    this.#phase = this.#phaseNow();
    if (this.#turns.observed) this.#defaultVpc.check();
    if (this.#turns.observed) this.#leadership.stand();
    // Only after an answer of the API server has corrected the clock: a deadline that has passed cannot become future again.
    if (this.#turns.observed || this.#objects.caches.answered) this.world.deadlines.advance(this.#monotonicClock.now());
  }

  #ended(): void {
    this.#meter.phase('diff', this.#derivedAt);
    this.#deadlines.set();
    this.#behindSince = undefined;
    this.#objects.caches.release();
    if (this.#quietWaiters.length > 0 && this.quiet && (this.#passes(this.#mayWrite) || this.#options.readOnly === true))
      for (const resolve of this.#quietWaiters.splice(0)) resolve();
  }

  /** The API server takes seconds to serialize a long list: meanwhile this runs rules for the objects received so far. */
  #prepare(enough: () => boolean): boolean {
    this.#turns.doing = 'address holders';
    if (!this.#allocation.prepare(enough)) return false;
    if (!this.#early.isTime(this.#objects.caches.missing) || !this.#rows.observed) return true;
    this.#turns.doing = 'rules';
    return this.#early.run(enough);
  }

  #again(): void {
    const now = this.#clock.now();
    this.#behindSince ??= now;
    if (now - this.#behindSince >= BEHIND_MS) this.#objects.caches.hold();
  }

  #deriveMeasured(enough: () => boolean): boolean {
    this.#early.end();
    const began = this.#clock.now();
    const derived = this.#derive(enough);
    this.#derivedAt = this.#meter.phase('compile', began);
    return derived;
  }

  /** Runs rules and allocation alternately until both have nothing to do. @returns false if the turn's time was over before */
  #derive(enough: () => boolean): boolean {
    this.#turns.doing = 'address holders';
    if (!this.#allocation.expectReservations(enough)) return false;
    for (let round = 0; ; round++) {
      this.#turns.doing = 'rules';
      if (!this.world.reactor.runDue(enough)) return false;
      this.#turns.doing = 'address requests';
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
    const next = this.#allocation.usage.publish(now, this.#options.readOnly === true ? 0 : USAGE_INTERVAL_MS);
    if (next === undefined) return;
    const due = now + next;
    if (this.#usageDue !== undefined && this.#usageDue <= due) return;
    this.#usageDue = due;
    this.#timers.later(next, () => {
      if (this.#usageDue === due) this.#usageDue = undefined;
      this.wake();
    });
  }

  /** What is asked here wakes this loop when it opens. */
  #passes(gate: Gate): boolean {
    return this.#phase !== 'stopped' && this.#turns.observed && gate.passes(this.#wake);
  }

  #phaseNow(): Phase {
    if (!this.#turns.observed) return 'observing';
    if (this.#leadership.kubeOvnActive) return 'kube-ovn-active';
    return this.#leadership.holdsLease ? 'leading' : 'standby';
  }

  /** What is missing before the first write: lists that were never complete, a replica that is not synced, the cluster's own settings. */
  get waitingFor(): readonly string[] {
    return [...this.#objects.waitingFor, ...this.#rows.waitingFor, ...this.#defaultVpc.waitingFor];
  }
}
