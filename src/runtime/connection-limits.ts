/**
 * Limits the connections of clients without a proven identity: a maximum in all, and a rate for each address. At the maximum a new
 * connection replaces an old one: the oldest unanswered connection of the address with most of those; if there is none, likewise among the
 * answered ones; never one of a proven client. So a client that keeps connections open loses them, and short requests are served.
 */
import type { Server, Socket } from 'node:net';
import { RateByAddress } from './rate-by-address.ts';

export interface ConnectionLimits {
  /** Most connections at one time. */
  readonly connections: number;
  /** New connections a second from one address, in the long run; twice as many at once. */
  readonly perSecond: number;
}

/** `silent`: not answered yet. */
type State = 'silent' | 'answered' | 'proven';

interface Held {
  readonly socket: Socket;
  readonly address: string;
  state: State;
}

export class ConnectionLimiter {
  readonly #limits: ConnectionLimits;
  readonly #rate: RateByAddress;
  /** By address and port, in the order of the last answer or of the opening. */
  readonly #held = new Map<string, Held>();
  readonly #now: () => number;
  readonly #closed: (why: 'rate' | 'room') => void;

  /**
   * @param server that has no open connection yet
   * @param closed called for each connection that was closed: `rate`, its address opened too many; `room`, a new one replaced it
   * @param now monotonic milliseconds
   */
  constructor(
    server: Server,
    limits: ConnectionLimits,
    closed: (why: 'rate' | 'room') => void = () => undefined,
    now: () => number = () => performance.now(),
  ) {
    this.#closed = closed;
    this.#limits = limits;
    this.#now = now;
    this.#rate = new RateByAddress({ perSecond: limits.perSecond, burst: 2 * limits.perSecond });
    // Before the TLS handshake, which costs a hundred times as much as the connection.
    server.prependListener('connection', (socket: Socket) => this.#take(socket));
  }

  get open(): number {
    return this.#held.size;
  }

  /** The server answered a request of this connection. */
  answered(socket: Socket): void {
    const key = keyOf(socket);
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (held.state === 'silent') held.state = 'answered';
    this.#held.delete(key);
    this.#held.set(key, held);
  }

  #take(socket: Socket): void {
    const address = socket.remoteAddress;
    // The client has closed it already.
    if (address === undefined) return void socket.destroy();
    if (!this.#rate.take(address, 1, this.#now())) {
      this.#closed('rate');
      return void socket.destroy();
    }
    if (this.#held.size >= this.#limits.connections) this.#makeRoom();
    const key = keyOf(socket);
    this.#held.set(key, { socket, address, state: 'silent' });
    socket.once('close', () => this.#forget(key, socket));
  }

  /** The client of this connection has proven its identity: the connection is never replaced. */
  proven(socket: Socket): void {
    const held = this.#held.get(keyOf(socket));
    if (held !== undefined) held.state = 'proven';
  }

  #makeRoom(): void {
    const victim = this.#firstOfMost('silent') ?? this.#firstOfMost('answered');
    if (victim === undefined) return;
    const [key, { socket }] = victim;
    this.#closed('room');
    this.#forget(key, socket);
    socket.destroy();
  }

  /** The oldest connection of the address with most connections in this state. */
  #firstOfMost(state: State): readonly [string, Held] | undefined {
    const first = new Map<string, { readonly one: readonly [string, Held]; count: number }>();
    for (const one of this.#held) {
      const [, { address, state: its }] = one;
      if (its !== state) continue;
      const known = first.get(address);
      if (known === undefined) first.set(address, { one, count: 1 });
      else known.count++;
    }
    let most: { readonly one: readonly [string, Held]; readonly count: number } | undefined;
    for (const of of first.values()) if (of.count > (most?.count ?? 0)) most = of;
    return most?.one;
  }

  #forget(key: string, socket: Socket): void {
    // A later connection may have the same address and port.
    if (this.#held.get(key)?.socket === socket) this.#held.delete(key);
  }
}

/** The same key for a TCP connection and the TLS connection over it. */
function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
