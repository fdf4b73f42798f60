import { backoffDelay } from '../../timing/backoff.ts';
import type { KubeClient } from '../client/client.ts';
import { type Clock, type Random, systemClock, type TimerHandle } from '../../timing/clock.ts';
import { KubeError, type KubeErrorCode } from '../errors.ts';
import { ObjectRate, type WriteRate } from './object-rate.ts';
import { keyOf, resourceName } from '../resource.ts';
import { callIsolated } from '../isolated-call.ts';
import { intentError, sendIntent, type WriteIntent, type WriteResult } from './write-intent.ts';
import { type Turn, WriteQueue } from './write-queue.ts';

export interface WriterOptions {
  readonly client: KubeClient;
  /** Called right before each send; false drops the intent with KUBE_FENCED. Usually the leader's Lease. */
  readonly gate?: () => boolean;
  /** Most requests in flight. Default 32; the transport's `connections` limit it as well. */
  readonly concurrency?: number;
  /** Attempts for one intent before the submitter gets the last error. Default 8: about a minute. */
  readonly attempts?: number;
  /** First and longest delay between attempts. Default 200 ms and 20 s. */
  readonly backoffMs?: readonly [number, number];
  /** Limit of the requests for one object over all lanes: burst, and rate a second. Default 30 and one in 2 s: 60 in any minute. */
  readonly perObject?: WriteRate;
  /** Called with each final result that reached the server, before the submitter's promise resolves. */
  readonly onResult?: (intent: WriteIntent, result: WriteResult) => void;
  /** Called for each attempt that will be repeated. */
  readonly onRetry?: (intent: WriteIntent, error: KubeError, retryInMs: number) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface WriterCounters {
  /** Requests sent, repeated ones included. */
  sent: number;
  succeeded: number;
  /** Intents that a newer one replaced before they were sent. */
  coalesced: number;
  retried: number;
  /** Times that a write waited because its object had been written too often. */
  held: number;
  /** Final failures. */
  failed: Partial<Record<KubeErrorCode, number>>;
}

/** A restarting webhook is back in a moment. One that stays away may do so for days, so the submitter gets the error earlier. */
const WEBHOOK_ATTEMPTS = 4;

/** Longest pause of all writes for one `Retry-After`: the answer may come from a webhook for the objects of one namespace. */
const LONGEST_PAUSE_MS = 5_000;

/** The pending intent of one key (object and lane). */
interface Entry {
  readonly key: string;
  readonly object: ObjectSlot;
  pending: Pending | undefined;
  inFlight: boolean;
  /** Timer of the delay before `pending` may be sent. */
  timer: TimerHandle;
}

interface Pending {
  readonly intent: WriteIntent;
  readonly resolve: (result: WriteResult) => void;
  attempt: number;
  /** An earlier attempt may have taken effect. */
  doubtful: boolean;
  notBefore: number;
}

/** One object: at most one request is in flight for it, whatever the lanes. */
interface ObjectSlot {
  readonly key: string;
  entries: number;
  busy: boolean;
  readonly waiting: Set<Entry>;
}

/**
 * Sends writes to the API server.
 *
 * Guaranteed: at most one request of an object is in flight. Of several intents with one key (object and lane) only the newest is sent; the
 * others end with KUBE_SUPERSEDED. The gate is checked right before each send. `submit` never throws: each intent ends with a reply or an
 * error as a value.
 *
 * Retried: failures that may pass (overload, timeouts, broken connections, webhooks without an answer), with a growing delay, up to
 * `attempts` times; an intent whose earlier attempt may have taken effect is repeated only in a way that a first success cannot hurt. Not
 * retried: conflicts, failed preconditions, denials and rejections. The submitter compares again and decides.
 *
 * Costs: one request for each intent that is sent; at most 60 requests a minute for an object, so two programs that undo each other's
 * writes are slowed down; urgent intents go first, and namespaces take turns.
 */
export class KubeWriter {
  readonly counters: WriterCounters = { sent: 0, succeeded: 0, coalesced: 0, retried: 0, held: 0, failed: {} };
  readonly #options: WriterOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #rate: ObjectRate;
  readonly #entries = new Map<string, Entry>();
  readonly #slots = new Map<string, ObjectSlot>();
  readonly #ready: WriteQueue<Entry>;
  readonly #stop = new AbortController();
  readonly #idle: (() => void)[] = [];
  #pending = 0;
  #inFlight = 0;
  #pausedUntil = 0;
  #pauseTimer: TimerHandle;
  #heldTimer: TimerHandle;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#rate = new ObjectRate(options.perObject ?? [30, 1 / 2]);
    this.#ready = new WriteQueue(options.concurrency ?? 32);
  }

  /** Number of intents not sent yet. */
  get queued(): number {
    return this.#pending;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  submit(intent: WriteIntent): Promise<WriteResult> {
    return new Promise((resolve) => {
      if (this.#stop.signal.aborted) {
        resolve({ ok: false, error: intentError(intent, 'KUBE_CLOSED', 'the writer is closed') });
        return;
      }
      const entry = this.#entry(intent);
      const before = entry.pending;
      if (before !== undefined) {
        if (!isSameTurn(before.intent, intent)) this.#ready.remove(turnOf(before.intent), entry);
        this.#supersede(before);
      } else this.#pending++;
      entry.pending = {
        intent,
        resolve,
        // The delay is for the server, so it applies to the newer intent as well.
        attempt: before?.attempt ?? 0,
        doubtful: before?.doubtful ?? false,
        notBefore: before !== undefined && before.attempt > 0 ? before.notBefore : 0,
      };
      this.#schedule(entry);
      this.#pump();
    });
  }

  /** Whether this intent is not in flight: it was not sent yet, or waits for its next attempt. */
  waits(intent: WriteIntent): boolean {
    return this.#entries.get(keyOfIntent(intent))?.pending?.intent === intent;
  }

  /** Drops an intent that was not sent yet. @returns whether there was one */
  cancel(intent: Pick<WriteIntent, 'resource' | 'namespace' | 'name' | 'lane'>): boolean {
    const entry = this.#entries.get(keyOfIntent(intent));
    if (entry?.pending === undefined) return false;
    this.#supersede(entry.pending);
    this.#drop(entry);
    return true;
  }

  /** Resolves when no intent waits or is in flight. */
  idle(): Promise<void> {
    if (this.#pending === 0 && this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Ends all waiting intents and aborts those in flight, with KUBE_CLOSED. Resolves when none is left. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#clock.clearTimeout(this.#pauseTimer);
    this.#clock.clearTimeout(this.#heldTimer);
    for (const entry of [...this.#entries.values()]) {
      const { pending } = entry;
      if (pending === undefined) {
        this.#forget(entry);
        continue;
      }
      pending.resolve({ ok: false, error: intentError(pending.intent, 'KUBE_CLOSED', 'the writer is closed') });
      this.#drop(entry);
    }
    await this.idle();
  }

  #entry(intent: WriteIntent): Entry {
    const key = keyOfIntent(intent);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const objectKey = `${resourceName(intent.resource)} ${keyOf(intent)}`;
    let object = this.#slots.get(objectKey);
    if (object === undefined) this.#slots.set(objectKey, (object = { key: objectKey, entries: 0, busy: false, waiting: new Set() }));
    object.entries++;
    const entry: Entry = {
      key,
      object,
      pending: undefined,
      inFlight: false,
      timer: undefined,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Puts an entry into its place: a timer, the waiting list of its object, or the queue. */
  #schedule(entry: Entry): void {
    const { pending } = entry;
    if (pending === undefined) return;
    this.#clock.clearTimeout(entry.timer);
    entry.timer = undefined;
    const wait = pending.notBefore - this.#clock.now();
    if (wait > 0) {
      this.#ready.remove(turnOf(pending.intent), entry);
      entry.object.waiting.delete(entry);
      entry.timer = this.#clock.setTimeout(() => {
        entry.timer = undefined;
        this.#schedule(entry);
        this.#pump();
      }, wait);
    } else if (entry.object.busy) entry.object.waiting.add(entry);
    else this.#ready.add(turnOf(pending.intent), entry);
  }

  #pump(): void {
    if (this.#clock.now() < this.#pausedUntil) return;
    for (;;) {
      const entry = this.#ready.take(this.#clock.now());
      if (entry === undefined) return this.#awaitHeld();
      if (entry.object.busy) entry.object.waiting.add(entry);
      else if (!this.#heldBack(entry)) void this.#send(entry);
    }
  }

  /** Sends writes that waited behind urgent ones, once there are none. */
  #awaitHeld(): void {
    const until = this.#ready.heldUntil;
    if (until === undefined || this.#heldTimer !== undefined || this.#stop.signal.aborted) return;
    this.#heldTimer = this.#clock.setTimeout(
      () => {
        this.#heldTimer = undefined;
        this.#pump();
      },
      Math.max(1, until - this.#clock.now()),
    );
  }

  /** @returns whether the entry waits because its object was written too often */
  #heldBack(entry: Entry): boolean {
    const now = this.#clock.now();
    const wait = this.#rate.waitMs(entry.object.key, now);
    if (wait === 0 || entry.pending === undefined) return false;
    this.counters.held++;
    entry.pending.notBefore = now + wait;
    this.#schedule(entry);
    return true;
  }

  async #send(entry: Entry): Promise<void> {
    const { pending, object } = entry;
    if (pending === undefined) return;
    const { intent } = pending;
    entry.pending = undefined;
    this.#pending--;
    if (this.#options.gate?.() === false) {
      this.#finish(pending, { ok: false, error: intentError(intent, 'KUBE_FENCED', 'not leader: not sent') });
      this.#settle(entry);
      return;
    }
    object.busy = true;
    entry.inFlight = true;
    this.#inFlight++;
    this.counters.sent++;
    const startedAt = this.#clock.now();
    const turn = turnOf(pending.intent);
    this.#ready.started(turn, startedAt);
    this.#rate.take(object.key, startedAt);
    let result: WriteResult;
    try {
      result = { ok: true, object: await sendIntent(this.#options.client, intent, pending.doubtful, this.#stop.signal) };
    } catch (error) {
      result = {
        ok: false,
        error: error instanceof KubeError ? error : intentError(intent, 'KUBE_PROTOCOL', String(error)),
      };
    }
    this.#inFlight--;
    this.#ready.ended(turn, this.#clock.now());
    object.busy = false;
    entry.inFlight = false;
    if (result.ok || !this.#retry(entry, pending, result.error)) this.#finish(pending, result);
    // First emptied: a write that the result caused may have made the object busy again.
    const waiting = [...object.waiting];
    object.waiting.clear();
    for (const other of waiting) this.#schedule(other);
    this.#settle(entry);
    this.#pump();
  }

  /** @returns whether the intent will be sent again, or a newer one replaced it */
  #retry(entry: Entry, pending: Pending, error: KubeError): boolean {
    if (!error.retryable || this.#stop.signal.aborted) return false;
    if (error.code === 'KUBE_TOO_MANY_REQUESTS') this.#pauseFor(Math.min(error.retryAfterMs ?? 1000, LONGEST_PAUSE_MS));
    if (entry.pending !== undefined) {
      this.#supersede(pending);
      return true;
    }
    pending.attempt++;
    const most = this.#options.attempts ?? 8;
    if (pending.attempt >= (error.code === 'KUBE_WEBHOOK_FAILED' ? Math.min(most, WEBHOOK_ATTEMPTS) : most)) return false;
    const [baseMs, maxMs] = this.#options.backoffMs ?? [200, 20_000];
    const backoff = backoffDelay(pending.attempt - 1, { baseMs, maxMs, random: this.#random });
    const delay = Math.max(error.retryAfterMs ?? 0, backoff);
    pending.doubtful ||= error.outcomeUnknown;
    pending.notBefore = this.#clock.now() + delay;
    this.counters.retried++;
    const { onRetry } = this.#options;
    if (onRetry !== undefined) callIsolated(() => onRetry(pending.intent, error, delay));
    entry.pending = pending;
    this.#pending++;
    this.#schedule(entry);
    return true;
  }

  /** A server that is too busy for one write is too busy for all. */
  #pauseFor(ms: number): void {
    const until = this.#clock.now() + ms;
    if (until <= this.#pausedUntil) return;
    this.#pausedUntil = until;
    this.#clock.clearTimeout(this.#pauseTimer);
    this.#pauseTimer = this.#clock.setTimeout(() => {
      this.#pausedUntil = 0;
      this.#pump();
    }, ms);
  }

  #finish(pending: Pending, result: WriteResult): void {
    if (result.ok) this.counters.succeeded++;
    else this.counters.failed[result.error.code] = (this.counters.failed[result.error.code] ?? 0) + 1;
    const { onResult } = this.#options;
    if (onResult !== undefined) callIsolated(() => onResult(pending.intent, result));
    pending.resolve(result);
  }

  #supersede(pending: Pending): void {
    this.counters.coalesced++;
    pending.resolve({ ok: false, error: intentError(pending.intent, 'KUBE_SUPERSEDED', 'replaced by a newer write') });
  }

  #drop(entry: Entry): void {
    if (entry.pending === undefined) return;
    this.#ready.remove(turnOf(entry.pending.intent), entry);
    entry.object.waiting.delete(entry);
    this.#clock.clearTimeout(entry.timer);
    entry.timer = undefined;
    entry.pending = undefined;
    this.#pending--;
    this.#settle(entry);
  }

  #settle(entry: Entry): void {
    this.#forget(entry);
    if (this.#pending === 0 && this.#inFlight === 0) for (const wake of this.#idle.splice(0)) wake();
  }

  /** Drops the entry of a key that is no longer needed. */
  #forget(entry: Entry): void {
    if (entry.pending !== undefined || entry.inFlight || this.#entries.get(entry.key) !== entry) return;
    this.#clock.clearTimeout(entry.timer);
    entry.timer = undefined;
    this.#entries.delete(entry.key);
    if (--entry.object.entries === 0) this.#slots.delete(entry.object.key);
  }
}

function turnOf({ lane, urgent, share, namespace }: WriteIntent): Turn {
  return { lane, urgent: urgent === true, share: share ?? namespace ?? '' };
}

/** Whether a newer write of the same lane can replace the waiting one in its position. */
function isSameTurn(one: WriteIntent, other: WriteIntent): boolean {
  const [before, after] = [turnOf(one), turnOf(other)];
  return before.urgent === after.urgent && before.share === after.share;
}

function keyOfIntent(intent: Pick<WriteIntent, 'resource' | 'namespace' | 'name' | 'lane'>): string {
  return `${resourceName(intent.resource)} ${keyOf(intent)} ${intent.lane}`;
}
