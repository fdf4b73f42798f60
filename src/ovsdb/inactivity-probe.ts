import type { Clock } from './clock.ts';

/**
 * Pending input is read only after the timers that are due: a process that was busy for long would take its own absence for the
 * server's. So the verdict waits for one more turn of the event loop.
 */
const secondLookMs = 20;

/** Intervals that a peer which talks has for an answer: an echo may stand behind all that it had to send before. */
const patience = 6;

/**
 * `silent`: not a byte came. `deaf`: it talks, and answers nothing: what is sent to it does not arrive, or is not read. `choosy`: it answers echoes,
 * and leaves a request that came before them.
 */
export type Ailment = 'silent' | 'deaf' | 'choosy';

/**
 * Finds a peer that is silent: after `intervalMs` without a byte it asks for an echo, and after as long again it calls `onDead`. And one
 * that talks and answers nothing: when a request has been open for `intervalMs`, it asks for an echo as well, and waits for any answer. And one
 * that answers the echo and not the request: it has as long again.
 * A peer that talks costs one timer an interval, not one a message.
 */
export class InactivityProbe {
  readonly #clock: Clock;
  readonly #sendEcho: () => void;
  readonly #onDead: (ms: number, ailment: Ailment) => void;
  readonly #owedSince: () => number | undefined;
  readonly #passedOverSince: () => number | undefined;
  #intervalMs: number;
  #receivedAt: number;
  #echoSentAt: number | undefined;
  /** What is owed since then was asked for with an echo, and when. */
  #asked: { readonly owedSince: number; readonly at: number } | undefined;
  #cancelTimer: () => void = () => {};
  #stopped = false;

  /**
   * @param owedSince since when a request has been open and none was answered, in the clock's milliseconds; undefined where none is open
   * @param passedOverSince since when a request has been open after a later one was answered; undefined where none is
   */
  constructor(
    clock: Clock,
    intervalMs: number,
    sendEcho: () => void,
    onDead: (ms: number, ailment: Ailment) => void,
    owedSince: () => number | undefined = () => undefined,
    passedOverSince: () => number | undefined = () => undefined,
  ) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#sendEcho = sendEcho;
    this.#onDead = onDead;
    this.#owedSince = owedSince;
    this.#passedOverSince = passedOverSince;
    this.#receivedAt = clock.now();
    this.#arm(intervalMs);
  }

  /** To be called for any bytes that came in. */
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
    if (this.#isDeaf()) return this.#verdict('deaf', this.#owedSince);
    const passedOver = this.#passedOverSince();
    if (passedOver !== undefined) {
      const left = passedOver + this.#intervalMs - this.#clock.now();
      return left <= 1 ? this.#verdict('choosy', this.#passedOverSince) : this.#arm(left);
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

  /** @returns whether an echo was asked for, because something is owed, and nothing was answered since. Asks for one where it is due. */
  #isDeaf(): boolean {
    const owedSince = this.#owedSince();
    const now = this.#clock.now();
    if (owedSince === undefined || now - owedSince + 1 < this.#intervalMs) return false;
    if (this.#asked?.owedSince === owedSince) return now - this.#asked.at + 1 >= patience * this.#intervalMs;
    this.#asked = { owedSince, at: now };
    this.#sendEcho();
    return false;
  }

  /** @param since what moves on when the peer is not dead after all */
  #verdict(ailment: Ailment, since: () => number | undefined): void {
    const before = since();
    this.#cancelTimer = this.#clock.schedule(secondLookMs, () => {
      if (before !== undefined && since() === before) this.#onDead(this.#clock.now() - before, ailment);
      else this.#look();
    });
  }
}
