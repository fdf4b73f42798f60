import { type Clock, type Random, sleep, type TimerHandle } from '../../timing/clock.ts';

/** Least time between two attempts, however often `shorten` is called. */
const LEAST_MS = 5_000;
/** Shortened waits end spread over this time. */
const SPREAD_MS = 3_000;

/** The wait between two attempts. `shorten` cuts it short when the server has answered another request. */
export class RetryDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  #shorten: (() => void) | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Waits so many milliseconds, or until the signal is aborted; never rejects. One wait at a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const least = this.#clock.now() + LEAST_MS;
    // Not `AbortSignal.any`: Node keeps a combined signal with listeners in memory for good if it is never aborted.
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
