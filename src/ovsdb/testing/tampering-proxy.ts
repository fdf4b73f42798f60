import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageStream } from '../message-stream.ts';

/** A JSON-RPC message of either direction. */
export interface RpcMessage {
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly id?: unknown;
}

/** What to do with a message: pass it on, swallow it, end the connection, or answer in the receiver's place. */
export type Verdict = 'pass' | 'swallow' | 'disconnect' | { readonly answer: RpcMessage };

/** A proxy between a client and a real server on a Unix socket: records every message, and drops or changes those that a test selects. */
export class TamperingProxy {
  /** `unix:/path` */
  readonly endpoint: string;
  /** All messages of clients so far, in order. */
  readonly fromClient: RpcMessage[] = [];
  readonly fromServer: RpcMessage[] = [];
  onClientMessage: (message: RpcMessage) => Verdict = () => 'pass';
  onServerMessage: (message: RpcMessage) => Verdict = () => 'pass';
  readonly #directory: string;
  readonly #server: Server;
  readonly #pairs = new Set<{ client: Socket; upstream: Socket }>();

  private constructor(directory: string, upstreamPath: string) {
    const path = join(directory, 'proxy.sock');
    this.#directory = directory;
    this.endpoint = `unix:${path}`;
    this.#server = createServer((client) => this.#accept(client, upstreamPath));
    this.#server.listen(path);
  }

  /** @param upstream `unix:/path` of the real server */
  static async start(upstream: string): Promise<TamperingProxy> {
    const proxy = new TamperingProxy(await mkdtemp(join(tmpdir(), 'ovsdb-')), upstream.slice('unix:'.length));
    await new Promise((resolve) => proxy.#server.once('listening', resolve));
    return proxy;
  }

  /** Sends bytes to every client as if they came from the server. */
  inject(bytes: string | Buffer): void {
    for (const { client } of this.#pairs) client.write(bytes);
  }

  disconnectAll(): void {
    for (const { client, upstream } of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
  }

  async stop(): Promise<void> {
    this.disconnectAll();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#directory, { recursive: true, force: true });
  }

  #accept(client: Socket, upstreamPath: string): void {
    const upstream = connect(upstreamPath);
    const pair = { client, upstream };
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    this.#relay(client, upstream, this.fromClient, (message) => this.onClientMessage(message), end);
    this.#relay(upstream, client, this.fromServer, (message) => this.onServerMessage(message), end);
  }

  #relay(from: Socket, to: Socket, seen: RpcMessage[], verdictOn: (message: RpcMessage) => Verdict, end: () => void): void {
    const stream = new MessageStream(Infinity, (parsed) => {
      const message = parsed as RpcMessage;
      seen.push(message);
      const verdict = verdictOn(message);
      if (verdict === 'pass') to.write(JSON.stringify(message));
      else if (verdict === 'disconnect') end();
      else if (verdict !== 'swallow') from.write(JSON.stringify(verdict.answer));
    });
    from.on('data', (chunk: Buffer) => stream.push(chunk));
    from.on('close', end);
    from.on('error', end);
  }
}
