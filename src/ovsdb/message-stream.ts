import { OvsdbError } from './errors.ts';

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Finds the messages in a stream of JSON objects that has no framing (RFC 7047 section 4).
 *
 * Each byte is looked at once, however the stream is cut into chunks: nesting, strings and escapes are carried over. Working on
 * bytes makes a cut inside a UTF-8 sequence harmless, since every byte of one is above all that is looked for. Brackets of both
 * kinds are counted together; `JSON.parse` of the whole message then says whether they match.
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

  /** @param maxBytes the largest message taken */
  constructor(maxBytes: number, onMessage: (message: unknown) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
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
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
      } else if (byte === openBrace || byte === openBracket) {
        if (depth === 0 && byte === openBracket) throw brokenAt(byte);
        depth++;
      } else if (depth === 0) {
        if (!isWhitespace(byte)) throw brokenAt(byte);
        start = at + 1;
      } else if (byte === quote) {
        inString = true;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth--;
        if (depth === 0) {
          this.#emit(chunk.subarray(start, at + 1));
          if (this.#ended) return;
          start = at + 1;
        }
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** No further message is delivered, also of a chunk that is being read. */
  end(): void {
    this.#ended = true;
    this.#parts = [];
  }

  #keep(part: Buffer): void {
    this.#partsSize += part.length;
    if (this.#partsSize > this.#maxBytes) {
      throw new OvsdbError('OVSDB_MESSAGE_TOO_LARGE', `the server sent a message of more than ${this.#maxBytes} bytes`);
    }
    this.#parts.push(part);
  }

  #emit(lastPart: Buffer): void {
    this.#keep(lastPart);
    const bytes = this.#parts.length === 1 ? lastPart : Buffer.concat(this.#parts, this.#partsSize);
    this.#parts = [];
    this.#partsSize = 0;
    let message: unknown;
    try {
      message = JSON.parse(this.#decoder.decode(bytes));
    } catch (cause) {
      throw new OvsdbError('OVSDB_BROKEN_STREAM', 'the server sent a message that is not JSON in UTF-8', { cause });
    }
    this.#onMessage(message);
  }
}

function isWhitespace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function brokenAt(byte: number): OvsdbError {
  return new OvsdbError('OVSDB_BROKEN_STREAM', `the server sent byte 0x${byte.toString(16)} where a message has to begin`);
}
