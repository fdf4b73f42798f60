/**
 * Functions to call. One that throws has a bug that is not the session's: the others are called all the same, and the error
 * surfaces as any uncaught one does.
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
