/**
 * Limits how often one message is logged. Messages that clients can cause at will are logged once a minute, with the number of occurrences.
 */

const INTERVAL_MS = 60_000;

export class SaidSeldom {
  readonly #now: () => number;
  #at = -Infinity;
  #unsaid = 0;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param say is called with the number of occurrences since its last call */
  say(say: (times: number) => void): void {
    this.#unsaid++;
    if (this.#now() - this.#at < INTERVAL_MS) return;
    this.#at = this.#now();
    const times = this.#unsaid;
    this.#unsaid = 0;
    say(times);
  }
}
