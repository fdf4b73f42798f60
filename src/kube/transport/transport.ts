import type { Readable } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
// Not from its index, which also loads fetch, WebSocket, caches and mocks: 14 MB of memory.
import requestOf from 'undici/lib/api/api-request.js';
import undiciErrors from 'undici/lib/core/errors.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { MAX_ANSWER_BYTES } from './answer-limit.ts';
import type { Connection, Credentials, TlsMaterial } from './connection.ts';
import { errorFromStatus, KubeError, type KubeSubject, type StatusObject } from '../errors.ts';
import { parseJson, stringifyJson } from '../json.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface KubeRequest {
  readonly subject: KubeSubject;
  readonly method: HttpMethod;
  /** Path with its query, from the server's root. */
  readonly path: string;
  /** Written as JSON, with integers beyond 2^53 as bigint. */
  readonly body?: object;
  /** Of the body. Default `application/json`. */
  readonly contentType?: string;
  /** After this long without an answer the request fails with KUBE_TIMEOUT. */
  readonly timeoutMs?: number;
  /** For a stream: after this long without a byte it fails with KUBE_TIMEOUT. Default: no limit. */
  readonly silenceMs?: number;
  /** Called with the number of bytes as they arrive. An exception ends the request. */
  readonly onBytes?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

export interface TransportOptions {
  /** Connections for requests, which limits the requests in flight; watches have their own connections. Default 32. */
  readonly connections?: number;
  /** Default 30 s. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
  /** Only requests that change nothing are sent. */
  readonly onlyReads?: boolean;
  readonly clock?: Clock;
  /** Called at each answer with the server's own time, in milliseconds since the epoch, to the second. */
  readonly onDate?: (date: number) => void;
}

/** Credentials are read again after this time. */
const CREDENTIALS_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longest time for an answer: one that trickles byte by byte never falls silent. */
const LONGEST_ANSWER_MS = 120_000;
/** Most bytes read of a failed answer: its `Status`. */
const MAX_FAILURE_BYTES = 1024 * 1024;
/** Below the idle timeout of API servers (90 s) and of common load balancers (60 s), so that the client closes first. */
const KEEP_ALIVE_MS = 30_000;

interface Channels {
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

/** The reader of a watch. Gets no call after its end. */
export interface WatchReader {
  /** A chunk of bytes. From a server in the same process: one parsed line, which the reader must not change. */
  take(chunk: unknown): void;
  ended(): void;
  failed(error: KubeError): void;
}

/** A watch that is open. */
export interface OpenWatch {
  /** To be called once, synchronously: earlier bytes are lost. */
  read(reader: WatchReader): void;
  close(): void;
}

/** Sends requests to an API server. Every failure is a KubeError. */
export interface Transport {
  /**
   * @returns the parsed body of a 2xx answer, with integers beyond 2^53 as bigint. The caller must not change it: a server in the same
   * process hands over its own objects
   */
  request(request: KubeRequest): Promise<unknown>;
  /** The body as text, for answers that are not JSON. */
  text(request: KubeRequest): Promise<string>;
  /** Opens a watch; the request's signal ends it. It has no timeout of its own: its reader limits silence. */
  watch(request: KubeRequest): Promise<OpenWatch>;
  /** Opens a stream of bytes (a long list); the request's signal ends it. */
  stream(request: KubeRequest): Promise<Readable>;
  /** A later failure of a stream, as a KubeError. */
  streamFailure(subject: KubeSubject, error: unknown): KubeError;
  close(): Promise<void>;
}

/** Authenticated requests to one API server over kept-alive connections. */
export class KubeTransport implements Transport {
  readonly #connection: Connection;
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #origin: string;
  readonly #prefix: string;
  #credentials: Credentials | undefined;
  #loadedAt = 0;
  #loading: Promise<Credentials> | undefined;
  #channels: Channels | undefined;
  #closed = false;

  constructor(connection: Connection, options: TransportOptions = {}) {
    const url = new URL(connection.server);
    this.#connection = connection;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
  }

  /** The namespace of the kubeconfig's context or of the pod. */
  get namespace(): string | undefined {
    return this.#connection.namespace;
  }

  get server(): string {
    return this.#connection.server;
  }

  /** @throws KubeError KUBE_PROTOCOL if it is not JSON */
  async request(request: KubeRequest): Promise<unknown> {
    const text = await this.text(request);
    try {
      return parseJson(text);
    } catch (error) {
      throw new KubeError('KUBE_PROTOCOL', request.subject, 'the answer is not JSON', { cause: error });
    }
  }

  /** @throws KubeError */
  async text(request: KubeRequest): Promise<string> {
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs ?? 30_000;
    const answer = await this.#exchange(request, 'requests', timeoutMs, timeoutMs);
    try {
      return await this.#whole(answer.body, request, MAX_ANSWER_BYTES);
    } catch (error) {
      throw this.#failure(request, error);
    }
  }

  /** @throws KubeError for failures before the first byte */
  async watch(request: KubeRequest): Promise<OpenWatch> {
    const stream = await this.stream(request);
    return {
      read: (reader) => {
        stream.on('data', (chunk) => reader.take(chunk));
        stream.on('error', (error) => reader.failed(failureOf(request.subject, error)));
        stream.on('end', () => reader.ended());
        stream.on('close', () => reader.ended());
      },
      close: () => void stream.destroy(),
    };
  }

  /** @throws KubeError for failures before the first byte */
  async stream(request: KubeRequest): Promise<Readable> {
    const answer = await this.#exchange(request, 'watches', request.timeoutMs ?? 30_000, request.silenceMs ?? 0);
    return answer.body;
  }

  /** A later failure of a stream, as a KubeError. */
  streamFailure(subject: KubeSubject, error: unknown): KubeError {
    return failureOf(subject, error);
  }

  /** Ends all connections; requests in flight fail with KUBE_CLOSED. */
  async close(): Promise<void> {
    this.#closed = true;
    const channels = this.#channels;
    if (channels !== undefined) await Promise.all([channels.requests.destroy(), channels.watches.destroy()]);
  }

  async #exchange(
    request: KubeRequest,
    channel: keyof Channels,
    headersTimeout: number,
    bodyTimeout: number,
  ): Promise<Dispatcher.ResponseData> {
    let answer = await this.#send(request, channel, headersTimeout, bodyTimeout, false);
    if (answer.statusCode === 401) {
      await answer.body.dump();
      answer = await this.#send(request, channel, headersTimeout, bodyTimeout, true);
    }
    if (answer.statusCode < 300) return answer;
    const text = await this.#whole(answer.body, request, MAX_FAILURE_BYTES).catch(() => '');
    const retryAfter = answer.headers['retry-after'];
    throw errorFromStatus(request.subject, answer.statusCode, statusBody(text), Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
  }

  /** @throws KubeError KUBE_ANSWER_TOO_LARGE, KUBE_TIMEOUT; both close the connection */
  async #whole(body: Readable, { subject, onBytes }: KubeRequest, most: number): Promise<string> {
    const began = this.#clock.now();
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) throw new KubeError('KUBE_ANSWER_TOO_LARGE', subject, `the answer has more than ${most} bytes`);
      if (this.#clock.now() - began > LONGEST_ANSWER_MS)
        throw new KubeError('KUBE_TIMEOUT', subject, `the answer was not whole after ${LONGEST_ANSWER_MS / 1_000} s`);
      onBytes?.(chunk.length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  async #send(
    request: KubeRequest,
    channel: keyof Channels,
    headersTimeout: number,
    bodyTimeout: number,
    renew: boolean,
  ): Promise<Dispatcher.ResponseData> {
    if (this.#closed) throw new KubeError('KUBE_CLOSED', request.subject, 'the client is closed');
    if (this.#options.onlyReads === true && request.method !== 'GET')
      throw new KubeError('KUBE_DENIED', request.subject, `this command only reads: ${request.method} was not sent`);
    const credentials = this.#current(renew) ?? (await this.#load(renew));
    const headers: Record<string, string> = {
      ...credentials.headers,
      accept: 'application/json',
      'user-agent': this.#options.userAgent ?? 'kiln',
    };
    if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
    try {
      if (this.#closed || this.#channels === undefined) throw new undiciErrors.ClientDestroyedError();
      const answer = await requestOf.call(this.#channels[channel], {
        origin: this.#origin,
        path: this.#prefix + request.path,
        method: request.method,
        headers,
        body: request.body === undefined ? null : stringifyJson(request.body),
        signal: request.signal ?? null,
        headersTimeout,
        bodyTimeout,
        // Otherwise undici closes the connection after each DELETE with a body, and each one needs a TLS handshake.
        reset: false,
      });
      const date = Date.parse(String(answer.headers['date'] ?? ''));
      if (!Number.isNaN(date)) this.#options.onDate?.(date);
      return answer;
    } catch (error) {
      throw this.#failure(request, error);
    }
  }

  #current(renew: boolean): Credentials | undefined {
    return renew || this.#clock.now() - this.#loadedAt >= CREDENTIALS_MS ? undefined : this.#credentials;
  }

  /** Concurrent requests with old credentials share one load. */
  #load(renew: boolean): Promise<Credentials> {
    this.#loading ??= this.#connection
      .credentials(renew)
      .then((credentials) => {
        const before = this.#credentials;
        this.#credentials = credentials;
        this.#loadedAt = this.#clock.now();
        if (this.#channels === undefined || before === undefined || !sameTls(before.tls, credentials.tls)) {
          this.#openChannels(credentials.tls);
        }
        return credentials;
      })
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }

  #openChannels(tls: TlsMaterial): void {
    const old = this.#channels;
    if (this.#closed) return;
    const context = this.#origin.startsWith('https:') ? contextOf(tls) : undefined;
    this.#channels = {
      requests: this.#dispatcher(tls, context, this.#options.connections ?? 32),
      watches: this.#dispatcher(tls, context, null),
    };
    // Watches with the old certificate run to their own end.
    if (old !== undefined) for (const channel of [old.requests, old.watches]) channel.close().catch(() => undefined);
  }

  #dispatcher(tls: TlsMaterial, secureContext: SecureContext | undefined, connections: number | null): Dispatcher {
    const secure = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
    const common = {
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    };
    const connect = {
      ...secure,
      ...(secureContext !== undefined && { secureContext }),
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    };
    return this.#connection.proxyUrl === undefined
      ? new Pool(this.#origin, { ...common, connect })
      : new ProxyAgent({ ...common, uri: this.#connection.proxyUrl, requestTls: connect });
  }

  #failure(request: KubeRequest, error: unknown): KubeError {
    if (error instanceof KubeError) return error;
    if (this.#closed || request.signal?.aborted === true) {
      return new KubeError('KUBE_CLOSED', request.subject, 'aborted', { cause: error });
    }
    return failureOf(request.subject, error);
  }
}

function statusBody(text: string): StatusObject | string {
  try {
    const parsed = parseJson(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : text;
  } catch {
    return text;
  }
}

const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function failureOf(subject: KubeSubject, error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error && error.message !== '' ? error.message : String(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new KubeError('KUBE_TIMEOUT', subject, 'the server did not answer in time', { cause: error });
  }
  if (code === 'UND_ERR_ABORTED' || code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return new KubeError('KUBE_CLOSED', subject, 'aborted', { cause: error });
  }
  if (NOT_SENT.has(code)) return new KubeError('KUBE_UNREACHABLE', subject, text, { cause: error });
  return new KubeError('KUBE_DISCONNECTED', subject, text, { cause: error });
}

function sameTls(a: TlsMaterial, b: TlsMaterial): boolean {
  const text = (value: string | Buffer | undefined): string => (value === undefined ? '' : value.toString());
  return (
    text(a.ca) === text(b.ca) &&
    text(a.cert) === text(b.cert) &&
    text(a.key) === text(b.key) &&
    a.servername === b.servername &&
    a.rejectUnauthorized === b.rejectUnauthorized
  );
}

/**
 * Certificates and key, parsed once for all connections. Undefined if they cannot be parsed: the first connection then gives the reason.
 */
function contextOf({ ca, cert, key }: TlsMaterial): SecureContext | undefined {
  try {
    return createSecureContext({ ca, cert, key });
  } catch {
    return undefined;
  }
}
