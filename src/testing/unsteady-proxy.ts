/**
 * A network as nobody wants it, between a client and a server: every piece of bytes comes late, connections break in the middle of a
 * message, and some fall silent without being closed. What arrives arrives in order and unchanged, as TCP promises.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Unsteadiness {
  /** The most a piece is late, in milliseconds. Default 15. */
  readonly delayMs?: number;
  /** Bytes that a connection lives for in the mean, in both directions together. Default 64 KiB. */
  readonly lifeBytes?: number;
  /** Of the connections that end, how many fall silent instead of closing: one in so many. Default 6. */
  readonly silentOneIn?: number;
}

export class UnsteadyProxy {
  /** How many connections it broke, and how many of those by silence. */
  readonly broken = { closed: 0, silent: 0 };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #delayMs: number;
  readonly #lifeBytes: number;
  readonly #silentOneIn: number;
  readonly #random: () => number;
  #steady = false;

  private constructor(target: () => Socket, { delayMs = 15, lifeBytes = 65_536, silentOneIn = 6 }: Unsteadiness, random: () => number) {
    this.#delayMs = delayMs;
    this.#lifeBytes = lifeBytes;
    this.#silentOneIn = silentOneIn;
    this.#random = random;
    this.#server = createServer((client) => this.#join(client, target()));
  }

  /** @param upstream `unix:/path` or `tcp:host:port`. @param random chance, from 0 to below 1 */
  static async start(upstream: string, unsteadiness: Unsteadiness, random: () => number): Promise<UnsteadyProxy> {
    const [, host = '', port = ''] = /^tcp:(.+):(\d+)$/.exec(upstream) ?? [];
    const target = (): Socket => (port === '' ? connect(upstream.slice('unix:'.length)) : connect(Number(port), host));
    const proxy = new UnsteadyProxy(target, unsteadiness, random);
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

  /** From now on everything passes at once, on new connections: those that are open end. */
  calm(): void {
    this.#steady = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket): void {
    // Lives are spread widely: some connections break in their first message.
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
    if (Math.floor(this.#random() * this.#silentOneIn) === 0) {
      life.silent = true;
      this.broken.silent++;
      return;
    }
    this.broken.closed++;
    from.destroy();
    to.destroySoon();
  }
}
