import { type Clock, type Random, sleep, type TimerHandle } from './clock.ts';

/** However often others are answered, attempts are this far apart. */
const LEAST_MS = 5_000;
/** Within which those that waited together come back. */
const SPREAD_MS = 3_000;

/** The wait between two attempts, which is cut short when the server has answered somebody else. */
export class RetryDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  #shorten: (() => void) | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Waits so many milliseconds, or until the signal is aborted; never rejects. One at a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const least = this.#clock.now() + LEAST_MS;
    // Not `AbortSignal.any`: one that is listened to is kept for good, with all that waits, where neither signal nor time ever ends it.
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    let timer: TimerHandle;
    this.#shorten = () => {
      this.#shorten = undefined;
      timer = this.#comeBack(end, least);
    };
    await sleep(this.#clock, ms, over.signal);
    signal.removeEventListener('abort', end);
    this.#shorten = undefined;
    this.#clock.clearTimeout(timer);
  }

  #comeBack(end: () => void, least: number): TimerHandle {
    return this.#clock.setTimeout(end, Math.max(0, least - this.#clock.now()) + SPREAD_MS * this.#random());
  }

  /** Ends the wait under way soon: 5 s after it began or now, and up to 3 s later. */
  shorten(): void {
    this.#shorten?.();
  }
}
