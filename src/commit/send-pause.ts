/** How long nothing is sent after a transaction: a moment, so that changes gather, and longer where the database has a problem. */

/**
 * Each transaction costs ovsdb-server and northd a round, and a few rows at a time would keep them, and the API server beside them, from their
 * work. The first of a quiet time goes at once.
 */
const PACE_MS = 20;
export const RETRY_MS = 1_000;
/** A database that refuses everything is asked no less often, so that nothing waits for long when it is well again. */
const MOST_RETRY_MS = 5_000;

export class SendPause {
  readonly #later: (ms: number, run: () => void) => void;
  readonly #wake: () => void;
  #isOn = false;
  /** How often in a row the server refused because of a problem of its own. */
  #refusals = 0;

  /**
   * @param later calls back after a while
   * @param wake the pause is over
   */
  constructor(later: (ms: number, run: () => void) => void, wake: () => void) {
    this.#later = later;
    this.#wake = wake;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** The server answered, and has no problem of its own. */
  answered(): void {
    this.#refusals = 0;
  }

  afterSuccess(): void {
    this.#pause(PACE_MS);
  }

  /** The transaction was not sent, or nothing answered. */
  afterSilence(): void {
    this.#pause(RETRY_MS);
  }

  /** The server takes no transaction, whatever is in it. */
  afterServerProblem(): void {
    this.#pause(Math.min(RETRY_MS * 2 ** this.#refusals++, MOST_RETRY_MS));
  }

  #pause(ms: number): void {
    this.#isOn = true;
    this.#later(ms, () => {
      this.#isOn = false;
      this.#wake();
    });
  }
}
