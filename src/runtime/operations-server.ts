/**
 * What a cluster asks of a process over HTTP: `/metrics`, `/healthz` (it answers, so its event loop turns) and `/readyz` (it could
 * take over now: a standby is ready as well).
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isIPv6 } from 'node:net';

export interface BindAddress {
  /** Undefined: every address of the machine. */
  readonly host: string | undefined;
  /** 0: one that is free. */
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
  /** What is waited for; empty when ready. */
  readonly waitingFor: () => readonly string[];
}

export interface OperationsServer {
  /** `http://host:port`, as it came to be. */
  readonly url: string;
  close(): Promise<void>;
}

/** Rejects as `listen` does (`EADDRINUSE`, `EACCES`, …). */
export async function serveOperations({ address, metrics, waitingFor }: OperationsServerOptions): Promise<OperationsServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
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
    metrics.text().then(
      (text) => answer(200, text, metrics.contentType),
      (error: unknown) => answer(500, `${error instanceof Error ? error.message : String(error)}\n`),
    );
  });
  await new Promise<void>((done, failed) => {
    // Of a server that listens, one connection's trouble.
    server.on('error', failed);
    server.listen({ port: address.port, ...(address.host === undefined ? {} : { host: address.host }) }, done);
  });
  // A server that nobody asks must not keep the process.
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
