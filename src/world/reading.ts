/**
 * What one run of a computation reads. Most read what they read the last time, in the same order: then nothing of the graph changes, and
 * nothing is kept of the run.
 */
import type { Reader, Source } from './reactor.ts';

/** Up to here a list is searched rather than a set kept: computations are very many, and a set costs 200 bytes and more. */
const FEW_SOURCES = 40;

export class Reading {
  /** Something that was read has changed since. */
  outdated = false;
  readonly #reader: Reader;
  /** What the last run read. */
  readonly #last: readonly Source[];
  /** How many of these were read again, in their order, before anything else was. */
  #again = 0;
  /** All that was read, once it is not what the last run read. */
  #sources: Source[] | undefined;
  /** The same as a set, once searching the list would cost. */
  #seen: Set<Source> | undefined;

  constructor(reader: Reader, last: readonly Source[]) {
    this.#reader = reader;
    this.#last = last;
    // Each is searched for among those that were read before it.
    if (last.length > FEW_SOURCES) this.#sources = [];
  }

  take(source: Source): void {
    if (this.#sources === undefined && this.#last[this.#again] === source) {
      this.#again++;
      return;
    }
    if (this.has(source)) return;
    this.#sources ??= this.#last.slice(0, this.#again);
    source.addReader(this.#reader);
    this.#sources.push(source);
    if (this.#seen !== undefined) this.#seen.add(source);
    else if (this.#sources.length > FEW_SOURCES) this.#seen = new Set(this.#sources);
  }

  has(source: Source): boolean {
    if (this.#seen !== undefined) return this.#seen.has(source);
    if (this.#sources !== undefined) return this.#sources.includes(source);
    for (let i = 0; i < this.#again; i++) if (this.#last[i] === source) return true;
    return false;
  }

  /** All that was read, in a list of exact length: that of the last run where it is the same. */
  get sources(): readonly Source[] {
    if (this.#sources !== undefined) return this.#sources.slice();
    return this.#again === this.#last.length ? this.#last : this.#last.slice(0, this.#again);
  }

  /** Leaves what the last run read and this one did not. */
  leaveOthers(): void {
    for (let i = this.#again; i < this.#last.length; i++) {
      const source = this.#last[i] as Source;
      if (!this.has(source)) source.removeReader(this.#reader);
    }
  }
}
