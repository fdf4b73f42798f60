/** What a kubelet serves of streams into OVN's pod, by the channels of Kubernetes: a port (here a socket of this machine), and `ovsdb-client` as a command. */
import { spawn } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

export interface StreamsOptions {
  /** The socket of the database. */
  readonly socket: () => string;
  /** What is refused, as an account without the right gets it. */
  readonly forbidden: ReadonlySet<string>;
  /** Called with each stream that is opened. */
  readonly onStream: (kind: string) => void;
}

export function standInStreams({ socket: path, forbidden, onStream }: StreamsOptions): (request: IncomingMessage, socket: Duplex) => void {
  const server = new WebSocketServer({ noServer: true, handleProtocols: () => 'v4.channel.k8s.io' });
  return (request, stream) => {
    const url = new URL(request.url ?? '/', 'https://lab');
    const kind = url.pathname.split('/').at(-1) ?? '';
    if (forbidden.has(kind)) {
      const body = JSON.stringify({
        kind: 'Status',
        status: 'Failure',
        reason: 'Forbidden',
        code: 403,
        message: `pods/${kind} is forbidden`,
      });
      stream.end(
        `HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      );
      return;
    }
    onStream(kind);
    server.handleUpgrade(request, stream, Buffer.alloc(0), (socket) => {
      socket.on('error', () => undefined);
      if (kind === 'portforward') forward(socket, path());
      else execute(socket, url.searchParams.getAll('command'), path());
    });
  };
}

function channel(number: number, data: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from([number]), Buffer.from(data)]);
}

function forward(socket: WebSocket, path: string): void {
  // Each channel begins with the number of the port.
  for (const number of [0, 1]) socket.send(channel(number, Buffer.from([0xf1, 0x19])));
  const database = connect(path);
  database.on('data', (chunk) => socket.send(channel(0, chunk)));
  database.on('close', () => socket.terminate());
  socket.on('close', () => database.destroy());
  socket.on('message', (data) => database.write((data as Buffer).subarray(1)));
}

function execute(socket: WebSocket, [program = '', ...words]: readonly string[], path: string): void {
  const child = spawn(
    program,
    words.map((word) => (word.startsWith('unix:') ? `unix:${path}` : word)),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  child.stdout.on('data', (chunk: Buffer) => socket.send(channel(1, chunk)));
  child.stderr.on('data', (chunk: Buffer) => socket.send(channel(2, chunk)));
  child.on('close', (code) => {
    const status = code === 0 ? { status: 'Success' } : { status: 'Failure', message: `command terminated with exit code ${code ?? ''}` };
    socket.send(channel(3, JSON.stringify(status)));
    socket.close(1_000);
  });
}
