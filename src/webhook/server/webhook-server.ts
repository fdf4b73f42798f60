/**
 * Serves AdmissionReviews over HTTPS. Unreadable requests get a 4xx; if validation throws, the request is allowed. Any client in the
 * network can connect: so connections, bytes, time and computing are limited, and the cost of a client without a proven identity does not
 * affect other clients.
 */
import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Credential } from '../../certificates/authority.ts';
import { ConnectionLimiter } from '../../runtime/connection-limits.ts';
import type { Log } from '../../runtime/log.ts';
import { RateByAddress } from '../../runtime/rate-by-address.ts';
import { stackOf } from '../../runtime/source-positions.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import { answerText, parseReview } from '../protocol/admission-review.ts';
import { BodyBudget } from './body-budget.ts';
import { visibleMessage } from '../../text/visible-text.ts';
import type { UnknownClients } from './client-identity.ts';
import { isProven } from './client-identity.ts';
import type { AdmissionResult } from '../protocol/admission-result.ts';
import { ALLOWED } from '../protocol/admission-result.ts';
import { MOST_VALUES } from '../protocol/review-bounds.ts';
import { LogLimit } from './log-limit.ts';
import { SerialQueue } from './serial-queue.ts';
import { WEBHOOK_PATH } from '../manifests/webhook-configuration.ts';

export interface WebhookLimits {
  readonly connections: number;
  /** New connections a second from one address. */
  readonly connectionsPerSecond: number;
  /** Bytes of one body: an API server accepts objects of at most 3 MiB, and a review has two. */
  readonly body: number;
  /** Bytes of one body of a client without a proven identity. */
  readonly unknownBody: number;
  /** Bytes of all bodies that are being read. */
  readonly bodies: number;
  readonly headerBytes: number;
  /** From the connection to the end of the handshake, and from there to the end of the first headers. */
  readonly headerMs: number;
  /** From the first byte of a request to the end of its body, however slowly it arrives. */
  readonly requestMs: number;
  /** Milliseconds of validation a second, for one address without a proven identity and for all such addresses. */
  readonly validationMs: { readonly address: number; readonly all: number };
}

export const WEBHOOK_LIMITS: WebhookLimits = {
  connections: 512,
  connectionsPerSecond: 200,
  body: 8 * 1024 * 1024,
  unknownBody: 512 * 1024,
  bodies: 32 * 1024 * 1024,
  headerBytes: 8 * 1024,
  headerMs: 5_000,
  requestMs: 10_000,
  validationMs: { address: 300, all: 500 },
};

/** Why the server did not serve a client to the end; a label of the metric `kiln_webhook_refusals_total`. */
export type UnservedReason = 'rate' | 'room' | 'body' | 'computing' | 'identity';

/** Errors of a connection whose client rejects our certificate. Go sends "bad certificate" for every reason. */
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
  /** 0: a free port. */
  readonly port: number;
  readonly credential: Credential;
  /** Undefined: the server requests no client certificate, and every client is unknown. */
  readonly clients?: {
    /** PEM of the authorities that sign the API server's client certificate; undefined while there are none: every client is unknown. */
    readonly authorities: string | undefined;
    /** Allowed common names of the API server's certificate. */
    readonly names: readonly string[];
    readonly unknown: UnknownClients;
  };
  /** @param proven whether the client's certificate proves that it is the API server */
  readonly review: (request: AdmissionRequest, proven: boolean) => AdmissionResult;
  readonly log: Log;
  readonly limits?: Partial<WebhookLimits>;
  /** Called with each answer. */
  readonly answered?: (request: AdmissionRequest, result: AdmissionResult) => void;
  readonly unserved?: (why: UnservedReason) => void;
  /** Monotonic milliseconds; the time of validation is measured by them. */
  readonly now?: () => number;
}

/** Key of the bucket of all clients: an address is never empty. */
const ALL = '';
/** Milliseconds of TLS and HTTP for a request, without its review. */
const REQUEST_MS = 0.2;
/** Milliseconds that the most expensive reviews take for each byte. Once a review is validated, the unused rest is returned. */
const MS_A_BYTE = 1 / 1_024;
const LONGEST_STACK = 4_096;
const LONGEST_LOGGED = 253;

export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #limits: WebhookLimits;
  readonly #now: () => number;
  readonly #server: Server;
  readonly #held: ConnectionLimiter;
  readonly #bodies: BodyBudget;
  readonly #queue = new SerialQueue();
  readonly #validationTime: { readonly address: RateByAddress; readonly all: RateByAddress };
  readonly #validationFailed = new LogLimit();
  readonly #unknownClients = new LogLimit();
  #credential: Credential;
  #authorities: string | undefined;
  #proven = new WeakSet<object>();
  /** Whether distrust of the present certificate was already logged. */
  #distrusted = false;

  private constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#limits = { ...WEBHOOK_LIMITS, ...options.limits };
    const { connections, connectionsPerSecond, bodies, headerBytes, headerMs, requestMs, validationMs } = this.#limits;
    this.#bodies = new BodyBudget(bodies, () => options.unserved?.('body'));
    this.#validationTime = {
      address: new RateByAddress({ perSecond: validationMs.address, burst: 5 * validationMs.address }),
      all: new RateByAddress({ perSecond: validationMs.all, burst: 5 * validationMs.all }),
    };
    this.#credential = options.credential;
    this.#authorities = options.clients?.authorities;
    this.#server = createServer(
      {
        ...this.#secureContext(),
        // A client without a certificate, or with one of another authority, is unknown; `clients.unknown` decides about it later.
        requestCert: options.clients !== undefined,
        rejectUnauthorized: false,
        handshakeTimeout: headerMs,
        maxHeaderSize: headerBytes,
        headersTimeout: headerMs,
        requestTimeout: requestMs,
        // How often Node.js checks these times.
        connectionsCheckingInterval: 1_000,
        keepAliveTimeout: 90_000,
      },
      (request, response) => {
        void this.#serve(request, response);
      },
    );
    // Closes the connection of a client that does not read its answer; between requests the time above applies.
    this.#server.timeout = 2 * requestMs;
    this.#held = new ConnectionLimiter(this.#server, { connections, perSecond: connectionsPerSecond }, (why) => options.unserved?.(why));
    this.#server.prependListener('secureConnection', (socket: TLSSocket) => this.#identify(socket));
    this.#server.on('tlsClientError', (error: NodeJS.ErrnoException) => this.#logDistrust(error));
  }

  /** Rejects as `listen` does (`EADDRINUSE`, `EACCES`, …). */
  static async start(options: WebhookServerOptions): Promise<WebhookServer> {
    const one = new WebhookServer(options);
    const { host, port } = options;
    await new Promise<void>((done, failed) => {
      // After `listen` succeeds, an error concerns one connection only.
      one.#server.on('error', failed);
      one.#server.listen({ port, ...(host === undefined ? {} : { host }) }, done);
    });
    return one;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes of bodies that are being read, and open connections. */
  get holds(): { readonly bodyBytes: number; readonly connections: number } {
    return { bodyBytes: this.#bodies.held, connections: this.#held.open };
  }

  /** Serves this certificate on new connections; open ones continue. */
  use(credential: Credential): void {
    this.#credential = credential;
    this.#server.setSecureContext(this.#secureContext());
    this.#distrusted = false;
  }

  /** From now on, only certificates of these authorities prove the API server. */
  trust(authorities: string | undefined): void {
    this.#authorities = authorities;
    this.#server.setSecureContext(this.#secureContext());
    this.#proven = new WeakSet();
    this.#server.closeIdleConnections();
  }

  close(): Promise<void> {
    return new Promise((done) => {
      this.#server.close(() => done());
      this.#server.closeAllConnections();
    });
  }

  #secureContext(): SecureContextOptions {
    const { certificate, key } = this.#credential;
    return {
      cert: certificate,
      key,
      ...(this.#authorities !== undefined && { ca: this.#authorities }),
      // A resumed TLS session would not show its certificate again.
      secureOptions: constants.SSL_OP_NO_TICKET,
    };
  }

  #identify(socket: TLSSocket): void {
    const { clients, log, unserved } = this.#options;
    if (clients === undefined) return;
    // Without configured authorities OpenSSL would trust those of the machine.
    if (this.#authorities !== undefined && isProven(socket, clients.names)) {
      this.#proven.add(socket);
      this.#held.proven(socket);
      return;
    }
    if (clients.unknown === 'answer') return;
    unserved?.('identity');
    this.#unknownClients.note((times) =>
      log.warn('clients without the certificate of an API server were disconnected from the webhook', {
        times,
        address: socket.remoteAddress ?? '',
        next: 'when it is the API server: let it show its certificate (docs/operate/webhook.md), or set --webhook-unknown-clients=answer',
      }),
    );
    socket.destroy();
  }

  /**
   * Logs that a client rejects our certificate: the API server reports this in its own log only. Once for each certificate, since any
   * client can cause it.
   */
  #logDistrust({ code = '' }: NodeJS.ErrnoException): void {
    if (this.#distrusted || !DISTRUST.has(code)) return;
    this.#distrusted = true;
    this.#options.log.warn('an API server rejects the certificate of the webhook, and decides without it', {
      error: code,
      next: 'kubectl get validatingwebhookconfigurations -o yaml: caBundle must contain the authority that signed it, and the certificate must contain the name in the URL or Service of the webhook; the log of the API server has the cause',
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    /** Answers a request whose body may still arrive, and does not wait for it. */
    const respond = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close', ...headers });
      response.end(body);
    };
    const [path] = (request.url ?? '').split('?');
    if (path !== WEBHOOK_PATH) return respond(404, `only ${WEBHOOK_PATH} is served\n`);
    if (request.method !== 'POST') return respond(405, 'only POST\n', { allow: 'POST' });
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) return respond(415, 'only application/json\n');
    const proven = this.#proven.has(request.socket);
    const address = request.socket.remoteAddress ?? 'gone';
    const tooMuch = (): void => {
      this.#options.unserved?.('computing');
      respond(429, 'reviews of this address take too much time\n', { 'retry-after': '1' });
    };
    if (!proven && !this.#reserve(address, 0)) return tooMuch();
    const mostBytes = proven ? this.#limits.body : Math.min(this.#limits.body, this.#limits.unknownBody);
    const body = await this.#bodies.read(request, mostBytes);
    if (body === 'gone') return void request.destroy();
    if (body === 'too long') return respond(413, `a review ${proven ? '' : 'of this client '}has at most ${mostBytes} bytes\n`);
    const answer = (): void => {
      const answered = this.#answerOf(body, proven);
      if (!answered.ok) return respond(400, `${answered.problem}\n`);
      this.#held.answered(request.socket);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answered.text);
    };
    if (proven) return answer();
    // While this body arrived, other requests may have used up the time. The reserved time bounds how many requests wait for their turn.
    const reserved = REQUEST_MS + body.length * MS_A_BYTE;
    if (!this.#reserve(address, reserved)) return tooMuch();
    await this.#queue.take(() => {
      const begun = this.#now();
      if (!request.socket.destroyed) answer();
      this.#charge(address, this.#now() - begun + REQUEST_MS - reserved);
    });
  }

  #answerOf(
    body: Buffer,
    proven: boolean,
  ): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string } {
    const review = parseReview(body, proven ? MOST_VALUES.proven : MOST_VALUES.unknown);
    if (!review.ok) return review;
    const result = this.#validate(review.request, proven);
    this.#options.answered?.(review.request, result);
    return { ok: true, text: answerText(review.request, result) };
  }

  /**
   * Reserves the time for the address and for all.
   * @returns false if either has too little left; then nothing is reserved
   */
  #reserve(address: string, milliseconds: number): boolean {
    const now = this.#now();
    if (!this.#validationTime.address.take(address, milliseconds, now)) return false;
    if (this.#validationTime.all.take(ALL, milliseconds, now)) return true;
    this.#validationTime.address.charge(address, -milliseconds, now);
    return false;
  }

  #charge(address: string, milliseconds: number): void {
    const now = this.#now();
    this.#validationTime.address.charge(address, milliseconds, now);
    this.#validationTime.all.charge(ALL, milliseconds, now);
  }

  #validate(request: AdmissionRequest, proven: boolean): AdmissionResult {
    try {
      return this.#options.review(request, proven);
    } catch (error) {
      const { operation, resource, namespace, name } = request;
      const logged = (text: string): string => visibleMessage(text, LONGEST_LOGGED);
      this.#validationFailed.note((times) =>
        this.#options.log.error('validation failed with an internal error; the request is allowed', {
          times,
          operation,
          resource: logged(resource),
          namespace: logged(namespace),
          name: logged(name),
          // The message may contain input of the client.
          error: stackOf(error).slice(0, LONGEST_STACK),
        }),
      );
      return ALLOWED;
    }
  }
}
