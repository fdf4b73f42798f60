import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Daemon } from '../programs/daemon.ts';
import type { NetworkNamespace } from './namespace.ts';
import { relay } from './relay.ts';

const SCRIPT = join(import.meta.dirname, 'loopback-listener.mjs');

/**
 * Makes a port of the host's loopback interface reachable at the same address within a namespace: a Unix socket leads from one to the other. So a
 * program in a node uses the kubeconfig of the laboratory as it is.
 */
export class LoopbackForward implements AsyncDisposable {
  readonly #server: Server;
  readonly #daemon: Daemon;

  private constructor(server: Server, daemon: Daemon) {
    this.#server = server;
    this.#daemon = daemon;
  }

  /** @param directory for the socket and the log */
  static async start(namespace: NetworkNamespace, port: number, directory: string): Promise<LoopbackForward> {
    const socket = join(directory, `${port}.sock`);
    const server = createServer((inner) => relay(inner, connect(port, '127.0.0.1')));
    await new Promise<void>((listening, failed) => {
      server.once('error', failed);
      server.listen(socket, listening);
    });
    const daemon = new Daemon({
      name: `listener of port ${port} in ${namespace.name}`,
      command: namespace.command(process.execPath, SCRIPT, String(port), socket),
      log: join(directory, `${port}.log`),
    });
    daemon.start();
    return new LoopbackForward(server, daemon);
  }

  async stop(): Promise<void> {
    await this.#daemon.stop();
    await new Promise((closed) => this.#server.close(closed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
