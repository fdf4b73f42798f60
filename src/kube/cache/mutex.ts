/** A lock with one owner at a time, granted in the order of the calls. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when every earlier owner has released it. @returns releases it; further calls change nothing */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}
