/**
 * A WebSocket to the API server: binary messages, over the connection and credentials of a kubeconfig. Undici's has neither the status of a
 * refused request, which names the missing right, nor back-pressure; that of `ws` has both.
 */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { KubeSubject, StatusObject } from '../errors.ts';
import { errorFromStatus, KubeError } from '../errors.ts';
import type { Connection } from '../transport/connection.ts';

export interface WebSocketEvents {
  /** A whole message. */
  message(data: Buffer): void;
  /** Called once; an error unless the peer closed it. */
  closed(error: Error | undefined): void;
}

/** A kubelet sends chunks of some kilobytes. */
const MOST_BYTES = 64 * 1_024 * 1_024;
const MOST_FAILURE_BYTES = 64 * 1_024;
/** RFC 6455 section 7.4.1: the purpose is fulfilled. */
const NORMAL = 1_000;
/** The same section: the peer closed it without a code, or only the connection ended. */
const WITHOUT_CODE: ReadonlySet<number> = new Set([1_005, 1_006]);

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
  const socket = new WebSocket(
    `${url.protocol === 'https:' ? 'wss:' : 'ws:'}//${url.host}${url.pathname.replace(/\/+$/, '')}${path}`,
    [protocol],
    {
      ...{ headers, handshakeTimeout: timeoutMs, maxPayload: MOST_BYTES, perMessageDeflate: false },
      ...Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
    },
  );
  const client = new WebSocketClient(socket, events);
  return await new Promise((done, fail) => {
    socket.once('open', () => done(client));
    socket.once('unexpected-response', (request, answer: IncomingMessage) => {
      void refused(subject, answer).then((error) => {
        fail(error);
        request.destroy();
      });
    });
    socket.once('error', (error) => fail(new KubeError('KUBE_UNREACHABLE', subject, error.message, { cause: error })));
  });
}

async function refused(subject: KubeSubject, answer: IncomingMessage): Promise<KubeError> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_FAILURE_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    // The status line alone says enough.
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
  readonly #socket: WebSocket;
  readonly #events: WebSocketEvents;
  #over = false;

  constructor(socket: WebSocket, events: WebSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    // One Buffer each, as the binary type of `ws` is by default.
    socket.on('message', (data) => this.#over || events.message(data as Buffer));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', (code, reason) =>
      this.#end(
        code === NORMAL || WITHOUT_CODE.has(code)
          ? undefined
          : new Error(`the server closed the stream: ${code} ${reason.toString('utf8')}`),
      ),
    );
  }

  /** @param sent called when the system has taken it */
  send(data: Buffer, sent?: () => void): void {
    this.#socket.send(data, () => sent?.());
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Does not wait for the peer. */
  close(): void {
    if (this.#over) return;
    this.#socket.close(NORMAL);
    this.#end(undefined);
  }

  #end(error: Error | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#socket.terminate();
    this.#events.closed(error);
  }
}
