/**
 * A map for keys that tenants choose, limited for each share and in total. So no tenant makes it grow without end, or makes it forget the
 * entries of another tenant. A share is a namespace; cluster-scoped objects are a share of their own. Pure.
 */
export class FairMemory<V> {
  readonly #perShare: number;
  readonly #total: number;
  /** Of each share, least recently used first. */
  readonly #shares = new Map<string, Map<string, V>>();
  #size = 0;

  /** @param perShare most entries of one share; @param total of all together: above it the largest share forgets one */
  constructor(perShare: number, total: number) {
    this.#perShare = perShare;
    this.#total = total;
  }

  get size(): number {
    return this.#size;
  }

  get(share: string, key: string): V | undefined {
    return this.#shares.get(share)?.get(key);
  }

  /** Sets the value, as the most recently used one. */
  set(share: string, key: string, value: V): void {
    let entries = this.#shares.get(share);
    if (entries === undefined) this.#shares.set(share, (entries = new Map<string, V>()));
    if (!entries.delete(key)) this.#size++;
    entries.set(key, value);
    if (entries.size > this.#perShare) this.#forgetOldest(share);
    else if (this.#size > this.#total) this.#forgetOldest(this.#largest());
  }

  delete(share: string, key: string): boolean {
    const entries = this.#shares.get(share);
    if (entries?.delete(key) !== true) return false;
    this.#size--;
    if (entries.size === 0) this.#shares.delete(share);
    return true;
  }

  clear(): void {
    this.#shares.clear();
    this.#size = 0;
  }

  #forgetOldest(share: string): void {
    const oldest = this.#shares.get(share)?.keys().next().value;
    if (oldest !== undefined) this.delete(share, oldest);
  }

  #largest(): string {
    let largest = '';
    let most = 0;
    for (const [share, { size }] of this.#shares)
      if (size > most) {
        largest = share;
        most = size;
      }
    return largest;
  }
}
