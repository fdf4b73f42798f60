/** How often one thing may be said in the log: what clients can bring about at will is said once a minute, with how often it was so. */

const INTERVAL_MS = 60_000;

export class SaidSeldom {
  readonly #now: () => number;
  #at = -Infinity;
  #unsaid = 0;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param say told how often it was so since it was said last */
  say(say: (times: number) => void): void {
    this.#unsaid++;
    if (this.#now() - this.#at < INTERVAL_MS) return;
    this.#at = this.#now();
    const times = this.#unsaid;
    this.#unsaid = 0;
    say(times);
  }
}
