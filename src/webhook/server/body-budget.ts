/**
 * A budget for the bytes of all request bodies that are being read, over all connections. When it is exceeded, Kiln closes one connection:
 * of the address with most bytes, the one whose body began first. An honest client sends its body within milliseconds.
 */
import type { IncomingMessage } from 'node:http';

interface HeldBody {
  readonly address: string;
  readonly giveUp: () => void;
  bytes: number;
}

export class BodyBudget {
  readonly #most: number;
  readonly #givenUp: () => void;
  /** Ordered by the beginning of the body. */
  readonly #bodies = new Set<HeldBody>();
  #held = 0;

  /**
   * @param most bytes
   * @param givenUp called for each body that was dropped
   */
  constructor(most: number, givenUp: () => void = () => undefined) {
    this.#most = most;
    this.#givenUp = givenUp;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /**
   * Reads a body to its end.
   * @param mostBytes of this body
   * @returns `too long`, or `gone`: the client closed the connection or the budget dropped its body, and no answer can be sent
   */
  async read(request: IncomingMessage, mostBytes: number): Promise<Buffer | 'too long' | 'gone'> {
    if (Number(request.headers['content-length'] ?? 0) > mostBytes) return 'too long';
    const body: HeldBody = { address: request.socket.remoteAddress ?? '', giveUp: () => request.destroy(), bytes: 0 };
    // One buffer that grows: a list of many small pieces would need many times their bytes.
    let text = Buffer.alloc(0);
    let size = 0;
    this.#bodies.add(body);
    try {
      for await (const piece of request as AsyncIterable<Buffer>) {
        if (size + piece.length > mostBytes) return 'too long';
        if (size + piece.length > text.length) {
          const room = Math.min(mostBytes, Math.max(size + piece.length, 2 * text.length, LEAST_BUFFER));
          if (!this.#grow(body, room)) return 'gone';
          const larger = Buffer.allocUnsafeSlow(room);
          text.copy(larger, 0, 0, size);
          text = larger;
        }
        piece.copy(text, size);
        size += piece.length;
      }
      return request.complete ? text.subarray(0, size) : 'gone';
    } catch {
      // The client closed the connection, or its time is over.
      return 'gone';
    } finally {
      this.#bodies.delete(body);
      this.#held -= body.bytes;
    }
  }

  /** @returns false if this body itself was dropped */
  #grow(body: HeldBody, bytes: number): boolean {
    this.#held += bytes - body.bytes;
    body.bytes = bytes;
    while (this.#held > this.#most) {
      const first = this.#firstOfTheGreatest();
      if (first === undefined) break;
      this.#bodies.delete(first);
      this.#held -= first.bytes;
      first.bytes = 0;
      this.#givenUp();
      first.giveUp();
      if (first === body) return false;
    }
    return true;
  }

  #firstOfTheGreatest(): HeldBody | undefined {
    const sums = new Map<string, number>();
    for (const { address, bytes } of this.#bodies) sums.set(address, (sums.get(address) ?? 0) + bytes);
    const most = Math.max(...sums.values());
    for (const body of this.#bodies) if (body.bytes > 0 && sums.get(body.address) === most) return body;
    return undefined;
  }
}

const LEAST_BUFFER = 4_096;
