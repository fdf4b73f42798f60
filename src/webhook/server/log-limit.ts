/**
 * Limits how often one message is logged. Messages that clients can cause at will are logged once a minute, with the number of occurrences.
 */

const INTERVAL_MS = 60_000;

export class LogLimit {
  readonly #now: () => number;
  #loggedAt = -Infinity;
  #occurrences = 0;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts an occurrence. @param log is called at most once a minute, with the number of occurrences since its last call */
  note(log: (occurrences: number) => void): void {
    this.#occurrences++;
    if (this.#now() - this.#loggedAt < INTERVAL_MS) return;
    this.#loggedAt = this.#now();
    const occurrences = this.#occurrences;
    this.#occurrences = 0;
    log(occurrences);
  }
}
