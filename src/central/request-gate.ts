/**
 * Which requests a client of a database may make. The server would convert a database to another schema for whoever asks, and give the lock of
 * ovn-northd to whoever steals it: with a node's key neither is possible.
 */

/** What programs of OVN ask of a database (RFC 7047 and ovsdb-server(7)). */
const COMMON = [
  ...['echo', 'list_dbs', 'get_schema', 'get_server_id', 'set_db_change_aware', 'transact', 'cancel'],
  ...['monitor', 'monitor_cond', 'monitor_cond_since', 'monitor_cond_change', 'monitor_cancel'],
];
export const REQUESTS_OF_NODES: ReadonlySet<string> = new Set(COMMON);
export const REQUESTS_OF_CENTRAL: ReadonlySet<string> = new Set([...COMMON, 'lock', 'steal', 'unlock']);

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const WHITESPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** Longer than the name of any member of a message, and of any method. */
const LONGEST_NAME = 64;

/**
 * Reads what a client sends, one JSON object after the other, and keeps nothing of it but the names in the outermost one. A server acts on a whole
 * message only, so what was passed on of one whose method turns out to be refused has no effect.
 */
export class RequestGate {
  readonly #allowed: ReadonlySet<string>;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #isKey = false;
  #key = '';
  /** The text of the string being read, if it is a name or a method. */
  #text: string | undefined;

  constructor(allowed: ReadonlySet<string>) {
    this.#allowed = allowed;
  }

  /** @throws Error if this chunk must not be passed on, nor anything after it */
  check(chunk: Buffer): void {
    for (const byte of chunk) {
      if (this.#inString) this.#readString(byte);
      else if (this.#depth === 0) this.#begin(byte);
      else if (byte === QUOTE) this.#beginString();
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--;
      else if (this.#depth === 1 && (byte === COLON || byte === COMMA)) this.#isKey = byte === COMMA;
    }
  }

  #begin(byte: number): void {
    if (byte === OPEN_BRACE) [this.#depth, this.#isKey, this.#key] = [1, true, ''];
    else if (!WHITESPACE.has(byte)) throw new Error('what it sends is no JSON-RPC');
  }

  #beginString(): void {
    this.#inString = true;
    this.#text = this.#depth === 1 && (this.#isKey || this.#key === 'method') ? '' : undefined;
  }

  #readString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === QUOTE) this.#endString();
    else if (byte === BACKSLASH) {
      // Another spelling of a name, which nobody needs.
      if (this.#text !== undefined) throw new Error('a name in its message is written with escapes');
      this.#escaped = true;
    } else if (this.#text !== undefined) {
      if (this.#text.length === LONGEST_NAME) throw new Error('a name in its message is too long');
      this.#text += String.fromCharCode(byte);
    }
  }

  #endString(): void {
    this.#inString = false;
    if (this.#text === undefined) return;
    if (this.#isKey) this.#key = this.#text;
    else if (!this.#allowed.has(this.#text)) throw new Error(`it may not ask for ${JSON.stringify(this.#text)}`);
  }
}
