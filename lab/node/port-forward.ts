import { existsSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Daemon } from '../programs/daemon.ts';
import type { NetworkNamespace } from './namespace.ts';
import { relay } from './relay.ts';

/**
 * Makes a port of one loopback interface reachable at the same address of another: of the host's in a namespace, so that a program in a node
 * uses the kubeconfig of the laboratory as it is, or the other way round. A Unix socket leads from one to the other.
 */
export class PortForward implements AsyncDisposable {
  readonly #server: Server;
  readonly #daemon: Daemon;

  private constructor(server: Server, daemon: Daemon) {
    this.#server = server;
    this.#daemon = daemon;
  }

  /**
   * A port of the host is reached from the namespace.
   * @param directory for the socket and the log
   */
  static async fromNamespace(namespace: NetworkNamespace, port: number, directory: string): Promise<PortForward> {
    const socket = join(directory, `${port}.sock`);
    const server = createServer((inner) => relay(inner, connect(port, '127.0.0.1')));
    await listening(server, () => server.listen(socket));
    const daemon = inside(namespace, port, directory, 'loopback-listener.mjs', String(port), socket);
    daemon.start();
    return new PortForward(server, daemon);
  }

  /**
   * A port of the namespace is reached from the host.
   * @param directory for the socket and the log
   * @throws Error if the port of the host is in use
   */
  static async fromHost(namespace: NetworkNamespace, port: number, directory: string): Promise<PortForward> {
    const socket = join(directory, `${port}.sock`);
    const daemon = inside(namespace, port, directory, 'loopback-exit.mjs', socket, String(port));
    daemon.start();
    await daemon.waitUntil(() => existsSync(socket));
    const server = createServer((outer) => relay(outer, connect(socket)));
    await listening(server, () => server.listen(port, '127.0.0.1'));
    return new PortForward(server, daemon);
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

function inside(namespace: NetworkNamespace, port: number, directory: string, script: string, ...args: readonly string[]): Daemon {
  return new Daemon({
    name: `forward of port ${port} in ${namespace.name}`,
    command: namespace.command(process.execPath, join(import.meta.dirname, script), ...args),
    log: join(directory, `${port}.log`),
  });
}

async function listening(server: Server, listen: () => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', resolve);
    listen();
  });
}
