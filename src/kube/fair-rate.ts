import { FairMemory } from './fair-memory.ts';
import { TokenBucket } from './token-bucket.ts';

interface Spent {
  readonly bucket: TokenBucket;
  /** Not allowed since the last that was. */
  refused: number;
}

/** Shares that are remembered; one that is forgotten begins anew. */
const MOST_SHARES = 5_000;

/** A rate for each share, so that one that floods spends its own: for log lines, usually. Pure: the time is given. */
export class FairRate {
  readonly #rate: readonly [burst: number, perSecond: number];
  readonly #shares = new FairMemory<Spent>(MOST_SHARES, MOST_SHARES);

  /** @param rate of one share: at once, and a second later on */
  constructor(rate: readonly [burst: number, perSecond: number]) {
    this.#rate = rate;
  }

  /** Shares that are remembered. */
  get size(): number {
    return this.#shares.size;
  }

  /**
   * @param now monotonic milliseconds
   * @returns how many of the share were not allowed since the last that was; undefined where this one is not
   */
  take(share: string, now: number): number | undefined {
    const spent = this.#shares.get('', share) ?? { bucket: new TokenBucket(...this.#rate, now), refused: 0 };
    this.#shares.set('', share, spent);
    if (!spent.bucket.take(now)) {
      spent.refused++;
      return undefined;
    }
    const { refused } = spent;
    spent.refused = 0;
    return refused;
  }
}
