/**
 * The sources that one run of a computation reads. Most runs read the same sources as the last one, in the same order: then the graph stays
 * as it is, and this object keeps no list of its own.
 */
import type { Reader, Source } from './source.ts';

/** Up to this size a list takes less memory than a set, which costs 200 bytes and more. There are very many computations. */
const FEW_SOURCES = 40;

export class Reading {
  /** A source that this run has read has changed since. */
  outdated = false;
  readonly #reader: Reader;
  /** The sources of the last run. */
  readonly #last: readonly Source[];
  /** Length of the prefix of `#last` that this run has read again, in the same order. */
  #again = 0;
  /** The sources of this run, from the first one that differs from the last run. */
  #sources: Source[] | undefined;
  /** `#sources` as a set, once that is long. */
  #seen: Set<Source> | undefined;

  constructor(reader: Reader, last: readonly Source[]) {
    this.#reader = reader;
    this.#last = last;
    // A long list needs the set: each source is searched for among the ones before it.
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

  /** All sources of this run, in a list of exact length: the list of the last run if they are the same. */
  get sources(): readonly Source[] {
    if (this.#sources !== undefined) return this.#sources.slice();
    return this.#again === this.#last.length ? this.#last : this.#last.slice(0, this.#again);
  }

  /** Removes the reader from sources that only the last run read. */
  removeFromUnread(): void {
    for (let i = this.#again; i < this.#last.length; i++) {
      const source = this.#last[i] as Source;
      if (!this.has(source)) source.removeReader(this.#reader);
    }
  }
}
