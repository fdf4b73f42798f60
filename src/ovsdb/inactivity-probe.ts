import type { Clock } from './clock.ts';

/**
 * Pending input is read only after the timers that are due: a process that was busy for long would take its own absence for the
 * server's. So the verdict waits for one more turn of the event loop.
 */
const secondLookMs = 20;

/**
 * Finds a peer that is silent: after `intervalMs` without a byte it asks for an echo, and after as long again it calls `onDead`.
 * A peer that talks costs one timer an interval, not one a message.
 */
export class InactivityProbe {
  readonly #clock: Clock;
  readonly #sendEcho: () => void;
  readonly #onDead: (silentMs: number) => void;
  #intervalMs: number;
  #heardAt: number;
  #echoSentAt: number | undefined;
  #cancelTimer: () => void = () => {};
  #stopped = false;

  constructor(clock: Clock, intervalMs: number, sendEcho: () => void, onDead: (silentMs: number) => void) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#sendEcho = sendEcho;
    this.#onDead = onDead;
    this.#heardAt = clock.now();
    this.#arm(intervalMs);
  }

  /** To be called for any bytes that came in. */
  heard(): void {
    this.#heardAt = this.#clock.now();
    this.#echoSentAt = undefined;
  }

  /** A longer interval suits a server that is busy composing a large answer. */
  setInterval(intervalMs: number): void {
    if (this.#stopped) return;
    this.#intervalMs = intervalMs;
    this.heard();
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
    const since = this.#clock.now() - (this.#echoSentAt ?? this.#heardAt);
    // A timer may fire a fraction of a millisecond early.
    if (since + 1 < this.#intervalMs) return this.#arm(this.#intervalMs - since);
    if (this.#echoSentAt === undefined) {
      this.#echoSentAt = this.#clock.now();
      this.#sendEcho();
      return this.#arm(this.#intervalMs);
    }
    const heardAt = this.#heardAt;
    this.#cancelTimer = this.#clock.schedule(secondLookMs, () => {
      if (this.#heardAt === heardAt) this.#onDead(this.#clock.now() - heardAt);
      else this.#look();
    });
  }
}
