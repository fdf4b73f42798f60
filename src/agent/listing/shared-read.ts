/** One reading for all who ask at about the same time: each gets what was read after its call. */
export class SharedRead<T> {
  readonly #read: () => Promise<T>;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** @throws what the reading throws */
  async read(): Promise<T> {
    return await (this.#next ??= this.#after(this.#current));
  }

  async #after(current: Promise<unknown>): Promise<T> {
    // One that has begun may have missed what the caller wants to see.
    await current.catch(() => undefined);
    this.#next = undefined;
    const reading = this.#read();
    this.#current = reading;
    return await reading;
  }
}
