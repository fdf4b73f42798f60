import { parseJson } from './json.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Reads a list of the API server item by item while it comes, so that neither its text nor its whole graph is ever in memory, and no
 * turn is longer than a chunk takes. The items are what is in the only array of the outermost object; all around them is its frame.
 */
export class ListReader {
  #frame = '';
  #pieces: Buffer[] = [];
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The array of items was opened last, rather than an object beside it. */
  #inItems = false;

  /** The items that this chunk completes. @throws SyntaxError */
  push(chunk: Buffer): unknown[] {
    const items: unknown[] = [];
    /** Where what is not handed on yet begins. */
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
    if (this.#depth > 2 && this.#inItems) this.#pieces.push(rest);
    else this.#frame += rest.toString('latin1');
    return items;
  }

  /** The list without its items. @throws SyntaxError where it is not complete */
  end(): unknown {
    return parseJson(Buffer.from(this.#frame, 'latin1').toString('utf8'));
  }

  #item(last: Buffer): unknown {
    const bytes = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    return parseJson(bytes.toString('utf8'));
  }
}
