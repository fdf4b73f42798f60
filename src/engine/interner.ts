/** Equal values as one object. */

/**
 * Keeps one object of all equal ones, as long as anything holds it: 50,000 pods of a hundred Deployments hold a hundred label sets.
 *
 * Costs: one text and one weak reference for each different value. `text` must be the same for equal values only.
 */
export class Interner<T extends object> {
  readonly #known = new Map<string, WeakRef<T>>();
  readonly #ended = new FinalizationRegistry<string>((text) => {
    if (this.#known.get(text)?.deref() === undefined) this.#known.delete(text);
  });

  /** @returns the object of an equal value that came before, else `value` */
  intern(text: string, value: T): T {
    const known = this.#known.get(text)?.deref();
    if (known !== undefined) return known;
    this.#known.set(text, new WeakRef(value));
    this.#ended.register(value, text);
    return value;
  }
}
