import { doublingDelay } from '../../timing/backoff.ts';
import { hash } from 'node:crypto';
import type { KubeClient } from '../client/client.ts';
import { type Clock, systemClock, type TimerHandle } from '../../timing/clock.ts';
import { isKubeError, type KubeErrorCode } from '../errors.ts';
import { FairMemory } from '../fairness/fair-memory.ts';
import { FairQueue, type QueueLimits } from '../fairness/fair-queue.ts';
import { apiVersionOf, EVENTS, type KubeObject, type Resource } from '../resource.ts';
import { eventMessage } from '../../text/visible-text.ts';
import { callIsolated } from '../isolated-call.ts';
import type { Gate } from '../../timing/gate.ts';
import { TokenBucket } from '../fairness/token-bucket.ts';

/** The object of an Event. */
export interface EventTarget {
  readonly resource: Resource;
  readonly name: string;
  /** Undefined for cluster scope; those Events are in namespace `default`, as everywhere. */
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface EventInput {
  readonly target: EventTarget;
  readonly type: 'Normal' | 'Warning';
  /** Short, UpperCamelCase; cut at 128 characters. */
  readonly reason: string;
  /** A sentence; made visible, and cut at 1024 bytes. */
  readonly message: string;
  /** Machine-readable; cut at 128 characters. */
  readonly action?: string | undefined;
  readonly related?: EventTarget | undefined;
  /** Source of the Event, if it is not the recorder's component. */
  readonly component?: string | undefined;
  /** The namespace that it counts for. Default: the target's; cluster-scoped objects are a share of their own. */
  readonly share?: string | undefined;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** The source, such as `kiln-controller`. */
  readonly component: string;
  /** The process, such as the pod's name. */
  readonly instance?: string;
  /** Asked before each send. Events that meet it closed wait in the queue until it opens, as long as they may be repeated (`windowMs`). */
  readonly gate?: Gate['passes'];
  /** A repetition within this time raises the count of the Event. Default 10 minutes. */
  readonly windowMs?: number;
  /** Least time between two writes of one Event. Default 5 s. */
  readonly bumpIntervalMs?: number;
  /** Limit for the Events of all objects: burst, and rate a second. Default 200 and 20. */
  readonly total?: readonly [number, number];
  /** Limit for the Events of one object: burst, and rate a second. Default 20 and one in 30 s. */
  readonly perObject?: readonly [number, number];
  /** Most waiting Events. Above it the share with too many loses one: superseded ones first, then the oldest. Default 500 and 4000. */
  readonly queue?: QueueLimits;
  readonly onDropped?: (event: EventInput, why: 'object-rate' | 'queue' | 'late' | KubeErrorCode) => void;
  readonly clock?: Clock;
}

export interface EventCounters {
  created: number;
  bumped: number;
  /** Repetitions without a write of their own. */
  coalesced: number;
  dropped: number;
}

interface Series {
  readonly key: string;
  readonly share: string;
  input: EventInput;
  count: number;
  firstAt: number;
  lastAt: number;
  /** The count on the server; 0 before the Event was created. */
  written: number;
  name: string;
  writtenAt: number;
  /** In the queue, or being sent. */
  queued: boolean;
  failures: number;
}

/** Most requests of Events in flight: few, so that other writes have connections left. */
const IN_FLIGHT = 4;
/** The same of one share: if those of a namespace hang, others have room. */
const IN_FLIGHT_OF_SHARE = 2;
/** Attempts for one Event: it is best effort. */
const ATTEMPTS = 3;
/** Objects, and Events, remembered of one share, and of all. */
const REMEMBERED = [1_000, 10_000] as const;
/** Longest wait for a `Retry-After`: waiting Events are in memory. */
const LONGEST_RETRY_MS = 30_000;

/**
 * Records core/v1 Events, best effort: coalesced, limited in rate and size, never awaited, and without delaying other
 * writes. Namespaces take turns: a flood loses Events of its own namespace only. `kubectl describe` and
 * `kubectl get events` show them on every version.
 */
export class EventRecorder {
  readonly counters: EventCounters = { created: 0, bumped: 0, coalesced: 0, dropped: 0 };
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #series = new FairMemory<Series>(...REMEMBERED);
  readonly #objects = new FairMemory<TokenBucket>(...REMEMBERED);
  readonly #total: TokenBucket;
  readonly #queue: FairQueue<Series>;
  readonly #sending = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #idle: (() => void)[] = [];
  #inFlight = 0;
  readonly #delayed = new Set<TimerHandle>();
  readonly #pumpAgain = (): void => this.#pump();
  #timer: TimerHandle;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#queue = new FairQueue(options.queue ?? { perShare: 500, total: 4_000 });
    const [burst, rate] = options.total ?? [200, 20];
    this.#total = new TokenBucket(burst, rate, this.#clock.now());
  }

  /** Takes an Event; returns at once. */
  record(input: EventInput): void {
    if (this.#stop.signal.aborted) return;
    const now = this.#clock.now();
    const key = seriesKey(input);
    const share = input.share ?? input.target.namespace ?? '';
    let series = this.#series.get(share, key);
    if (series !== undefined && now - series.lastAt > this.#windowMs) series = undefined;
    if (series === undefined) {
      if (!this.#objectBucket(share, input.target, now).take(now)) return this.#drop(input, 'object-rate');
      const wall = this.#clock.wallTime();
      series = {
        key,
        share,
        input,
        count: 0,
        firstAt: wall,
        lastAt: now,
        written: 0,
        name: eventName(input, key, wall),
        writtenAt: -Infinity,
        queued: false,
        failures: 0,
      };
    } else this.counters.coalesced++;
    series.input = input;
    series.count++;
    series.lastAt = now;
    this.#series.set(share, key, series);
    this.#enqueue(series);
  }

  get #windowMs(): number {
    return this.#options.windowMs ?? 600_000;
  }

  /** The gate was closed for so long that another process may have told it, and that it may hold no longer. */
  #tooLate(series: Series): void {
    series.queued = false;
    this.#forget(series);
    this.#drop(series.input, 'late');
    this.#wakeIdle();
  }

  /** Number of Events that wait or are in flight. */
  get waiting(): number {
    return this.#inFlight + this.#queue.size + this.#delayed.size;
  }

  /** Resolves when no Event waits or is in flight. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Drops the waiting Events. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#clock.clearTimeout(this.#timer);
    this.#queue.clear();
    for (const timer of this.#delayed) this.#clock.clearTimeout(timer);
    this.#delayed.clear();
    this.#wakeIdle();
    await this.idle();
  }

  #enqueue(series: Series): void {
    if (series.queued) return;
    series.queued = true;
    const wait = series.writtenAt + (this.#options.bumpIntervalMs ?? 5_000) - this.#clock.now();
    if (wait > 0) this.#later(series, wait);
    else this.#push(series);
  }

  #push(series: Series): void {
    const lost = this.#queue.add(series.share, series, (other) => isOfSameSubject(other.input, series.input));
    if (lost !== undefined) {
      lost.queued = false;
      if (lost.written === 0) this.#forget(lost);
      this.#drop(lost.input, 'queue');
    }
    this.#pump();
  }

  #later(series: Series, ms: number): void {
    const timer = this.#clock.setTimeout(() => {
      this.#delayed.delete(timer);
      this.#push(series);
    }, ms);
    this.#delayed.add(timer);
  }

  #pump(): void {
    while (this.#inFlight < IN_FLIGHT && this.#queue.size > 0) {
      if (this.#options.gate?.(this.#pumpAgain) === false) return;
      const now = this.#clock.now();
      const wait = this.#total.waitMs(now);
      if (wait > 0) {
        this.#clock.clearTimeout(this.#timer);
        this.#timer = this.#clock.setTimeout(() => this.#pump(), wait);
        return;
      }
      const series = this.#queue.take((share) => (this.#sending.get(share) ?? 0) < IN_FLIGHT_OF_SHARE);
      if (series === undefined) return;
      if (now - series.lastAt > this.#windowMs) {
        this.#tooLate(series);
        continue;
      }
      this.#total.take(now);
      void this.#send(series);
    }
  }

  async #send(series: Series): Promise<void> {
    const { count } = series;
    this.#underWay(series.share, 1);
    series.queued = false;
    series.writtenAt = this.#clock.now();
    try {
      await this.#write(series, count);
      series.written = count;
      series.failures = 0;
    } catch (error) {
      this.#failed(series, error);
    } finally {
      this.#underWay(series.share, -1);
      this.#pump();
      this.#wakeIdle();
    }
  }

  #underWay(share: string, more: 1 | -1): void {
    this.#inFlight += more;
    const left = (this.#sending.get(share) ?? 0) + more;
    if (left > 0) this.#sending.set(share, left);
    else this.#sending.delete(share);
  }

  async #write(series: Series, count: number): Promise<void> {
    const { client } = this.#options;
    const namespace = namespaceOf(series.input.target);
    const { signal } = this.#stop;
    if (series.written > 0) {
      try {
        const lastTimestamp = timestamp(this.#clock.wallTime());
        await client.mergePatch(EVENTS, { namespace, name: series.name }, { count, lastTimestamp }, { signal });
        this.counters.bumped++;
        return;
      } catch (error) {
        // The server forgets Events after an hour.
        if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
        series.name = eventName(series.input, series.key, this.#clock.wallTime());
      }
    }
    await client.create(EVENTS, this.#body(series, count, namespace), { signal });
    this.counters.created++;
  }

  #failed(series: Series, error: unknown): void {
    const code = isKubeError(error) ? error.code : 'KUBE_PROTOCOL';
    // An earlier attempt has created it after all. The next repetition raises its count.
    if (code === 'KUBE_ALREADY_EXISTS') {
      series.written = 1;
      this.counters.created++;
    } else if (isKubeError(error) && error.retryable && ++series.failures < ATTEMPTS && !this.#stop.signal.aborted) {
      series.queued = true;
      this.#later(series, Math.min(error.retryAfterMs ?? doublingDelay(series.failures, 1_000, LONGEST_RETRY_MS), LONGEST_RETRY_MS));
    } else {
      this.#forget(series);
      this.#drop(series.input, code);
    }
  }

  #body(series: Series, count: number, namespace: string): KubeObject & Readonly<Record<string, unknown>> {
    const { component: own, instance } = this.#options;
    const { input } = series;
    const component = input.component ?? own;
    return {
      metadata: { name: series.name, namespace },
      involvedObject: reference(input.target),
      reason: input.reason.slice(0, 128),
      message: eventMessage(input.message),
      type: input.type,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance ?? own,
      firstTimestamp: timestamp(series.firstAt),
      lastTimestamp: timestamp(this.#clock.wallTime()),
      count,
      ...(input.action === undefined ? {} : { action: input.action.slice(0, 128) }),
      ...(input.related === undefined ? {} : { related: reference(input.related) }),
    };
  }

  #objectBucket(share: string, target: EventTarget, now: number): TokenBucket {
    const key = targetKey(target);
    const [burst, rate] = this.#options.perObject ?? [20, 1 / 30];
    const bucket = this.#objects.get(share, key) ?? new TokenBucket(burst, rate, now);
    this.#objects.set(share, key, bucket);
    return bucket;
  }

  #forget({ share, key }: Series): void {
    this.#series.delete(share, key);
  }

  #drop(input: EventInput, why: 'object-rate' | 'queue' | 'late' | KubeErrorCode): void {
    this.counters.dropped++;
    const { onDropped } = this.#options;
    if (onDropped !== undefined) callIsolated(() => onDropped(input, why));
  }

  #isIdle(): boolean {
    return this.waiting === 0;
  }

  #wakeIdle(): void {
    if (this.#isIdle()) for (const wake of this.#idle.splice(0)) wake();
  }
}

function namespaceOf(target: EventTarget): string {
  return target.namespace === undefined || target.namespace === '' ? 'default' : target.namespace;
}

function targetKey(target: EventTarget): string {
  return `${target.resource.kind} ${target.namespace ?? ''}/${target.name} ${target.uid ?? ''}`;
}

/** The message of one reason changes with its object: the newest one counts. */
function isOfSameSubject(one: EventInput, other: EventInput): boolean {
  return one.reason === other.reason && one.type === other.type && targetKey(one.target) === targetKey(other.target);
}

function seriesKey(input: EventInput): string {
  return JSON.stringify([targetKey(input.target), input.type, input.reason, input.message, input.action, input.component]);
}

/** Unique by content and time; the object's name is cut so that the result is a valid name. */
function eventName(input: EventInput, key: string, wallTime: number): string {
  const digest = hash('sha256', key + String(wallTime)).slice(0, 16);
  return `${input.target.name.slice(0, 230).replace(/[-.]+$/, '')}.${digest}`;
}

function reference(target: EventTarget): Readonly<Record<string, string | undefined>> {
  return {
    apiVersion: apiVersionOf(target.resource),
    kind: target.resource.kind,
    name: target.name,
    namespace: target.namespace === '' ? undefined : target.namespace,
    uid: target.uid,
    resourceVersion: target.resourceVersion,
  };
}

/** metav1.Time has whole seconds. */
function timestamp(wallTime: number): string {
  return new Date(wallTime).toISOString().replace(/\.\d+Z$/, 'Z');
}
