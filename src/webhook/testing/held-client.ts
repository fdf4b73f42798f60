/** Malicious clients of the webhook's port, and one that sends requests as an API server does. */
import type { RequestOptions } from 'node:https';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';

export interface Place {
  readonly port: number;
  /** PEM of the authority of the server's certificate. */
  readonly authority: string;
}

export function review(more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'review',
      kind: { group: 'kubeovn.io', version: 'v1', kind: 'Subnet' },
      resource: { group: 'kubeovn.io', version: 'v1', resource: 'subnets' },
      name: 's',
      operation: 'CREATE',
      object: { metadata: { name: 's' }, spec: {} },
      ...more,
    },
  });
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends one request, over a new connection if no agent is given. Rejects if there is no answer. */
export async function ask({ port, authority }: Place, body = review(), options: RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path: '/validate?timeout=3s',
        method: 'POST',
        ca: authority,
        headers: { 'content-type': 'application/json' },
        agent: false,
        ...options,
      },
      (answer) => {
        let text = '';
        answer.on('data', (piece: Buffer) => (text += piece.toString()));
        answer.once('error', reject);
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** An agent with one connection that stays open. */
export function lasting(localAddress: string): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1, localAddress });
}

export function headers(bytes: number): string {
  return `POST /validate HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
}

/** A connection that the client holds; the server closes it, or `destroy`. */
export interface HeldConnection {
  readonly socket: TLSSocket;
  /** Milliseconds from the beginning of the connection until the server closed it. */
  readonly closed: Promise<number>;
  /** The bytes that the server sent. */
  readonly received: () => string;
}

/** @param begin is called after the TLS handshake */
export function hold({ port, authority }: Place, begin: (socket: TLSSocket) => void, localAddress = '127.0.0.1'): HeldConnection {
  const since = performance.now();
  let received = '';
  const options = { host: '127.0.0.1', port, ca: authority, localAddress };
  const socket = connect(options, () => begin(socket));
  socket.on('error', () => undefined).on('data', (piece: Buffer) => (received += piece.toString()));
  const closed = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now() - since)));
  return { socket, closed, received: () => received };
}

/** Writes this many bytes of white space as fast as the server reads them. */
export function pour(socket: TLSSocket, bytes: number): void {
  const piece = Buffer.alloc(64 * 1024, ' ');
  let left = bytes;
  const go = (): void => {
    while (left > 0 && !socket.destroyed) {
      const next = piece.subarray(0, left);
      left -= next.length;
      if (!socket.write(next)) {
        socket.once('drain', go);
        return;
      }
    }
  };
  go();
}
