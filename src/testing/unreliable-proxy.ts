/**
 * An unreliable network between a client and a server: every chunk of bytes is late, connections break in the middle of a message, and some
 * fall silent without being closed. Bytes arrive in order and unchanged, as with TCP.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Unreliability {
  /** Longest delay of a chunk, in milliseconds. Default 15. */
  readonly delayMs?: number;
  /** Mean number of bytes before a connection breaks, in both directions together. Default 64 KiB. */
  readonly lifeBytes?: number;
  /** Each connection of so many that break falls silent instead of closing. Default 6. */
  readonly silentOneIn?: number;
}

export class UnreliableProxy {
  /** Number of broken connections, and of those that fell silent. */
  readonly broken = { closed: 0, silent: 0 };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #delayMs: number;
  readonly #lifeBytes: number;
  readonly #silentOneIn: number;
  readonly #random: () => number;
  #steady = false;

  private constructor(target: () => Socket, { delayMs = 15, lifeBytes = 65_536, silentOneIn = 6 }: Unreliability, random: () => number) {
    this.#delayMs = delayMs;
    this.#lifeBytes = lifeBytes;
    this.#silentOneIn = silentOneIn;
    this.#random = random;
    this.#server = createServer((client) => this.#join(client, target()));
  }

  /** @param upstream `unix:/path` or `tcp:host:port` @param random a number in [0, 1) */
  static async start(upstream: string, unsteadiness: Unreliability, random: () => number): Promise<UnreliableProxy> {
    const [, host = '', port = ''] = /^tcp:(.+):(\d+)$/.exec(upstream) ?? [];
    const target = (): Socket => (port === '' ? connect(upstream.slice('unix:'.length)) : connect(Number(port), host));
    const proxy = new UnreliableProxy(target, unsteadiness, random);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `tcp:127.0.0.1:port` */
  get endpoint(): string {
    return `tcp:127.0.0.1:${this.port}`;
  }

  /** From now on everything passes without delay, on new connections: open ones are closed. */
  calm(): void {
    this.#steady = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket): void {
    // The range is wide: some connections break in their first message.
    const life = { bytes: -Math.log(1 - this.#random()) * this.#lifeBytes, silent: false };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      let order = Promise.resolve();
      from.on('data', (piece) => {
        order = order.then(() => this.#pass(piece, from, to, life));
      });
      from.on('error', () => from.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        void order.then(() => (life.silent ? undefined : to.end()));
      });
    }
  }

  async #pass(piece: Buffer, from: Socket, to: Socket, life: { bytes: number; silent: boolean }): Promise<void> {
    if (this.#steady) {
      to.write(piece);
      return;
    }
    if (life.silent) return;
    await sleep(this.#random() * this.#delayMs);
    life.bytes -= piece.length;
    if (life.bytes > 0) {
      to.write(piece);
      return;
    }
    const whole = Math.max(0, Math.floor(piece.length + life.bytes));
    if (whole > 0) to.write(piece.subarray(0, whole));
    // Counted, not drawn: what is drawn depends on the time, and a test must not.
    if ((this.broken.silent + this.broken.closed + 1) % this.#silentOneIn === 0) {
      life.silent = true;
      this.broken.silent++;
      return;
    }
    this.broken.closed++;
    from.destroy();
    to.destroySoon();
  }
}
