/**
 * Why the Northbound database cannot be read, published by the leader for commands. A server that breaks the protocol counts as lost too,
 * until a transaction succeeds, or for a minute after the last violation.
 */
import type { Clock } from '../../timing/clock.ts';
import { isProtocolViolation, type OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';

/** After a resync the session sends pending transactions within seconds: a minute without a violation means that the server is fine. */
const VIOLATION_MS = 60_000;

export class NorthboundLoss {
  readonly #clock: Clock;
  readonly #log: Log;
  #reason: string | undefined;
  #violation: { readonly reason: string; readonly since: number; last: number } | undefined;

  constructor(session: Pick<OvsdbSession, 'onError' | 'onState'>, log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
    session.onError(({ code, message, endpoint }) => {
      if (isProtocolViolation(code)) this.#reportViolation(`${code}: ${message}`, endpoint);
      // OVSDB_NOT_LEADER does not explain the errors of other members.
      if (code !== 'OVSDB_NOT_LEADER') this.#reason = `${code}: ${message}`;
      else this.#reason ??= `${code}: ${message}`;
    });
    session.onState((state) => {
      if (state === 'synced') this.#reason = undefined;
    });
  }

  /** Undefined while the replica is synced and the server follows the protocol. */
  get reason(): string | undefined {
    return this.#reason ?? (this.violatesProtocol ? this.#violation?.reason : undefined);
  }

  /** Whether a server broke the protocol, and no transaction has succeeded since. */
  get violatesProtocol(): boolean {
    return this.#violation !== undefined && this.#clock.now() - this.#violation.last < VIOLATION_MS;
  }

  /** A transaction succeeded. */
  accepted(): void {
    if (this.#violation === undefined) return;
    this.#log.info('the Northbound database accepts transactions again', { ms: Math.round(this.#clock.now() - this.#violation.since) });
    this.#violation = undefined;
  }

  #reportViolation(reason: string, endpoint: string | undefined): void {
    const now = this.#clock.now();
    if (this.violatesProtocol && this.#violation !== undefined) {
      this.#violation.last = now;
      return;
    }
    this.#violation = { reason, since: now, last: now };
    this.#log.error('a Northbound server breaks the protocol: its connection was closed, the next endpoint is tried', {
      ...(endpoint === undefined ? {} : { endpoint }),
      error: reason,
    });
  }
}
