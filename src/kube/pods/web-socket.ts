/**
 * A WebSocket to the API server (RFC 6455, as client): binary messages, over the connection and credentials of a kubeconfig. Undici's has neither the
 * status of a refused request, which names the missing right, nor back-pressure.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Duplex } from 'node:stream';
import type { StatusObject } from '../errors.ts';
import { errorFromStatus, KubeError, type KubeSubject } from '../errors.ts';
import type { Connection } from '../transport/connection.ts';

export interface WebSocketEvents {
  /** A whole message. */
  message(data: Buffer): void;
  /** Called once; an error unless the peer closed it. */
  closed(error: Error | undefined): void;
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
/** A kubelet sends chunks of some kilobytes. */
const MOST_BYTES = 64 * 1_024 * 1_024;
const MOST_FAILURE_BYTES = 64 * 1_024;

export interface WebSocketOptions {
  readonly connection: Connection;
  readonly subject: KubeSubject;
  readonly path: string;
  /** The protocol that the server has to choose. */
  readonly protocol: string;
  readonly timeoutMs: number;
  /** Gets all bytes of messages; set before any can arrive. */
  readonly events: WebSocketEvents;
}

/** @throws KubeError */
export async function openWebSocket(options: WebSocketOptions): Promise<WebSocketClient> {
  const { connection, subject, path, protocol, timeoutMs, events } = options;
  if (connection.proxyUrl !== undefined)
    throw new KubeError('KUBE_UNREACHABLE', subject, `streams do not go through the proxy ${connection.proxyUrl} of the kubeconfig`);
  const { tls, headers } = await connection.credentials(false);
  const url = new URL(connection.server);
  const key = randomBytes(16).toString('base64');
  return await new Promise((done, fail) => {
    const request = (url.protocol === 'https:' ? requestTls : requestPlain)({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
      path: url.pathname.replace(/\/+$/, '') + path,
      agent: false,
      timeout: timeoutMs,
      headers: {
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
        'sec-websocket-protocol': protocol,
      },
      ...Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
    });
    request.once('timeout', () => request.destroy(new Error(`no answer in ${timeoutMs / 1_000} s`)));
    request.once('error', (error) => fail(new KubeError('KUBE_UNREACHABLE', subject, error.message, { cause: error })));
    request.once('response', (answer) => void refused(subject, answer).then(fail));
    request.once('upgrade', (answer, socket, head) => {
      const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
      const isRight = answer.headers['sec-websocket-accept'] === accept && answer.headers['sec-websocket-protocol'] === protocol;
      if (!isRight) {
        socket.destroy();
        fail(new KubeError('KUBE_PROTOCOL', subject, `the server does not speak ${protocol} over WebSocket`));
        return;
      }
      socket.setTimeout(0);
      done(new WebSocketClient(socket, head, events));
    });
    request.end();
  });
}

async function refused(subject: KubeSubject, answer: IncomingMessage): Promise<KubeError> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_FAILURE_BYTES) break;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  let body: StatusObject | string = text;
  try {
    body = JSON.parse(text) as StatusObject;
  } catch {
    // A proxy answers with a page.
  }
  return errorFromStatus(subject, answer.statusCode ?? 0, body);
}

export class WebSocketClient {
  readonly #socket: Duplex;
  readonly #events: WebSocketEvents;
  #held: Buffer = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #over = false;

  constructor(socket: Duplex, head: Buffer, events: WebSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(undefined));
    if (head.length > 0) queueMicrotask(() => this.#take(head));
  }

  /** @param sent called when the system has taken it */
  send(data: Buffer, sent?: () => void): void {
    this.#write(BINARY, data, sent);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    if (this.#over) return;
    this.#write(CLOSE, Buffer.from([0x03, 0xe8]));
    this.#end(undefined);
  }

  /** A client masks what it sends. */
  #write(opcode: number, data: Buffer, sent: () => void = () => undefined): void {
    const { length } = data;
    const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
    if (head.length === 4) head.writeUInt16BE(length, 2);
    else if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
    const mask = randomBytes(4);
    const masked = Buffer.from(data);
    for (let at = 0; at < length; at++) masked[at] = (masked[at] ?? 0) ^ (mask[at % 4] ?? 0);
    this.#socket.write(Buffer.concat([head, mask, masked]), sent);
  }

  #take(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (;;) {
      const held = this.#held;
      const [first = 0, second = 0] = held;
      if (this.#over || held.length < 2) return;
      const short = second & 0x7f;
      const start = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (held.length < start) return;
      const length = short === 126 ? held.readUInt16BE(2) : short === 127 ? Number(held.readBigUInt64BE(2)) : short;
      if (length > MOST_BYTES || (second & 0x80) !== 0) return this.#end(new Error('the server sent a frame that is not valid'));
      if (held.length < start + length) return;
      const data = held.subarray(start, start + length);
      this.#held = held.subarray(start + length);
      this.#frame(first & 0x0f, (first & 0x80) !== 0, data);
    }
  }

  #frame(opcode: number, isLast: boolean, data: Buffer): void {
    if (opcode === PING) return this.#write(PONG, data);
    if (opcode === PONG) return;
    if (opcode === CLOSE) {
      const code = data.length >= 2 ? data.readUInt16BE(0) : 1_000;
      const why = data.subarray(2).toString('utf8');
      return this.#end(code === 1_000 ? undefined : new Error(`the server closed the stream: ${code} ${why}`));
    }
    if (opcode !== 0 && opcode !== TEXT && opcode !== BINARY) return this.#end(new Error(`the server sent a frame of kind ${opcode}`));
    this.#fragments.push(data);
    if (!isLast) return;
    const message = Buffer.concat(this.#fragments);
    this.#fragments = [];
    this.#events.message(message);
  }

  #end(error: Error | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#socket.destroy();
    this.#events.closed(error);
  }
}
