/**
 * The API server away, or in trouble: one log line when it begins and one when it is over, however many kinds, writes and renewals of
 * the Lease meet it.
 */
import type { Clock } from '../kube/clock.ts';
import type { KubeError, KubeErrorCode } from '../kube/errors.ts';
import type { Log } from '../runtime/log.ts';

/** What is the server's trouble, whatever was asked of it. */
const SERVER_WIDE: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_UNREACHABLE',
  'KUBE_DISCONNECTED',
  'KUBE_TIMEOUT',
  'KUBE_UNAVAILABLE',
  'KUBE_INTERNAL',
  'KUBE_TOO_MANY_REQUESTS',
  'KUBE_UNAUTHORIZED',
]);

/** The name of a resource, `writes`, or `lease`. */
export type Subject = string;

export class ApiOutage {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #answersAgain: () => void;
  /** Who fails now. */
  readonly #failing = new Set<Subject>();
  readonly #affected = new Set<Subject>();
  #since = 0;
  #failures = 0;

  /** @param answersAgain called when one who failed was answered and others have not been yet */
  constructor(log: Log, clock: Clock, answersAgain: () => void) {
    this.#log = log;
    this.#clock = clock;
    this.#answersAgain = answersAgain;
  }

  /** @returns false when the error is not the server's trouble, and its own to be told */
  failed(subject: Subject, error: KubeError): boolean {
    if (!SERVER_WIDE.has(error.code)) return false;
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
