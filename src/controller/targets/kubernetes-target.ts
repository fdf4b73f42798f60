/**
 * The objects of the API server as a target. Observed: a table of the World for each kind, from lists and watches. Ownership: objects that
 * rules create or patch, field by field; other fields are not Kiln's. Guards: uid and resourceVersion. There is no fence: the monotonic
 * clock and the Lease are checked before each write.
 */
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import type { ObjectWriterOptions } from '../../commit/object-writer.ts';
import { ObjectWriter } from '../../commit/object-writer.ts';
import { RejectedWrites } from '../../commit/rejected-writes.ts';
import { shareOf } from '../../commit/write-share.ts';
import type { Desired } from '../../compile/desired.ts';
import type { ObjectId } from '../../compile/output.ts';
import { objectId } from '../../compile/output.ts';
import type { ObjectWrite } from '../../diff/object-diff.ts';
import { DefinitionWatch } from '../../kube/cache/definition-watch.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { EventRecorder } from '../../kube/events/event-recorder.ts';
import { KubeWriter } from '../../kube/write/kube-writer.ts';
import type { Log } from '../../runtime/log.ts';
import { allOf, type Gate } from '../../timing/gate.ts';
import type { Target } from '../../engine/target.ts';
import type { Clock, Random } from '../../timing/clock.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import type { ApiOutage } from '../outages/api-outage.ts';
import { Caches } from '../reading/caches.ts';
import { definitionChanges } from '../reading/definition-changes.ts';
import { cacheLog, definitionsLog } from '../reports/cache-log.ts';
import { eventsOfChange } from '../reports/change-events.ts';
import { ObjectEvents } from '../reports/object-events.ts';
import type { SharedLog } from '../reports/shared-log.ts';
import type { StandingReport } from '../reports/standing-facts.ts';
import { standingReports } from '../reports/standing-facts.ts';
import type { TurnMeter } from '../reports/turn-meter.ts';
import { logWrite } from '../reports/write-log.ts';
import { FirstLists } from '../start/first-lists.ts';

type FromWriter = 'mayWrite' | 'upToDate' | 'transactionSentAt' | 'monotonicNow' | 'onFailure' | 'later' | 'wake';

export interface KubernetesTargetOptions extends Pick<ObjectWriterOptions, FromWriter> {
  readonly client: KubeClient;
  readonly world: World;
  readonly desired: Desired;
  /** Whether this process may write to the API server, checked before each request. */
  readonly mayWriteObjects: () => boolean;
  /** The same for Events, which are decided: they wait until it holds. */
  readonly maySendEvents: Gate['passes'];
  /** Whether what is left of an owner that is gone may go from the object now. */
  readonly collects: (object: ObjectId, owner: string) => boolean;
  /** Objects are gone without an event. */
  readonly inferredDeletions: () => void;
  /** Milliseconds until a second list is believed that lacks many objects; undefined: the default. */
  readonly shrunkListMs: number | undefined;
  /** Number of pods or IP objects above which the first list is read from the API server's cache; undefined: the default. */
  readonly cachedAbove: number | undefined;
  /** See `ControllerOptions.watchAfterMs`. */
  readonly watchAfterMs: number | undefined;
  /** False: missing kinds are tried again from time to time. */
  readonly followDefinitions: boolean;
  readonly outage: ApiOutage;
  readonly meter: TurnMeter;
  readonly log: Log;
  readonly shared: SharedLog;
  readonly clock: Clock;
  readonly random?: Random;
}

export class KubernetesTarget implements Target {
  readonly name = 'objects';
  readonly caches: Caches;
  /** Requests of the writer below, coalesced by object. */
  readonly requests: KubeWriter;
  readonly writer: ObjectWriter;
  /** The Events under way. */
  readonly recorder: EventRecorder;
  readonly events: ObjectEvents;
  readonly #options: KubernetesTargetOptions;
  readonly #firstLists: FirstLists;
  /** The facts that hold when this process begins to lead, as far as they are collected; `due`: not begun. */
  #standingReports: { readonly found: StandingReport[]; readonly left: ReturnType<typeof standingReports> } | 'due' | undefined;
  #objectsWritten = 0;

  constructor(options: KubernetesTargetOptions) {
    this.#options = options;
    const { client, world, clock, log, outage, later, wake, mayWriteObjects } = options;
    const random = options.random === undefined ? {} : { random: options.random };
    const doubt = options.shrunkListMs === undefined ? {} : { shrunkListMs: options.shrunkListMs };
    this.caches = new Caches({
      client,
      world,
      clock,
      ...random,
      changed: (resource, keys) => {
        for (const key of keys) this.writer.mark(objectId(resource, key));
        wake();
      },
      observed: (resource, delta) => {
        if (!options.mayWrite()) return;
        for (const { namespace, name, uid, event, ...about } of eventsOfChange(resource, delta))
          this.events.record(about.resource, namespace, name, uid, event);
      },
      inferredDeletions: (resource, count) => {
        log.info('objects disappeared without an observed deletion', { resource, count });
        options.inferredDeletions();
      },
      onCacheEvent: cacheLog(log, outage, clock),
      later,
      ...doubt,
      ...(options.cachedAbove === undefined ? {} : { cachedAbove: options.cachedAbove }),
      ...(options.watchAfterMs === undefined ? {} : { watchAfterMs: options.watchAfterMs }),
      ...(options.followDefinitions ? { definitions: this.#definitions() } : {}),
    });
    this.#firstLists = new FirstLists({ client, world, caches: this.caches, clock, log, ...doubt, later, wake });
    this.requests = new KubeWriter({ client, gate: mayWriteObjects, concurrency: 64, clock, ...random });
    this.recorder = new EventRecorder({
      client,
      component: CONTROLLER_LEASE,
      gate: options.maySendEvents,
      clock,
      onDropped: ({ target: { resource, name, uid }, reason, message }, why) =>
        log.debug('event dropped', { why, kind: resource.kind, name, uid, reason, message }),
    });
    this.events = new ObjectEvents(client, this.recorder, wake, (...object) => this.#shareOf(...object));
    this.writer = new ObjectWriter({
      ...options,
      desired: options.desired.objects,
      source: this.caches,
      writer: this.requests,
      pruned: world.pruned,
      rejected: new RejectedWrites({
        table: world.rejectedWrites,
        monotonicNow: options.monotonicNow,
        later,
        due: (id) => this.writer.reexamine(id),
      }),
      wallTime: () => clock.wallTime(),
      onWritten: (write, result) => {
        options.meter.written(write, result);
        if (result.ok) this.#objectsWritten++;
        logWrite(options.shared.of(this.#shareOf(write.resource, write.namespace, write.name)), outage, write, result);
      },
      onEvent: (write, uid, event) => this.events.record(write.resource, write.namespace, write.name, uid, event),
    });
  }

  #definitions(): DefinitionWatch {
    const { client, world, clock, random, log, outage, later, wake } = this.#options;
    return new DefinitionWatch({
      client,
      clock,
      ...(random === undefined ? {} : { random }),
      onCacheEvent: definitionsLog(log, outage),
      onChange: definitionChanges({
        pruned: world.pruned,
        later,
        changed: () => {
          this.examineAll();
          wake();
        },
      }),
    });
  }

  #shareOf(resource: ResourceName, namespace: string, name: string): string {
    return shareOf(resource, namespace, namespace === '' ? this.caches.get(resource, name) : undefined);
  }

  /** All lists are complete. */
  get observed(): boolean {
    return this.caches.ready;
  }

  /** Open while what is observed is one state of the API server, in which nothing is missing. */
  get listed(): Gate {
    return allOf('lists', [this.caches.whole, this.#firstLists.gate]);
  }

  /** The absence of objects that disappeared while no process watched is confirmed. */
  get confirmed(): boolean {
    return this.#firstLists.confirmed;
  }

  /** Kinds with a list that was not accepted. */
  get doubted(): readonly ResourceName[] {
    return [...new Set([...this.caches.doubted, ...this.#firstLists.doubted])];
  }

  /** Lists of pages enter the World one by one. */
  get busy(): boolean {
    return false;
  }

  get quiet(): boolean {
    return this.writer.quiet && this.requests.queued === 0 && this.requests.inFlight === 0;
  }

  get waitingFor(): readonly string[] {
    return [...new Set<string>([...this.caches.missing, ...this.doubted])];
  }

  /** Number of accepted writes. */
  get objectsWritten(): number {
    return this.#objectsWritten;
  }

  /** Whether a write under way removes Kiln's last finalizer, or deletes the object. */
  releasesObject(id: ObjectId): boolean {
    return this.writer.releasesObject(id);
  }

  start(): void {
    this.caches.start();
  }

  async stop(): Promise<void> {
    await this.requests.close();
    await this.recorder.close();
    await this.caches.close();
  }

  examineAll(): void {
    this.writer.examineAll();
  }

  /** This process begins to lead: all is compared, and facts that hold get their Events. */
  lead(): void {
    this.examineAll();
    this.#standingReports = 'due';
  }

  plan(only?: (id: ObjectId) => boolean): readonly ObjectWrite[] {
    return this.writer.plan(only);
  }

  prepare(): void {
    this.#firstLists.check();
  }

  flush(): boolean {
    if (!this.#collectStandingReports()) return false;
    this.writer.flush();
    if (this.#options.mayWrite()) this.events.flush(this.#options.desired.reports.fresh);
    return true;
  }

  /**
   * Collects the facts that hold when this process begins to lead, some in each turn. No object is written before: otherwise the Event of
   * that write would be sent twice. @returns whether all were collected
   */
  #collectStandingReports(): boolean {
    const { mayWrite, desired, clock } = this.#options;
    if (this.#standingReports === undefined || !mayWrite()) return true;
    if (this.#standingReports === 'due')
      this.#standingReports = { found: [], left: standingReports(desired, this.caches, clock.wallTime()) };
    const { found, left } = this.#standingReports;
    for (let next = left.next(); next.done !== true; next = left.next()) {
      if (next.value === undefined) return false;
      found.push(next.value);
    }
    this.#standingReports = undefined;
    this.events.begin(found);
    return true;
  }
}
