import { TokenBucket } from '../fairness/token-bucket.ts';

/** Limit of writes of one object: burst, and rate a second. */
export type WriteRate = readonly [burst: number, perSecond: number];

/**
 * Limits how often each object is written: a token bucket for each, kept until it would be full again. Nothing else limits two programs
 * that undo each other's writes.
 */
export class ObjectRate {
  readonly #burst: number;
  readonly #perSecond: number;
  /** Least recently written first. */
  readonly #buckets = new Map<string, { readonly bucket: TokenBucket; readonly last: number }>();

  constructor([burst, perSecond]: WriteRate) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Number of objects written lately. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Milliseconds until the object may be written; 0: now. */
  waitMs(object: string, now: number): number {
    return this.#buckets.get(object)?.bucket.waitMs(now) ?? 0;
  }

  /** Counts one write. */
  take(object: string, now: number): void {
    const { bucket } = this.#buckets.get(object) ?? { bucket: new TokenBucket(this.#burst, this.#perSecond, now) };
    bucket.take(now);
    this.#buckets.delete(object);
    this.#buckets.set(object, { bucket, last: now });
    this.#forget(now);
  }

  #forget(now: number): void {
    const fullAfterMs = (this.#burst / this.#perSecond) * 1_000;
    for (const [object, { last }] of this.#buckets) {
      if (now - last < fullAfterMs) return;
      this.#buckets.delete(object);
    }
  }
}
