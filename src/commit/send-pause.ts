/** The pause after a transaction: a moment, so that changes gather, and longer if the database has a problem. */
import { doublingDelay } from '../timing/backoff.ts';
import { type Gate, GateKeeper } from '../timing/gate.ts';

/**
 * Each transaction costs ovsdb-server and northd a round; many small ones would take processor time from them and the API server. The first
 * transaction after a quiet time is sent at once.
 */
const PACE_MS = 20;
export const RETRY_MS = 1_000;
/** Longest pause while every transaction fails, so that writes continue soon after the problem ends. */
const MOST_RETRY_MS = 5_000;

export class SendPause {
  readonly #later: (ms: number, run: () => void) => void;
  readonly #over = new GateKeeper('pause');
  /** Number of failures in a row because of the server itself. */
  #failures = 0;

  /** @param later a timer of the caller's clock */
  constructor(later: (ms: number, run: () => void) => void) {
    this.#later = later;
    this.#over.open();
  }

  /** Open while there is no pause. */
  get over(): Gate {
    return this.#over.gate;
  }

  /** The server answered, and has no problem. */
  answered(): void {
    this.#failures = 0;
  }

  afterSuccess(): void {
    this.#pause(PACE_MS);
  }

  /** The transaction was not sent, or had no answer. */
  afterSilence(): void {
    this.#pause(RETRY_MS);
  }

  /** Every transaction fails because of the server itself. */
  afterServerProblem(): void {
    this.#pause(doublingDelay(this.#failures++, RETRY_MS, MOST_RETRY_MS));
  }

  #pause(ms: number): void {
    this.#over.close();
    this.#later(ms, () => this.#over.open());
  }
}
