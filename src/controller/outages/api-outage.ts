/**
 * Outages of the API server: one log line when one begins and one when it is over, however many kinds, writes and renewals of the Lease
 * are affected.
 */
import type { Clock } from '../../kube/clock.ts';
import type { KubeError, KubeErrorCode } from '../../kube/errors.ts';
import type { Log } from '../../runtime/log.ts';

/** Errors that concern the server as a whole, whatever the request was. */
const SERVER_WIDE: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_UNREACHABLE',
  'KUBE_DISCONNECTED',
  'KUBE_TIMEOUT',
  'KUBE_UNAVAILABLE',
  'KUBE_INTERNAL',
  'KUBE_TOO_MANY_REQUESTS',
  'KUBE_UNAUTHORIZED',
]);

/** What a server says of one kind whose storage it is about to begin with: at its start, and for a while after a definition was applied. */
const STARTS_STORAGE = /storage is \(re\)initializing/;

/** The name of a resource, `writes`, or `lease`. */
export type Subject = string;

export class ApiOutage {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #answersAgain: () => void;
  /** Whose requests fail now. */
  readonly #failing = new Set<Subject>();
  readonly #affected = new Set<Subject>();
  #since = 0;
  #failures = 0;

  /** @param answersAgain called when one of several that failed is answered again */
  constructor(log: Log, clock: Clock, answersAgain: () => void) {
    this.#log = log;
    this.#clock = clock;
    this.#answersAgain = answersAgain;
  }

  /** @returns false when the error concerns this request alone, and the caller is to log it */
  failed(subject: Subject, error: KubeError): boolean {
    if (!SERVER_WIDE.has(error.code)) return false;
    if (error.code === 'KUBE_TOO_MANY_REQUESTS' && STARTS_STORAGE.test(error.message)) {
      this.#log.debug('the API server begins to store a kind', { of: subject, error: error.message });
      return true;
    }
    if (this.#failing.size === 0) {
      this.#since = this.#clock.now();
      this.#failures = 0;
      this.#affected.clear();
      this.#log.warn('the API server is in trouble', { code: error.code, error: error.message, first: subject });
    }
    this.#failures++;
    this.#failing.add(subject);
    this.#affected.add(subject);
    return true;
  }

  /** The server answered it. */
  answered(subject: Subject): void {
    if (!this.#failing.delete(subject)) return;
    if (this.#failing.size > 0) return this.#answersAgain();
    this.#log.info('the API server is back', {
      ms: Math.round(this.#clock.now() - this.#since),
      failures: this.#failures,
      affected: this.#affected.size,
    });
  }
}
