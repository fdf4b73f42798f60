/** A connection to a port of a pod, as `kubectl port-forward` makes it, as a stream. */
import { Duplex } from 'node:stream';
import type { Connection } from '../transport/connection.ts';
import type { WebSocketClient } from './web-socket.ts';
import { openWebSocket } from './web-socket.ts';

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

export const CHANNELS = 'v4.channel.k8s.io';
const DATA = 0;
const ERROR = 1;

/** @throws KubeError if the API server or the kubelet refuses it: `create` and `get` of `pods/portforward` are needed */
export async function openPodPort(connection: Connection, { namespace, name }: PodName, port: number, timeoutMs: number): Promise<Duplex> {
  const stream = new PodPort();
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/portforward?ports=${port}`;
  const socket = await openWebSocket({
    ...{ connection, path, timeoutMs, protocol: CHANNELS },
    subject: { verb: 'port-forward', resource: 'pods/portforward', namespace, name },
    events: { message: (data) => stream.received(data), closed: (error) => stream.ended(error) },
  });
  stream.begin(socket);
  return stream;
}

class PodPort extends Duplex {
  #socket: WebSocketClient | undefined;
  /** Channels that have told their port number, which comes first in each. */
  readonly #begun = new Set<number>();

  begin(socket: WebSocketClient): void {
    this.#socket = socket;
  }

  received(data: Buffer): void {
    const [channel = -1] = data;
    if (!this.#begun.has(channel)) {
      this.#begun.add(channel);
      return;
    }
    const rest = data.subarray(1);
    if (channel === ERROR && rest.length > 0) this.destroy(new Error(`the kubelet: ${rest.toString('utf8').trim()}`));
    else if (channel === DATA && rest.length > 0 && !this.push(rest)) this.#socket?.pause();
  }

  ended(error: Error | undefined): void {
    if (error !== undefined) this.destroy(error);
    else this.push(null);
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error) => void): void {
    if (this.#socket === undefined) return done(new Error('the stream is not open'));
    this.#socket.send(Buffer.concat([Buffer.from([DATA]), chunk]), () => done());
  }

  override _final(done: () => void): void {
    this.#socket?.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket?.close();
    done(error);
  }
}
