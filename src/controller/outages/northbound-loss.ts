/**
 * Why the Northbound database cannot be followed, for as long as it cannot: what the leader tells to who looks from elsewhere. A server that
 * follows along and lies is one that cannot be followed either: that is over when a transaction was carried out, or after a minute without another lie.
 */
import type { Clock } from '../../kube/clock.ts';
import { isProtocolViolation, type OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';

/** A session that is followed again tries what is left to do within seconds. */
const LIE_MS = 60_000;

export class NorthboundLoss {
  readonly #clock: Clock;
  readonly #log: Log;
  #reason: string | undefined;
  #lie: { readonly reason: string; readonly since: number; last: number } | undefined;

  constructor(session: Pick<OvsdbSession, 'onError' | 'onState'>, log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
    session.onError(({ code, message, endpoint }) => {
      if (isProtocolViolation(code)) this.#lied(`${code}: ${message}`, endpoint);
      // That a member does not lead says nothing of what is wrong with the others.
      if (code !== 'OVSDB_NOT_LEADER') this.#reason = `${code}: ${message}`;
      else this.#reason ??= `${code}: ${message}`;
    });
    session.onState((state) => {
      if (state === 'synced') this.#reason = undefined;
    });
  }

  /** Undefined while it is followed and carries out what it is sent. */
  get reason(): string | undefined {
    return this.#reason ?? (this.lies ? this.#lie?.reason : undefined);
  }

  /** A server answered with what cannot be true, and none has carried out anything since. */
  get lies(): boolean {
    return this.#lie !== undefined && this.#clock.now() - this.#lie.last < LIE_MS;
  }

  /** A transaction was carried out. */
  accepted(): void {
    if (this.#lie === undefined) return;
    this.#log.info('the Northbound database carries out transactions again', { ms: Math.round(this.#clock.now() - this.#lie.since) });
    this.#lie = undefined;
  }

  #lied(reason: string, endpoint: string | undefined): void {
    const now = this.#clock.now();
    if (this.lies && this.#lie !== undefined) {
      this.#lie.last = now;
      return;
    }
    this.#lie = { reason, since: now, last: now };
    this.#log.error('a Northbound server is not to be believed: its connection was given up, the next endpoint is tried', {
      ...(endpoint === undefined ? {} : { endpoint }),
      error: reason,
    });
  }
}
