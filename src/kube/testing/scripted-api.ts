import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { KubeClient } from '../client/client.ts';
import { connectionTo } from '../transport/connection.ts';
import { KubeTransport, type TransportOptions } from '../transport/transport.ts';
import { PATIENCE_MS } from '../../testing/patience.ts';

/** One request, answered by the test. */
export class Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  readonly socket: Socket;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse, body: string) {
    const url = new URL(request.url ?? '/', 'http://stub');
    this.method = request.method ?? '';
    this.path = url.pathname;
    this.query = url.searchParams;
    this.headers = request.headers;
    this.body = body === '' ? undefined : JSON.parse(body);
    this.socket = request.socket;
    this.#response = response;
  }

  get isWatch(): boolean {
    return this.query.get('watch') === 'true';
  }

  get closed(): boolean {
    return this.#response.closed || this.#response.destroyed;
  }

  get answered(): boolean {
    return this.#response.writableEnded;
  }

  json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.text(JSON.stringify(body), status, { 'content-type': 'application/json', ...headers });
  }

  text(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, headers);
    this.#response.end(body);
  }

  /** A metav1.Status. */
  status(code: number, reason: string, message: string, details: object = {}, headers: Record<string, string> = {}): void {
    this.json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details }, code, headers);
  }

  /** The requested or written object, with the fewest fields that an API server sends. */
  object(resourceVersion = '5', uid?: string): void {
    const { metadata } = (this.body ?? {}) as { readonly metadata?: { readonly name?: string } };
    const named = /\/([^/]+?)(?:\/(?:status|scale))?$/.exec(this.path)?.[1] ?? '';
    const name = this.method === 'POST' ? (metadata?.name ?? 'x') : named;
    const namespace = /\/namespaces\/([^/]+)\//.exec(this.path)?.[1];
    this.json({ metadata: { name, namespace, uid: uid ?? `uid-${name}`, resourceVersion } });
  }

  /** A list of the requested resource, in the form of an API server. */
  list(items: readonly unknown[], resourceVersion: string, token?: string, remainingItemCount?: number): void {
    this.json({ ...listTypeOf(this.path), metadata: { resourceVersion, continue: token, remainingItemCount }, items });
  }

  /** Sends headers without a body. */
  open(): this {
    this.#response.writeHead(200, { 'content-type': 'application/json' });
    this.#response.flushHeaders();
    return this;
  }

  write(text: string | Buffer): this {
    this.#response.write(text);
    return this;
  }

  event(type: string, object: unknown): this {
    return this.write(`${JSON.stringify({ type, object })}\n`);
  }

  bookmark(resourceVersion: string): this {
    return this.event('BOOKMARK', { kind: 'X', metadata: { resourceVersion } });
  }

  end(): void {
    this.#response.end();
  }

  /** Breaks the connection without an answer, or in the middle of one. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** Kinds by their plural, if it is not the lower-case kind with an s. A test adds its own. */
export const KINDS = new Map([['customresourcedefinitions', 'CustomResourceDefinition']]);

function listTypeOf(path: string): { readonly apiVersion: string; readonly kind: string } {
  const parts = path.split('/').slice(1);
  const plural = parts.at(-1) ?? '';
  const apiVersion = parts[0] === 'api' ? (parts[1] ?? '') : parts.slice(1, 3).join('/');
  return { apiVersion, kind: `${KINDS.get(plural) ?? `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`}List` };
}

/** An HTTP server; a test writes its answers one by one. */
export class ScriptedApi {
  readonly #server: Server;
  readonly #arrived: Exchange[] = [];
  readonly #waiting: ((exchange: Exchange) => void)[] = [];
  readonly #clients: KubeClient[] = [];
  /** Connections that were made to it. */
  connections = 0;
  /** Answers everything where set; else exchanges wait for `next`. */
  handler: ((exchange: Exchange) => void) | undefined;

  private constructor(tls: ServerOptions | undefined) {
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      void this.#take(request, response);
    };
    this.#server = tls === undefined ? createServer(take) : createTlsServer(tls, take);
    // Like that of an API server, and not Node's 5 s: a test that stalls for so long would find its connections closed.
    this.#server.keepAliveTimeout = PATIENCE_MS;
  }

  static async start(tls?: ServerOptions): Promise<ScriptedApi> {
    const api = new ScriptedApi(tls);
    api.#server.on(tls === undefined ? 'connection' : 'secureConnection', () => api.connections++);
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  client(options: TransportOptions = {}): KubeClient {
    const client = new KubeClient(new KubeTransport(connectionTo({ server: `http://127.0.0.1:${this.port}` }), options));
    this.#clients.push(client);
    return client;
  }

  /** The next request, in order of arrival. */
  next(): Promise<Exchange> {
    const arrived = this.#arrived.shift();
    if (arrived !== undefined) return Promise.resolve(arrived);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no request arrived')), PATIENCE_MS);
      this.#waiting.push((exchange) => {
        clearTimeout(timer);
        resolve(exchange);
      });
    });
  }

  /** Requests that arrived and were not taken. */
  get untaken(): number {
    return this.#arrived.length;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const exchange = new Exchange(request, response, Buffer.concat(chunks).toString('utf8'));
    if (this.handler !== undefined) return this.handler(exchange);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#arrived.push(exchange);
    else waiting(exchange);
  }
}
