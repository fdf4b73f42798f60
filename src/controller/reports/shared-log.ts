/**
 * Log lines about tenants' objects, limited for each namespace, so that a flood neither fills the disk nor hides the lines of another
 * namespace. The next line has the number of suppressed ones.
 */
import type { Clock } from '../../timing/clock.ts';
import { FairRate } from '../../kube/fairness/fair-rate.ts';
import type { Fields, Log } from '../../runtime/log.ts';

/** Lines of one share: burst, and rate a second. */
const RATE = [50, 0.5] as const;
/** Most characters of one text: a server's answer may quote an annotation of 256 kB. */
const MOST_TEXT = 2_000;

export class SharedLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #rate = new FairRate(RATE);

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** @param share a namespace; empty for the cluster */
  of(share: string): Log {
    const log = this.#log;
    const limited =
      (write: Log['warn']): Log['warn'] =>
      (message, fields = {}) => {
        const suppressed = this.#rate.take(share, this.#clock.now());
        if (suppressed !== undefined) write(message, { ...cut(fields), ...(suppressed > 0 && { suppressed }) });
      };
    return {
      debug: (message, fields) => log.debug(message, fields),
      info: limited((message, fields) => log.info(message, fields)),
      warn: limited((message, fields) => log.warn(message, fields)),
      error: limited((message, fields) => log.error(message, fields)),
    };
  }
}

function cut(fields: Fields): Fields {
  const long = Object.entries(fields).filter(([, value]) => typeof value === 'string' && value.length > MOST_TEXT);
  if (long.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(long.map(([name, value]) => [name, `${String(value).slice(0, MOST_TEXT)}…`])) };
}
