/**
 * Outages of the API server: one log line at the begin and one at the end, however many kinds, writes and renewals of the Lease fail.
 */
import type { Clock } from '../../timing/clock.ts';
import type { KubeError, KubeErrorCode } from '../../kube/errors.ts';
import type { Log } from '../../runtime/log.ts';

/** Errors of the server as a whole, independent of the request. */
const SERVER_WIDE: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_UNREACHABLE',
  'KUBE_DISCONNECTED',
  'KUBE_TIMEOUT',
  'KUBE_UNAVAILABLE',
  'KUBE_INTERNAL',
  'KUBE_TOO_MANY_REQUESTS',
  'KUBE_UNAUTHORIZED',
]);

/** The server's message while it initializes the storage of a kind: at its start, and after a CRD was applied. */
const STARTS_STORAGE = /storage is \(re\)initializing/;

/** The name of a resource, `writes`, or `lease`. */
export type Subject = string;

export class ApiOutage {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #answersAgain: () => void;
  /** Subjects with failing requests. */
  readonly #failing = new Set<Subject>();
  readonly #affected = new Set<Subject>();
  #since = 0;
  #failures = 0;

  /** @param answersAgain called when one of several failing subjects is answered again */
  constructor(log: Log, clock: Clock, answersAgain: () => void) {
    this.#log = log;
    this.#clock = clock;
    this.#answersAgain = answersAgain;
  }

  /** @returns false if the error is about this request only: then the caller logs it */
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
      this.#log.warn('the API server is unavailable', { code: error.code, error: error.message, first: subject });
    }
    this.#failures++;
    this.#failing.add(subject);
    this.#affected.add(subject);
    return true;
  }

  /** The server answered a request of the subject. */
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
