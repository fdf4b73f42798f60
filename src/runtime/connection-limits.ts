/**
 * What clients without a proven identity may hold of a server's connections. A cap, and a rate for each address. At the cap a new connection
 * takes the place of an old one: of those that were never answered the oldest of the address that has most of them; where there are none, of those
 * that were answered likewise; never of a client that has proven what it is. So a client that holds connections loses them, and one that asks
 * and goes, or comes back, is served.
 */
import type { Server, Socket } from 'node:net';
import { RateByAddress } from './rate-by-address.ts';

export interface ConnectionLimits {
  /** Most connections at one time. */
  readonly connections: number;
  /** New connections a second from one address, in the long run; twice as many at once. */
  readonly perSecond: number;
}

/** `silent`: it was answered nothing yet. */
type State = 'silent' | 'answered' | 'proven';

interface Held {
  readonly socket: Socket;
  readonly address: string;
  state: State;
}

export class HeldConnections {
  readonly #limits: ConnectionLimits;
  readonly #rate: RateByAddress;
  /** By address and port; the one that was made or answered last is last. */
  readonly #held = new Map<string, Held>();
  readonly #now: () => number;
  readonly #closed: (why: 'rate' | 'room') => void;

  /**
   * @param server of which no connection is open yet
   * @param closed told of each connection that was closed: its address made too many in a short time, or another one needed the room
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
    // Before TLS is spoken: a handshake costs a hundred times as much as the connection.
    server.prependListener('connection', (socket: Socket) => this.#take(socket));
  }

  get open(): number {
    return this.#held.size;
  }

  /** The client of this connection was answered what it asked. */
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
    // It has gone already.
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

  /** The client of this connection has proven what it is: no other one takes its place. */
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

  /** The oldest of the address that has most in this state. */
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

/** The same of a connection and of the TLS that is spoken over it. */
function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
