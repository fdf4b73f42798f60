/**
 * The HTTP endpoints for probes and metrics: `/healthz` (an answer means that the event loop runs), `/readyz` (the process could lead now:
 * a standby is ready as well) and `/metrics`. Every client may use the probes. Metrics name Subnets and show the use of the network: they
 * are for clients on this host, and for clients with the token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BlockList, isIPv6 } from 'node:net';
import { ConnectionLimiter } from './connection-limits.ts';

export interface BindAddress {
  /** Undefined: every address of the host. */
  readonly host: string | undefined;
  /** 0: a free one. */
  readonly port: number;
}

/** @returns undefined for a text that is not `HOST:PORT`, `[V6]:PORT` or `:PORT` */
export function parseBindAddress(text: string): BindAddress | undefined {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535 || (found[1] !== undefined && !isIPv6(found[1]))) return undefined;
  const host = found[1] ?? found[2];
  return { host: host === '' ? undefined : host, port };
}

export interface OperationsServerOptions {
  readonly address: BindAddress;
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
  /** What the process waits for; empty when it is ready. */
  readonly waitingFor: () => readonly string[];
  /** The bearer token for metrics from other hosts, read at each request. Undefined: only clients on this host may read them. */
  readonly token?: () => string | undefined;
}

export interface OperationsServer {
  /** `http://host:port` with the actual port. */
  readonly url: string;
  close(): Promise<void>;
}

/** Enough for a few scrapers, the probes of a kubelet and a person. */
const CONNECTIONS = 64;
const CONNECTIONS_PER_SECOND = 50;
const REQUEST_MS = 5_000;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Rejects as `listen` does (`EADDRINUSE`, `EACCES`, …). */
export async function serveOperations({ address, metrics, waitingFor, token }: OperationsServerOptions): Promise<OperationsServer> {
  /** Concurrent scrapes share one result. */
  let scrape: Promise<string> | undefined;
  const metricsText = (): Promise<string> =>
    (scrape ??= metrics.text().finally(() => {
      scrape = undefined;
    }));
  const limits = {
    maxHeaderSize: 8 * 1024,
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    // How often the server checks the timeouts above.
    connectionsCheckingInterval: 1_000,
  };
  const server = createServer(limits, (request, response) => {
    const answer = (
      status: number,
      text: string,
      type = 'text/plain; charset=utf-8',
      headers: Readonly<Record<string, string>> = {},
    ): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers });
      response.end(request.method === 'HEAD' ? undefined : text);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'only GET\n');
    const [path] = (request.url ?? '').split('?');
    if (path === '/healthz') return answer(200, 'ok\n');
    if (path === '/readyz') {
      const missing = waitingFor();
      return missing.length === 0 ? answer(200, 'ok\n') : answer(503, missing.map((one) => `waiting for ${one}\n`).join(''));
    }
    if (path !== '/metrics') return answer(404, '/metrics, /healthz, /readyz\n');
    if (!isLoopback(request) && !hasToken(request, token?.()))
      return answer(401, 'metrics need the token of --metrics-token-file\n', undefined, { 'www-authenticate': 'Bearer' });
    metricsText().then(
      (text) => answer(200, text, metrics.contentType),
      (error: unknown) => answer(500, `${error instanceof Error ? error.message : String(error)}\n`),
    );
  });
  // For a client that does not read its answer.
  server.timeout = 4 * REQUEST_MS;
  const held = new ConnectionLimiter(server, { connections: CONNECTIONS, perSecond: CONNECTIONS_PER_SECOND });
  server.on('request', (request, response) => response.once('finish', () => held.answered(request.socket)));
  await new Promise<void>((done, failed) => {
    // An error of one connection, after the server has begun to listen.
    server.on('error', failed);
    server.listen({ port: address.port, ...(address.host === undefined ? {} : { host: address.host }) }, done);
  });
  // An idle server must not keep the process alive.
  server.unref();
  const { address: host, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Packets from other hosts cannot have a loopback address as their source. */
function isLoopback({ socket }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? '';
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  return LOOPBACK.check(mapped ?? address, mapped === undefined && isIPv6(address) ? 'ipv6' : 'ipv4');
}

function hasToken({ headers }: IncomingMessage, token: string | undefined): boolean {
  const shown = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (shown === undefined || token === undefined || token === '') return false;
  // Digests have equal length, and are compared in constant time.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown), digest(token));
}
