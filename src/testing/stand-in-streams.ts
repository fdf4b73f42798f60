/**
 * What a kubelet serves of streams into OVN's pod, by the frames of RFC 6455 and the channels of Kubernetes: a port (here a socket of this machine), and
 * `ovsdb-client` as a command.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

export interface StreamsOptions {
  /** The socket of the database. */
  readonly socket: () => string;
  /** What is refused, as an account without the right gets it. */
  readonly forbidden: ReadonlySet<string>;
  /** Called with each stream that is opened. */
  readonly onStream: (kind: string) => void;
}

export function standInStreams({ socket: path, forbidden, onStream }: StreamsOptions): (request: IncomingMessage, socket: Duplex) => void {
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
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key'] ?? ''}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: v4.channel.k8s.io\r\n\r\n`,
    );
    stream.on('error', () => undefined);
    if (kind === 'portforward') forward(stream, path());
    else execute(stream, url.searchParams.getAll('command'), path());
  };
}

function forward(stream: Duplex, path: string): void {
  for (const channel of [0, 1]) stream.write(frame(Buffer.from([channel, 0xf1, 0x19])));
  const database = connect(path);
  database.on('data', (chunk) => stream.write(frame(Buffer.concat([Buffer.from([0]), chunk]))));
  database.on('close', () => stream.destroy());
  stream.on('close', () => database.destroy());
  stream.on(
    'data',
    reader((data) => database.write(data.subarray(1))),
  );
}

function execute(stream: Duplex, [program = '', ...words]: readonly string[], path: string): void {
  const child = spawn(
    program,
    words.map((word) => (word.startsWith('unix:') ? `unix:${path}` : word)),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  child.stdout.on('data', (chunk: Buffer) => stream.write(frame(Buffer.concat([Buffer.from([1]), chunk]))));
  child.stderr.on('data', (chunk: Buffer) => stream.write(frame(Buffer.concat([Buffer.from([2]), chunk]))));
  child.on('close', (code) => {
    const status = code === 0 ? { status: 'Success' } : { status: 'Failure', message: `command terminated with exit code ${code ?? ''}` };
    stream.end(frame(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify(status))])));
  });
  stream.on('data', () => undefined);
}

function frame(data: Buffer): Buffer {
  const { length } = data;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x82;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  else if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, data]);
}

/** Reads what a client sends, which is masked. */
function reader(take: (data: Buffer) => void): (chunk: Buffer) => void {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      if (held.length < 6) return;
      const short = (held[1] ?? 0) & 0x7f;
      const start = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (held.length < start + 4) return;
      const length = short === 126 ? held.readUInt16BE(2) : short === 127 ? Number(held.readBigUInt64BE(2)) : short;
      if (held.length < start + 4 + length) return;
      const mask = held.subarray(start, start + 4);
      const data = Buffer.from(held.subarray(start + 4, start + 4 + length));
      for (let at = 0; at < length; at++) data[at] = (data[at] ?? 0) ^ (mask[at % 4] ?? 0);
      const isData = ((held[0] ?? 0) & 0x0f) === 2;
      held = held.subarray(start + 4 + length);
      if (isData) take(data);
    }
  };
}
