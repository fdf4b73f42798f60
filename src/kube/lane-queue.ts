/** First in, first out within a lane; lanes take turns, so that a burst in one does not hold up the others. */
export class LaneQueue<E> {
  /** In the order of their turns. Sets keep order and remove in constant time. */
  readonly #lanes = new Map<string, Set<E>>();

  add(lane: string, entry: E): void {
    const queue = this.#lanes.get(lane);
    if (queue === undefined) this.#lanes.set(lane, new Set([entry]));
    else queue.add(entry);
  }

  remove(lane: string, entry: E): void {
    const queue = this.#lanes.get(lane);
    if (queue?.delete(entry) === true && queue.size === 0) this.#lanes.delete(lane);
  }

  take(): E | undefined {
    for (const [lane, queue] of this.#lanes) {
      this.#lanes.delete(lane);
      for (const entry of queue) {
        queue.delete(entry);
        if (queue.size > 0) this.#lanes.set(lane, queue);
        return entry;
      }
    }
    return undefined;
  }
}
