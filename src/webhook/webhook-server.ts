/** AdmissionReviews over HTTPS. What cannot be read gets a 4xx; a judge that fails lets the request through. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Credential } from '../certificates/authority.ts';
import type { Log } from '../runtime/log.ts';
import type { AdmissionRequest } from './admission-review.ts';
import { answerText, parseReview } from './admission-review.ts';
import type { Opinion } from './opinion.ts';
import { NO_OPINION } from './opinion.ts';
import { WEBHOOK_PATH } from './webhook-configuration.ts';

/** An API server takes objects of at most 3 MiB, and a review has two. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Nobody waits longer for an answer, and half a request must not keep a connection. */
const REQUEST_MS = 10_000;

/** How a client ends that does not like our certificate: Go's says "bad certificate" whatever the reason is. */
const DISTRUST: ReadonlySet<string> = new Set([
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
]);

export interface WebhookServerOptions {
  /** Undefined: every address of the machine. */
  readonly host: string | undefined;
  /** 0: one that is free. */
  readonly port: number;
  readonly credential: Credential;
  readonly judge: (request: AdmissionRequest) => Opinion;
  readonly log: Log;
  /** Told of each answer. */
  readonly answered?: (request: AdmissionRequest, opinion: Opinion) => void;
}

export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #server: Server;
  /** It was said that the present certificate is not trusted. */
  #distrusted = false;

  private constructor(options: WebhookServerOptions) {
    this.#options = options;
    const { certificate, key } = options.credential;
    this.#server = createServer({ cert: certificate, key }, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.requestTimeout = REQUEST_MS;
    this.#server.headersTimeout = REQUEST_MS;
    this.#server.keepAliveTimeout = 90_000;
    this.#server.on('tlsClientError', (error: NodeJS.ErrnoException) => this.#tellOfDistrust(error));
  }

  /** Rejects as `listen` does (`EADDRINUSE`, `EACCES`, …). */
  static async start(options: WebhookServerOptions): Promise<WebhookServer> {
    const one = new WebhookServer(options);
    const { host, port } = options;
    await new Promise<void>((done, failed) => {
      // Of a server that listens, one connection's trouble.
      one.#server.on('error', failed);
      one.#server.listen({ port, ...(host === undefined ? {} : { host }) }, done);
    });
    return one;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections get this certificate; those that are open go on. */
  use({ certificate, key }: Credential): void {
    this.#server.setSecureContext({ cert: certificate, key });
    this.#distrusted = false;
  }

  close(): Promise<void> {
    return new Promise((done) => {
      this.#server.close(() => done());
      this.#server.closeAllConnections();
    });
  }

  /** The API server says so in its own log alone. Once for each certificate: anybody may connect. */
  #tellOfDistrust({ code = '' }: NodeJS.ErrnoException): void {
    if (this.#distrusted || !DISTRUST.has(code)) return;
    this.#distrusted = true;
    this.#options.log.warn('an API server does not take the certificate of the webhook, and decides without it', {
      error: code,
      next: 'kubectl get validatingwebhookconfigurations -o yaml: caBundle must have the authority that signed it, and its names the one that is called; the log of the API server says what is wrong',
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
      response.end(body);
    };
    const [path] = (request.url ?? '').split('?');
    if (path !== WEBHOOK_PATH) return answer(404, `only ${WEBHOOK_PATH} is served\n`);
    if (request.method !== 'POST') return answer(405, 'only POST\n', { allow: 'POST' });
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) return answer(415, 'only application/json\n');
    const body = await readBody(request);
    if (body === undefined) return answer(413, `a review has at most ${MOST_BYTES} bytes\n`, { connection: 'close' });
    const review = parseReview(body);
    if (!review.ok) return answer(400, `${review.problem}\n`);
    const opinion = this.#opinionOf(review.request);
    this.#options.answered?.(review.request, opinion);
    answer(200, answerText(review.request, opinion), { 'content-type': 'application/json' });
  }

  #opinionOf(request: AdmissionRequest): Opinion {
    try {
      return this.#options.judge(request);
    } catch (error) {
      const { operation, resource, namespace, name } = request;
      this.#options.log.error('a judge of the webhook failed; the request is let through', {
        operation,
        resource,
        namespace,
        name,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      return NO_OPINION;
    }
  }
}

/** @returns undefined for a body that is too long */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    // The client went away: what is missing is no JSON, and nobody reads the answer.
  }
  return Buffer.concat(chunks).toString('utf8');
}
