/**
 * The Northbound database follows along and carries nothing out: a full disk, a server that takes no writes, a term that may not be
 * written. One log line when it begins and one when it is over, and what it says meanwhile for whoever asks.
 */
import type { Clock } from '../../kube/clock.ts';
import type { OvsdbError } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';

export class NorthboundRefusals {
  readonly #log: Log;
  readonly #clock: Clock;
  #since = 0;
  #refused = 0;
  #reason: string | undefined;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** What the server said last; undefined while it carries out what it is sent. */
  get reason(): string | undefined {
    return this.#reason;
  }

  refused({ code, serverError, details, message }: OvsdbError): void {
    if (this.#reason === undefined) {
      this.#since = this.#clock.now();
      this.#refused = 0;
      this.#log.error('the Northbound database refuses every transaction; each is sent again until it takes one', { code, error: message });
    }
    this.#refused++;
    this.#reason = serverError === undefined ? message : [serverError, details].filter((part) => part !== undefined).join(': ');
  }

  accepted(): void {
    if (this.#reason === undefined) return;
    this.#reason = undefined;
    const ms = Math.round(this.#clock.now() - this.#since);
    this.#log.info('the Northbound database carries out transactions again', { ms, refused: this.#refused });
  }

  /** Nothing is sent from here any more: whether it would be taken is another's to find out. */
  forget(): void {
    this.#reason = undefined;
  }
}
