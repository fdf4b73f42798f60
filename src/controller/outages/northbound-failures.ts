/**
 * The Northbound database can be read and every transaction fails: a full disk, a read-only server, a term that cannot be written. One log
 * line at the begin and one at the end, and the server's error meanwhile for status and metrics.
 */
import type { Clock } from '../../timing/clock.ts';
import type { OvsdbError } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';

export class NorthboundFailures {
  readonly #log: Log;
  readonly #clock: Clock;
  #since = 0;
  #failures = 0;
  #reason: string | undefined;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** The server's last error; undefined while transactions succeed. */
  get reason(): string | undefined {
    return this.#reason;
  }

  failed({ code, serverError, details, message }: OvsdbError): void {
    if (this.#reason === undefined) {
      this.#since = this.#clock.now();
      this.#failures = 0;
      this.#log.error('the Northbound database fails every transaction; each is repeated until one succeeds', { code, error: message });
    }
    this.#failures++;
    this.#reason = serverError === undefined ? message : [serverError, details].filter((part) => part !== undefined).join(': ');
  }

  accepted(): void {
    if (this.#reason === undefined) return;
    this.#reason = undefined;
    const ms = Math.round(this.#clock.now() - this.#since);
    this.#log.info('the Northbound database accepts transactions again', { ms, failures: this.#failures });
  }

  /** This process no longer sends transactions: the next leader finds out whether they fail. */
  forget(): void {
    this.#reason = undefined;
  }
}
