import { OvsdbError } from './errors.ts';

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const colon = 0x3a;
const comma = 0x2c;

/** The rows of one table as they come: UUID, update, UUID, update, and so on. */
export type TakeRows = (table: string, uuidsAndUpdates: readonly unknown[]) => void;

/**
 * Finds the messages in a stream of JSON objects that has no framing (RFC 7047 section 4).
 *
 * Each byte is examined once, however the stream is cut into chunks: nesting, strings and escapes are carried over. Working on
 * bytes makes a cut inside a UTF-8 sequence harmless, since every byte of one is above all that is looked for. Brackets of both
 * kinds are counted together; `JSON.parse` of the whole message then checks whether they match.
 */
export class MessageStream {
  readonly #maxBytes: number;
  readonly #onMessage: (message: unknown) => void;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #parts: Buffer[] = [];
  #partsSize = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #ended = false;
  #rowsAt: number | undefined;
  #takeRows: TakeRows = () => {};
  /** The bytes being read are inside a reply's result: its rows are handed over as they arrive. */
  #inResult = false;
  /** The table whose rows are being read, and the bytes of rows that were not handed over yet. */
  #table: string | undefined;
  #rows: Buffer[] = [];
  /** The bytes of this message that were handed over as rows. */
  #rowsSize = 0;

  /** @param maxBytes the largest message accepted */
  constructor(maxBytes: number, onMessage: (message: unknown) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /**
   * Rows in results are handed over while the rest of their message is on its way, and are left out of the message: neither its text
   * nor its graph is ever whole in memory.
   *
   * @param at the nesting of rows in a message: the braces and brackets that are open around `"<uuid>": <update>`; undefined to end it
   */
  expectRows(at: number | undefined, take: TakeRows = () => {}): void {
    this.#rowsAt = at;
    this.#takeRows = take;
  }

  /**
   * Calls `onMessage` for each message that ends in this chunk, in order.
   *
   * @throws {OvsdbError} OVSDB_BROKEN_STREAM or OVSDB_MESSAGE_TOO_LARGE; nothing more can be read from the stream then
   */
  push(chunk: Buffer): void {
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let start = 0;
    /** Where the last whole row ends in this chunk. */
    let whole = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
      } else if (byte === openBrace || byte === openBracket) {
        if (depth === 0 && byte === openBracket) throw brokenAt(byte);
        depth++;
        if (this.#rowsAt !== undefined) {
          if (depth === 2) this.#inResult = this.#keyBefore(chunk.subarray(start, at)) === 'result';
          else if (depth === this.#rowsAt && this.#inResult && byte === openBrace) {
            this.#table = this.#keyBefore(chunk.subarray(start, at));
            this.#keep(chunk.subarray(start, at + 1));
            start = whole = at + 1;
          }
        }
      } else if (depth === 0) {
        if (!isWhitespace(byte)) throw brokenAt(byte);
        start = at + 1;
      } else if (byte === quote) {
        inString = true;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth--;
        if (this.#table !== undefined && depth <= this.#rowsAt!) {
          if (depth === this.#rowsAt) whole = at + 1;
          else {
            this.#handOver(chunk.subarray(start, at), true);
            start = at;
          }
        }
        if (depth === 0) {
          this.#emit(chunk.subarray(start, at + 1));
          if (this.#ended) return;
          start = at + 1;
        }
      } else if (byte === colon && this.#table !== undefined && depth === this.#rowsAt) {
        // A list of UUIDs and updates is read faster than an object with as many keys, each of them new.
        chunk[at] = comma;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    if (this.#table === undefined) {
      if (start < chunk.length) this.#keep(chunk.subarray(start));
      return;
    }
    if (whole > start) {
      this.#handOver(chunk.subarray(start, whole), false);
      start = whole;
    }
    if (start < chunk.length) this.#keepRows(chunk.subarray(start));
  }

  /** Part of a message was received, and not its end. */
  get inMessage(): boolean {
    return this.#depth > 0;
  }

  /** Delivers no further message, not even of the chunk that is being read. */
  end(): void {
    this.#ended = true;
    this.#parts = [];
    this.#rows = [];
  }

  #keep(part: Buffer): void {
    this.#partsSize += part.length;
    this.#checkSize();
    this.#parts.push(part);
  }

  #keepRows(part: Buffer): void {
    this.#rowsSize += part.length;
    this.#checkSize();
    this.#rows.push(part);
  }

  #checkSize(): void {
    if (this.#partsSize + this.#rowsSize <= this.#maxBytes) return;
    throw new OvsdbError('OVSDB_MESSAGE_TOO_LARGE', `the server sent a message of more than ${this.#maxBytes} bytes`);
  }

  /** @param part the continuation of the message's text @returns the last key in it */
  #keyBefore(part: Buffer): string | undefined {
    // Latin-1 keeps the text's bytes apart; a table's name is an identifier (RFC 7047 section 3.1).
    const near: Buffer[] = [part];
    let size = part.length;
    for (let at = this.#parts.length - 1; at >= 0 && size < 256; at--) {
      const before = this.#parts[at]!;
      near.unshift(before);
      size += before.length;
    }
    const text = Buffer.concat(near).subarray(-256).toString('latin1');
    return /"(\w*)"\s*:\s*$/.exec(text)?.[1];
  }

  /** @param last whole rows, or the rest of one @param ends whether the table ends with them */
  #handOver(last: Buffer, ends: boolean): void {
    const table = this.#table!;
    this.#keepRows(last);
    const text = this.#decode(this.#rows).trim();
    this.#rows = [];
    if (ends) this.#table = undefined;
    if (text === '') return;
    const rows = this.#parse(`[${text.startsWith(',') ? text.slice(1) : text}]`) as unknown[];
    this.#takeRows(table, rows);
  }

  #decode(parts: readonly Buffer[]): string {
    try {
      return this.#decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    } catch (cause) {
      throw notJson(cause);
    }
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw notJson(cause);
    }
  }

  #emit(lastPart: Buffer): void {
    this.#keep(lastPart);
    const text = this.#decode(this.#parts);
    this.#parts = [];
    this.#partsSize = 0;
    this.#rowsSize = 0;
    this.#inResult = false;
    this.#onMessage(this.#parse(text));
  }
}

function isWhitespace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function notJson(cause: unknown): OvsdbError {
  return new OvsdbError('OVSDB_BROKEN_STREAM', 'the server sent a message that is not JSON in UTF-8', { cause });
}

function brokenAt(byte: number): OvsdbError {
  return new OvsdbError('OVSDB_BROKEN_STREAM', `the server sent byte 0x${byte.toString(16)} where a message has to begin`);
}
