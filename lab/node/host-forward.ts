import { existsSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Daemon } from '../programs/daemon.ts';
import type { NetworkNamespace } from './namespace.ts';
import { relay } from './relay.ts';

const SCRIPT = join(import.meta.dirname, 'loopback-exit.mjs');

/** Makes a port of a namespace's loopback interface reachable at the same address of the host: the opposite of `LoopbackForward`. */
export class HostForward implements AsyncDisposable {
  readonly #server: Server;
  readonly #daemon: Daemon;

  private constructor(server: Server, daemon: Daemon) {
    this.#server = server;
    this.#daemon = daemon;
  }

  /**
   * @param directory for the socket and the log
   * @throws Error if the port of the host is in use
   */
  static async start(namespace: NetworkNamespace, port: number, directory: string): Promise<HostForward> {
    const socket = join(directory, `${port}.sock`);
    const daemon = new Daemon({
      name: `exit to port ${port} in ${namespace.name}`,
      command: namespace.command(process.execPath, SCRIPT, socket, String(port)),
      log: join(directory, `${port}.log`),
    });
    daemon.start();
    await daemon.waitUntil(() => existsSync(socket));
    const server = createServer((outer) => relay(outer, connect(socket)));
    await new Promise<void>((listening, failed) => {
      server.once('error', failed);
      server.listen(port, '127.0.0.1', listening);
    });
    return new HostForward(server, daemon);
  }

  async stop(): Promise<void> {
    // With it, all connections end.
    await this.#daemon.stop();
    await new Promise((closed) => this.#server.close(closed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
