/**
 * Listeners of an event. If one throws, the others are called all the same, and its error surfaces as an uncaught exception: the bug is
 * the listener's, not the session's.
 */
export class ListenerSet<T> {
  readonly #listeners = new Set<(value: T) => void>();

  add(listener: (value: T) => void): () => void {
    const own = (value: T): void => listener(value);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  call(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (thrown) {
        queueMicrotask(() => {
          throw thrown;
        });
      }
    }
  }
}
