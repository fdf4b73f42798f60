/** Most waiting entries: of one share, and of all shares together. */
export interface QueueLimits {
  readonly perShare: number;
  readonly total: number;
}

const UNLIMITED: QueueLimits = { perShare: Infinity, total: Infinity };

/**
 * A queue in which shares take turns, however many entries each adds; first in, first out within a share. A share is a namespace;
 * cluster-scoped objects are a share of their own. Above a limit the share with too many entries loses one, never another share. Pure.
 */
export class FairQueue<E> {
  readonly #limits: QueueLimits;
  /** In the order of their turns. Sets keep order and remove in constant time. */
  readonly #shares = new Map<string, Set<E>>();
  #size = 0;

  constructor(limits: QueueLimits = UNLIMITED) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * @param supersedes whether the new entry makes a waiting one obsolete: above the limit of its share that one is removed, else the oldest
   * @returns the removed entry
   */
  add(share: string, entry: E, supersedes: (other: E) => boolean = () => false): E | undefined {
    const queue = this.#shares.get(share);
    if (queue === undefined) this.#shares.set(share, new Set([entry]));
    else if (queue.has(entry)) return undefined;
    else queue.add(entry);
    this.#size++;
    if ((queue?.size ?? 1) > this.#limits.perShare) return this.#lose(share, (other) => other !== entry && supersedes(other));
    if (this.#size > this.#limits.total) return this.#lose(this.#longest(), () => false);
    return undefined;
  }

  /** @returns whether it waited */
  remove(share: string, entry: E): boolean {
    const queue = this.#shares.get(share);
    if (queue?.delete(entry) !== true) return false;
    this.#size--;
    if (queue.size === 0) this.#shares.delete(share);
    return true;
  }

  /** The next entry of the first share that may take a turn. */
  take(mayTake: (share: string) => boolean = () => true): E | undefined {
    for (const [share, queue] of this.#shares) {
      if (!mayTake(share)) continue;
      this.#shares.delete(share);
      for (const entry of queue) {
        queue.delete(entry);
        this.#size--;
        if (queue.size > 0) this.#shares.set(share, queue);
        return entry;
      }
    }
    return undefined;
  }

  clear(): void {
    this.#shares.clear();
    this.#size = 0;
  }

  #lose(share: string, first: (entry: E) => boolean): E | undefined {
    const queue = this.#shares.get(share);
    if (queue === undefined) return undefined;
    let lost: E | undefined;
    for (const entry of queue) {
      lost ??= entry;
      if (!first(entry)) continue;
      lost = entry;
      break;
    }
    if (lost !== undefined) this.remove(share, lost);
    return lost;
  }

  #longest(): string {
    let longest = '';
    let most = 0;
    for (const [share, { size }] of this.#shares)
      if (size > most) {
        longest = share;
        most = size;
      }
    return longest;
  }
}
