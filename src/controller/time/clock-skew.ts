/**
 * The clock of this host while it agrees with the API server's, which dates its answers; otherwise the API server's. The deletion
 * timestamps of pods are by the server's clock: with a clock that is ahead, terminating pods would look like pods of a lost node.
 */
import type { Clock } from '../../timing/clock.ts';
import { systemClock } from '../../timing/clock.ts';
import type { Log } from '../../runtime/log.ts';

/** Answers are dated to the second, and may be read late; pods have thirty seconds to terminate. */
const TOLERATED_MS = 10_000;
/** A single answer may have waited while the process was suspended. */
const IN_A_ROW = 3;

export class ServerDatedClock implements Clock {
  readonly #log: Log;
  readonly #clock: Clock;
  /** The server's last date, and when it was received, in monotonic milliseconds. */
  #server: { readonly date: number; readonly at: number } | undefined;
  #apart = 0;
  #reported = false;

  constructor(log: Log, clock: Clock = systemClock) {
    this.#log = log;
    this.#clock = clock;
  }

  readonly now = (): number => this.#clock.now();

  /** A clock that jumps is ignored, also before the next answer. */
  readonly wallTime = (): number => {
    const own = this.#clock.wallTime();
    if (this.#server === undefined) return own;
    const { date, at } = this.#server;
    const server = Math.round(date + this.#clock.now() - at);
    return Math.abs(own - server) <= TOLERATED_MS ? own : server;
  };

  readonly setTimeout: Clock['setTimeout'] = (callback, ms) => this.#clock.setTimeout(callback, ms);
  readonly clearTimeout: Clock['clearTimeout'] = (handle) => this.#clock.clearTimeout(handle);

  /** To be called at each answer. @param date the server's, in milliseconds since the epoch */
  answered(date: number): void {
    this.#server = { date, at: this.#clock.now() };
    const ahead = this.#clock.wallTime() - date;
    if (Math.abs(ahead) <= TOLERATED_MS) {
      this.#apart = 0;
      if (this.#reported) this.#log.info('the clocks of this host and of the API server agree again');
      this.#reported = false;
      return;
    }
    if (this.#reported || ++this.#apart < IN_A_ROW) return;
    this.#reported = true;
    this.#log.warn('the clocks of this host and of the API server differ', {
      error: `this one is ${Math.round(Math.abs(ahead) / 1_000)} s ${ahead > 0 ? 'ahead' : 'behind'}: what ends at a date, ends by that of the API server; the certificate of the API server is held to this one`,
      next: 'check the time service (NTP) of both hosts',
    });
  }
}
