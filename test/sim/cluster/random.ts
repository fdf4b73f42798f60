/** Pseudo-random draws: the same seed gives the same ones. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
    for (let i = 0; i < 4; i++) this.next();
  }

  /** In [0, 1) (mulberry32). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from');
    return items[this.below(items.length)] as T;
  }

  /** Draws one of the keys, in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const keys = Object.keys(weights) as K[];
    let sum = 0;
    for (const key of keys) sum += weights[key];
    let left = this.next() * sum;
    for (const key of keys) if ((left -= weights[key]) < 0) return key;
    return keys.at(-1) as K;
  }

  uuid(): string {
    const hex = (digits: number): string => {
      let text = '';
      while (text.length < digits) text += this.below(0x10000).toString(16).padStart(4, '0');
      return text.slice(0, digits);
    };
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  }
}
