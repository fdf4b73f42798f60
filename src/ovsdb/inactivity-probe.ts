import type { Scheduler } from '../timing/clock.ts';

/**
 * Node.js runs due timers before it reads pending input. A process that was busy for long would take its own pause for the server's
 * silence, so the verdict waits for one more turn of the event loop.
 */
const secondLookMs = 20;

/** Intervals that a sending peer has for a reply: its echo reply may be queued behind a lot of data. */
const patience = 6;

/**
 * `silent`: the peer sends nothing. `no-replies`: it sends, and answers nothing: requests do not arrive, or it does not read them.
 * `skipped-request`: it answers echoes, and not a request that was sent before them.
 */
export type SilenceKind = 'silent' | 'no-replies' | 'skipped-request';

/**
 * Finds a dead peer and calls `onDead`. Three checks:
 * - silence: after `intervalMs` without a byte the probe sends an echo; after as long again without a byte the peer is dead;
 * - no replies: when a request has been open for `intervalMs`, the probe sends an echo and waits six intervals for any reply;
 * - a skipped request: a later request was answered and this one was not, for `intervalMs`.
 * Costs one timer an interval, however much the peer sends.
 */
export class InactivityProbe {
  readonly #clock: Scheduler;
  readonly #sendEcho: () => void;
  readonly #onDead: (ms: number, kind: SilenceKind) => void;
  readonly #unansweredSince: () => number | undefined;
  readonly #skippedSince: () => number | undefined;
  #intervalMs: number;
  #receivedAt: number;
  #echoSentAt: number | undefined;
  /** The open requests since then were followed by an echo, sent at `at`. */
  #asked: { readonly unansweredSince: number; readonly at: number } | undefined;
  #cancelTimer: () => void = () => {};
  #stopped = false;

  /**
   * @param unansweredSince since when a request has been open and none was answered, in the clock's milliseconds; undefined where none is
   *   open
   * @param skippedSince since when a request has been open after a later one was answered; undefined where none is
   */
  constructor(
    clock: Scheduler,
    intervalMs: number,
    sendEcho: () => void,
    onDead: (ms: number, kind: SilenceKind) => void,
    unansweredSince: () => number | undefined = () => undefined,
    skippedSince: () => number | undefined = () => undefined,
  ) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#sendEcho = sendEcho;
    this.#onDead = onDead;
    this.#unansweredSince = unansweredSince;
    this.#skippedSince = skippedSince;
    this.#receivedAt = clock.now();
    this.#arm(intervalMs);
  }

  /** To be called for each chunk of content received. */
  received(): void {
    this.#receivedAt = this.#clock.now();
    this.#echoSentAt = undefined;
  }

  /** A longer interval suits a server that is busy composing a large answer. */
  setInterval(intervalMs: number): void {
    if (this.#stopped) return;
    this.#intervalMs = intervalMs;
    this.received();
    this.#arm(intervalMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  #arm(afterMs: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.schedule(afterMs, () => this.#look());
  }

  #look(): void {
    if (this.#repliesMissing()) return this.#verdict('no-replies', this.#unansweredSince);
    const skipped = this.#skippedSince();
    if (skipped !== undefined) {
      const left = skipped + this.#intervalMs - this.#clock.now();
      return left <= 1 ? this.#verdict('skipped-request', this.#skippedSince) : this.#arm(left);
    }
    const since = this.#clock.now() - (this.#echoSentAt ?? this.#receivedAt);
    // A timer may fire a fraction of a millisecond early.
    if (since + 1 < this.#intervalMs) return this.#arm(this.#intervalMs - since);
    if (this.#echoSentAt === undefined) {
      this.#echoSentAt = this.#clock.now();
      this.#sendEcho();
      return this.#arm(this.#intervalMs);
    }
    this.#verdict('silent', () => this.#receivedAt);
  }

  /** Sends an echo where a request is open for too long. @returns whether nothing at all was answered since that echo */
  #repliesMissing(): boolean {
    const unansweredSince = this.#unansweredSince();
    const now = this.#clock.now();
    if (unansweredSince === undefined || now - unansweredSince + 1 < this.#intervalMs) return false;
    if (this.#asked?.unansweredSince === unansweredSince) return now - this.#asked.at + 1 >= patience * this.#intervalMs;
    this.#asked = { unansweredSince, at: now };
    this.#sendEcho();
    return false;
  }

  /** @param since a time that changes when the peer is alive after all */
  #verdict(kind: SilenceKind, since: () => number | undefined): void {
    const before = since();
    this.#cancelTimer = this.#clock.schedule(secondLookMs, () => {
      if (before !== undefined && since() === before) this.#onDead(this.#clock.now() - before, kind);
      else this.#look();
    });
  }
}
