import { FairMemory } from './fair-memory.ts';
import { TokenBucket } from './token-bucket.ts';

interface Spent {
  readonly bucket: TokenBucket;
  /** Calls that were not allowed since the last allowed one. */
  dropped: number;
}

/** Most shares remembered; a forgotten one starts with a full bucket. */
const MOST_SHARES = 5_000;

/** A rate limit for each share, so that a flood uses up only its own: usually for log lines. Pure: the caller passes the time. */
export class FairRate {
  readonly #rate: readonly [burst: number, perSecond: number];
  readonly #shares = new FairMemory<Spent>(MOST_SHARES, MOST_SHARES);

  /** @param rate of one share: burst, and rate a second */
  constructor(rate: readonly [burst: number, perSecond: number]) {
    this.#rate = rate;
  }

  /** Number of shares remembered. */
  get size(): number {
    return this.#shares.size;
  }

  /**
   * @param now monotonic milliseconds
   * @returns how many calls of the share were not allowed since the last allowed one; undefined: this one is not allowed
   */
  take(share: string, now: number): number | undefined {
    const spent = this.#shares.get('', share) ?? { bucket: new TokenBucket(...this.#rate, now), dropped: 0 };
    this.#shares.set('', share, spent);
    if (!spent.bucket.take(now)) {
      spent.dropped++;
      return undefined;
    }
    const { dropped } = spent;
    spent.dropped = 0;
    return dropped;
  }
}
