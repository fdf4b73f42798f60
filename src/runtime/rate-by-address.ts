/** A token bucket for each client address. Pure: the caller passes the time. */

export interface Rate {
  /** Units added each second. */
  readonly perSecond: number;
  /** Most units in a bucket. */
  readonly burst: number;
}

/** Most addresses remembered; the least recently used one is forgotten, and starts again with a full bucket. */
const MOST_ADDRESSES = 4_096;

export class RateByAddress {
  readonly #rate: Rate;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /**
   * @param now monotonic milliseconds
   * @returns whether the address has so many units; if so, they are taken
   */
  take(address: string, units: number, now: number): boolean {
    const bucket = this.#bucket(address, now);
    if (bucket.left < units) return false;
    bucket.left -= units;
    return true;
  }

  /** Takes units that were used already; the address may owe some then. */
  charge(address: string, units: number, now: number): void {
    this.#bucket(address, now).left -= units;
  }

  #bucket(address: string, now: number): { left: number; at: number } {
    const { perSecond, burst } = this.#rate;
    const found = this.#buckets.get(address);
    const bucket = found ?? { left: burst, at: now };
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    // Keeps the order of last use.
    if (found !== undefined) this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_ADDRESSES && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
