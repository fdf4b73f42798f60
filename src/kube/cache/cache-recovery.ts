/** What a list-watch cache does after a failure: how long it waits, and whether it resumes the watch or lists again. */
import { backoffDelay } from '../../timing/backoff.ts';
import type { CacheCore } from './cache-core.ts';
import { sleep } from '../../timing/clock.ts';
import type { KubeError } from '../errors.ts';
import type { ListReason } from './list-watch-options.ts';
import type { KubeObject } from '../resource.ts';
import { RetryDelay } from './retry-delay.ts';

/** After so many failures in a row the cache relists instead of resuming the watch. */
const RESUMES = 4;
/** The delay between lists that are not accepted stops growing after so many: the next one may be right. */
const DOUBTED_ATTEMPTS = 3;

export class CacheRecovery<T extends KubeObject> {
  readonly #core: CacheCore<T>;
  readonly #retry: RetryDelay;
  #notServedSince: number | undefined;
  /** Failures since the server last sent an event. */
  inARow = 0;

  constructor(core: CacheCore<T>) {
    this.#core = core;
    this.#retry = new RetryDelay(core.clock, core.random);
  }

  /** Cuts the present wait short: the server has answered another request. */
  retrySoon(): void {
    this.#retry.shorten();
  }

  /** A full list was read. */
  listed(): void {
    this.#notServedSince = undefined;
  }

  /** Waits after a failure. @returns why to relist, or undefined to resume the watch */
  async recover(error: KubeError, wasListing: ListReason | undefined): Promise<ListReason | undefined> {
    this.#core.counters.failures++;
    // A first 410 is the usual end of an old version; a second one, before anything was received, is a failure.
    if (error.code === 'KUBE_GONE' && this.inARow++ === 0) return wasListing ?? 'gone';
    if (error.code === 'KUBE_NOT_SERVED' || error.code === 'KUBE_NOT_FOUND') {
      await this.#notServed(error);
      return 'not-served';
    }
    if (this.#core.isComplete) this.#core.setState('stale');
    const attempt = this.inARow++;
    if (error.code === 'KUBE_LIST_DOUBTED') this.#core.counters.doubted++;
    const answered = error.code === 'KUBE_LIST_DOUBTED' || error.code === 'KUBE_PROTOCOL';
    await this.pause(answered ? Math.min(attempt, DOUBTED_ATTEMPTS) : attempt, error);
    return wasListing ?? (attempt + 1 >= RESUMES ? 'errors' : undefined);
  }

  async #notServed(error: KubeError): Promise<void> {
    const now = this.#core.clock.now();
    this.#notServedSince ??= now;
    const grace = this.#core.options.notServedGraceMs ?? (this.#core.options.optional === true ? 120_000 : Infinity);
    const { definitions } = this.#core.options;
    const over = now - this.#notServedSince >= grace && definitions?.isDeclared(this.#core.resource) !== true;
    if (this.#core.contents.objects.size > 0 && over) this.#core.deliver(this.#core.contents.clear());
    this.#core.setState('not-served');
    const slow = (this.#core.options.notServedRetryMs ?? 30_000) * (0.8 + 0.4 * this.#core.random());
    this.#core.emit({ kind: 'failure', error, retryInMs: slow });
    // The remaining contents are removed when the grace period is over, also without a definition.
    if (definitions === undefined || this.#core.contents.objects.size > 0) await sleep(this.#core.clock, slow, this.#core.stop.signal);
    else await definitions.untilServed(this.#core.resource, slow, this.#core.stop.signal);
  }

  async pause(attempt: number, error?: KubeError): Promise<void> {
    const [baseMs, maxMs] = this.#core.options.backoffMs ?? [500, 30_000];
    const delay = Math.max(error?.retryAfterMs ?? 0, backoffDelay(attempt, { baseMs, maxMs, random: this.#core.random }));
    if (error !== undefined) this.#core.emit({ kind: 'failure', error, retryInMs: delay });
    if (error === undefined || error.retryAfterMs !== undefined) await sleep(this.#core.clock, delay, this.#core.stop.signal);
    else await this.#retry.wait(delay, this.#core.stop.signal);
  }
}
