import { parseJson } from '../json.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const METADATA = '"metadata":{';
/** The metadata of an item begins within so many bytes, after its apiVersion and kind. */
const NEAR = 512;

/** The list without its items, white space included. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** The largest object an API server stores is some 3 MB. */
const MAX_ITEM_BYTES = 16 * 1024 * 1024;

/**
 * Parses a list of the API server while it arrives: neither its text nor its whole object graph is ever in memory, and the event loop is
 * blocked for at most one chunk. The items are the only array of the outermost object; the rest is its frame.
 *
 * Every byte is examined, unless all items begin alike, as servers write them: then all whole items of a chunk are parsed at once, in a
 * third of the time.
 */
export class ListReader {
  #frame = '';
  #pieces: Buffer[] = [];
  #piecesSize = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Whether the position is in the array of items, not in an object beside it. */
  #inItems = false;
  /** The bytes between two items; undefined before the first item, empty if the items do not begin alike. */
  #between: Buffer | undefined;
  readonly #unread: Buffer | undefined;

  /** @param unread name of an array in the items that the caller does not read: it is left out where that saves work */
  constructor(unread?: string) {
    this.#unread = unread === undefined ? undefined : Buffer.from(`,"${unread}":[`);
  }

  /** The items that this chunk completes. @throws SyntaxError; RangeError if an item or the frame is too large */
  push(chunk: Buffer): unknown[] {
    const items: unknown[] = [];
    /** Start of the bytes that were not handed over yet. */
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#depth === 2 && byte === OPEN_BRACE && this.#inItems) {
          this.#frame += chunk.toString('latin1', from, at);
          from = at;
          const last = this.#takeWhole(chunk, at, items);
          if (last !== undefined) {
            at = last;
            from = last + 1;
            continue;
          }
        }
        if (this.#depth === 1) this.#inItems = byte === OPEN_BRACKET;
        this.#depth++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#depth === 2 && this.#inItems) {
          items.push(this.#item(chunk.subarray(from, at + 1)));
          from = at + 1;
        }
      } else if (byte === COMMA && this.#depth === 2 && this.#inItems) from = at + 1;
    }
    const rest = chunk.subarray(from);
    if (this.#depth > 2 && this.#inItems) {
      this.#pieces.push(rest);
      this.#piecesSize += rest.length;
      if (this.#piecesSize > MAX_ITEM_BYTES) throw new RangeError(`an item of the list has more than ${MAX_ITEM_BYTES} bytes`);
    } else this.#frame += rest.toString('latin1');
    if (this.#frame.length > MAX_FRAME_BYTES) throw new RangeError(`the list has more than ${MAX_FRAME_BYTES} bytes outside of its items`);
    return items;
  }

  /** The list without its items. @throws SyntaxError if it is not complete */
  end(): unknown {
    return parseJson(Buffer.from(this.#frame, 'latin1').toString('utf8'));
  }

  /**
   * Takes the items from this one to the last that certainly ends in the chunk. An apparent end may be inside of an item: then the text
   * before it has open brackets and is not JSON.
   * @returns the end of the last one; undefined if none was taken
   */
  #takeWhole(chunk: Buffer, at: number, items: unknown[]): number | undefined {
    this.#between ??= betweenItems(chunk, at);
    const last = this.#between.length === 0 ? -1 : chunk.lastIndexOf(this.#between);
    if (last <= at) return undefined;
    const whole = chunk.subarray(at, last + 1);
    try {
      const bytes = this.#unread === undefined ? whole : without(this.#unread, whole);
      for (const item of parseJson(`[${bytes.toString('utf8')}]`) as unknown[]) items.push(item);
      return last;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #item(last: Buffer): unknown {
    const bytes = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#piecesSize = 0;
    return parseJson(bytes.toString('utf8'));
  }
}

/** The bytes from the end of one item to the beginning of the next, which begins like the one at `at`. */
function betweenItems(chunk: Buffer, at: number): Buffer {
  const metadata = chunk.subarray(at, at + NEAR).indexOf(METADATA);
  return metadata < 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from('},'), chunk.subarray(at, at + metadata + METADATA.length)]);
}

/** @param name a comma, a name and the beginning of an array; a string cannot contain them, since its quotes are escaped */
function without(name: Buffer, items: Buffer): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  for (let at = items.indexOf(name); at >= 0; at = items.indexOf(name, from)) {
    kept.push(items.subarray(from, at));
    from = endOfArray(items, at + name.length);
  }
  return kept.length === 0 ? items : Buffer.concat([...kept, items.subarray(from)]);
}

/** @param at a position in an array, outside of strings @returns the end of the array */
function endOfArray(bytes: Buffer, at: number): number {
  for (let depth = 1; depth > 0 && at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return at;
}
