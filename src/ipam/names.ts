/** Interned texts: each text is stored once and has a number. */

import { none } from './none.ts';

export class Names {
  readonly #ids = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #vacant: number[] = [];

  /** The number of a text, or -1. */
  find(text: string): number {
    return this.#ids.get(text) ?? none;
  }

  /** Adds a new text and returns its number, which is valid until `remove`. */
  add(text: string): number {
    const id = this.#vacant.pop() ?? this.#texts.length;
    this.#ids.set(text, id);
    this.#texts[id] = text;
    return id;
  }

  text(id: number): string {
    return this.#texts[id] as string;
  }

  remove(id: number): void {
    this.#ids.delete(this.#texts[id] as string);
    this.#texts[id] = '';
    this.#vacant.push(id);
  }
}
