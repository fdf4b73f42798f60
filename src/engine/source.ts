/** What a computation can read: each source knows its readers, and notifies them when it changes. */

/** A computation as its sources and the reactor see it. */
export interface Reader {
  readonly height: number;
  /** A source that it reads, or read in an earlier run, has changed. */
  invalidate(source: Source): void;
  refresh(): void;
}

/** Up to this size a list takes less memory than a set, which costs 200 bytes and more. There are millions of sources. */
const FEW_READERS = 8;

function isList(readers: unknown): readers is readonly Reader[] {
  return Array.isArray(readers);
}

/**
 * Anything that a computation can read and that can change. The owner of the value calls `Reactor.track` for each read and `Reactor.touch`
 * after each change. A source does not know its value: `touch` invalidates the readers even if the new value equals the old one.
 *
 * Cost: about 40 bytes. Memory decides here, so the readers are one reader, a list of exact length (a growing array reserves room for
 * sixteen more), or a set.
 */
export class Source {
  #readers: Reader | readonly Reader[] | ReadonlySet<Reader> | undefined;

  get height(): number {
    return 0;
  }

  get isRead(): boolean {
    return this.#readers !== undefined;
  }

  addReader(reader: Reader): void {
    const readers = this.#readers;
    if (readers === undefined) this.#readers = reader;
    else if (readers instanceof Set) readers.add(reader);
    else if (!isList(readers)) this.#readers = readers === reader ? reader : [readers as Reader, reader];
    else if (!readers.includes(reader)) this.#readers = readers.length < FEW_READERS ? [...readers, reader] : new Set([...readers, reader]);
  }

  removeReader(reader: Reader): void {
    const readers = this.#readers;
    if (readers instanceof Set) {
      readers.delete(reader);
      if (readers.size > 0) return;
    } else if (isList(readers)) {
      if (!readers.includes(reader)) return;
      const left = readers.filter((one) => one !== reader);
      this.#readers = left.length > 1 ? left : left[0];
      return;
    } else if (readers !== reader) return;
    this.#readers = undefined;
    this.onUnread();
  }

  invalidateReaders(): void {
    const readers = this.#readers;
    if (readers instanceof Set || isList(readers)) for (const reader of readers) (reader as Reader).invalidate(this);
    else (readers as Reader | undefined)?.invalidate(this);
  }

  /** The last reader has left: the owner of the source may drop it. */
  protected onUnread(): void {}
}

/** Sources by key, of one height. */
export class SourceMap extends Map<string, Source> {
  height = 0;
}

/** A source that stays in a map as long as it has a reader. */
export class KeyedSource extends Source {
  readonly #home: SourceMap;
  readonly #key: string;

  constructor(home: SourceMap, key: string) {
    super();
    this.#home = home;
    this.#key = key;
    home.set(key, this);
  }

  override get height(): number {
    return this.#home.height;
  }

  protected override onUnread(): void {
    if (this.#home.get(this.#key) === this) this.#home.delete(this.#key);
  }
}
