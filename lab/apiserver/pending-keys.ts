import type { Environment } from './environment.ts';

/** Keys that something happened to: each is looked at once, after what is under way. */
export class PendingKeys {
  readonly #environment: Environment;
  readonly #look: (key: string) => void;
  readonly #keys = new Set<string>();

  constructor(environment: Environment, look: (key: string) => void) {
    this.#environment = environment;
    this.#look = look;
  }

  add(key: string): void {
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#environment.schedule(() => {
      this.#keys.delete(key);
      this.#look(key);
    });
  }
}
