/**
 * What clients without a proven identity may hold of a server's connections. A cap, and a rate for each address. At the cap a new connection
 * takes the place of an old one: first of the address that holds most, of these first one that was never answered, and of these the oldest. So
 * a client that holds connections loses them, and one that asks and goes, or comes back, is served.
 */
import type { Server, Socket } from 'node:net';
import { RateByAddress } from './rate-by-address.ts';

export interface ConnectionLimits {
  /** Most connections at one time. */
  readonly connections: number;
  /** New connections a second from one address, in the long run; twice as many at once. */
  readonly perSecond: number;
}

interface Held {
  readonly socket: Socket;
  readonly address: string;
  answered: boolean;
}

export class HeldConnections {
  readonly #limits: ConnectionLimits;
  readonly #rate: RateByAddress;
  /** By address and port; the one that was made or answered last is last. */
  readonly #held = new Map<string, Held>();
  readonly #counts = new Map<string, number>();
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
    held.answered = true;
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
    this.#held.set(key, { socket, address, answered: false });
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1);
    socket.once('close', () => this.#forget(key, socket));
  }

  #makeRoom(): void {
    let [most, count] = ['', 0];
    for (const [address, held] of this.#counts) if (held > count) [most, count] = [address, held];
    let victim: [string, Held] | undefined;
    for (const one of this.#held) {
      if (one[1].address !== most) continue;
      victim ??= one;
      if (one[1].answered) continue;
      victim = one;
      break;
    }
    if (victim === undefined) return;
    const [key, { socket }] = victim;
    this.#closed('room');
    this.#forget(key, socket);
    socket.destroy();
  }

  #forget(key: string, socket: Socket): void {
    const held = this.#held.get(key);
    // A later connection may have the same address and port.
    if (held?.socket !== socket) return;
    this.#held.delete(key);
    const left = (this.#counts.get(held.address) ?? 1) - 1;
    if (left === 0) this.#counts.delete(held.address);
    else this.#counts.set(held.address, left);
  }
}

/** The same of a connection and of the TLS that is spoken over it. */
function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
