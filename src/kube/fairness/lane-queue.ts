import { FairQueue } from './fair-queue.ts';

/** Lanes take turns, so that a burst in one does not delay the others; within a lane, shares take turns. */
export class LaneQueue<E> {
  /** In the order of their turns. */
  readonly #lanes = new Map<string, FairQueue<E>>();

  add(lane: string, share: string, entry: E): void {
    let queue = this.#lanes.get(lane);
    if (queue === undefined) this.#lanes.set(lane, (queue = new FairQueue()));
    queue.add(share, entry);
  }

  remove(lane: string, share: string, entry: E): void {
    const queue = this.#lanes.get(lane);
    if (queue?.remove(share, entry) === true && queue.size === 0) this.#lanes.delete(lane);
  }

  take(mayTake: (share: string) => boolean): E | undefined {
    for (const [lane, queue] of this.#lanes) {
      const entry = queue.take(mayTake);
      if (entry === undefined) continue;
      this.#lanes.delete(lane);
      if (queue.size > 0) this.#lanes.set(lane, queue);
      return entry;
    }
    return undefined;
  }
}
