const NEWLINE = 0x0a;

/**
 * Cuts a byte stream at newlines. Each byte is examined once, however the stream is chunked. Text is decoded
 * only when its line is complete, so a character split over two chunks stays whole.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #held = 0;

  /** @param maxBytes longest line accepted; above it `push` throws RangeError */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes, without their newline; blank lines are left out. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#complete(chunk, start, end);
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#held += chunk.length - start;
      if (this.#held > this.#maxBytes) throw new RangeError(`a line is longer than ${this.#maxBytes} bytes`);
      this.#pieces.push(start === 0 ? chunk : chunk.subarray(start));
    }
    return lines;
  }

  /** Bytes of an unfinished line. */
  get pendingBytes(): number {
    return this.#held;
  }

  #complete(chunk: Buffer, start: number, end: number): string {
    if (this.#held === 0) return chunk.toString('utf8', start, end).trim();
    this.#pieces.push(chunk.subarray(start, end));
    const line = Buffer.concat(this.#pieces).toString('utf8').trim();
    this.#pieces = [];
    this.#held = 0;
    return line;
  }
}
