/**
 * A proxy before a real API server, over real sockets. It forwards everything, except for answers that a test changes: another kind, a list
 * without objects, a list without an end.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { KubeClient } from '../kube/client/client.ts';
import type { Connection } from '../kube/transport/connection.ts';
import { connectionTo } from '../kube/transport/connection.ts';
import { KubeTransport } from '../kube/transport/transport.ts';

export interface Asked {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface ListBody {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Changes an answer: another body of the list, or a complete answer. Undefined: forward it. */
export type Tamper = (asked: Asked, response: ServerResponse, list: () => Promise<ListBody>) => Promise<void> | undefined;

export class FaultyProxy {
  /** Undefined: forward every answer unchanged. */
  tamper: Tamper | undefined;
  readonly asked: Asked[] = [];
  readonly #server: Server;
  readonly #upstream: Connection;
  readonly #clients: KubeClient[] = [];
  #agent: Agent | undefined;

  private constructor(upstream: Connection) {
    this.#upstream = upstream;
    this.#server = createServer((incoming, response) => {
      this.#take(incoming, response).catch(() => response.destroy());
    });
  }

  static async start(upstream: Connection): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(upstream);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  client(): KubeClient {
    const { port } = this.#server.address() as AddressInfo;
    const client = new KubeClient(new KubeTransport(connectionTo({ server: `http://127.0.0.1:${port}` })));
    this.#clients.push(client);
    return client;
  }

  /** Closes every connection, watches included: clients have to connect again. */
  breakConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Changes the lists of these kinds; everything else is forwarded. */
  tamperLists(plurals: readonly string[], write: (list: ListBody) => unknown): void {
    this.tamper = ({ method, path, query }, response, list) => {
      if (method !== 'GET' || query.has('watch') || !plurals.includes(path.split('/').at(-1) ?? '')) return undefined;
      return list().then((body) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(write(body)));
      });
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    this.#server.closeAllConnections();
    this.#server.close();
    this.#agent?.destroy();
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://proxy');
    const asked: Asked = { method: incoming.method ?? 'GET', path: url.pathname, query: url.searchParams };
    this.asked.push(asked);
    const lied = this.tamper?.(asked, response, async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of await this.#pass(incoming)) chunks.push(chunk as Buffer);
      return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ListBody;
    });
    if (lied !== undefined) return lied;
    const answer = await this.#pass(incoming);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
    response.on('close', () => answer.destroy());
    answer.on('error', () => response.destroy());
  }

  async #pass(incoming: IncomingMessage): Promise<IncomingMessage> {
    const { tls, headers } = await this.#upstream.credentials(false);
    this.#agent ??= new Agent({ keepAlive: true, ca: tls.ca, cert: tls.cert, key: tls.key });
    const { host: _host, authorization: _authorization, ...own } = incoming.headers;
    const outgoing = request(new URL(incoming.url ?? '/', this.#upstream.server), {
      method: incoming.method,
      headers: { ...own, ...headers },
      agent: this.#agent,
    });
    incoming.pipe(outgoing);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  }
}
