/**
 * Clients that occupy connections, headers, bodies and time of the webhook's port: over real sockets, with an API server's reviews in
 * parallel.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { CertificateAuthority } from '../../certificates/authority.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { until } from '../../testing/until.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import { ALLOWED } from '../protocol/admission-result.ts';
import type { HeldConnection, Place } from '../testing/held-client.ts';
import { ask, headers, hold, lasting, review } from '../testing/held-client.ts';
import type { UnservedReason, WebhookLimits } from './webhook-server.ts';
import { WebhookServer } from './webhook-server.ts';

/** A loopback address other than the API server's. */
const STRANGER = '127.0.0.2';
const authority = new CertificateAuthority('ca', { from: Date.now() - 1_000, until: Date.now() + 3_600_000 });

class Served implements AsyncDisposable {
  readonly unserved: UnservedReason[] = [];
  readonly place: Place;
  readonly server: WebhookServer;

  private constructor(server: WebhookServer, unserved: UnservedReason[]) {
    this.server = server;
    this.unserved = unserved;
    this.place = { port: server.port, authority: authority.certificate };
  }

  static async start(
    limits: Partial<WebhookLimits>,
    review: (request: AdmissionRequest) => typeof ALLOWED = () => ALLOWED,
    log: Log = SILENT,
    now = (): number => performance.now(),
  ): Promise<Served> {
    const unserved: UnservedReason[] = [];
    const server = await WebhookServer.start({
      host: '127.0.0.1',
      port: 0,
      credential: authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['127.0.0.1'] }),
      review,
      log,
      limits,
      unserved: (why) => unserved.push(why),
      now,
    });
    return new Served(server, unserved);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

/**
 * Opens a connection and sends no TLS, or only these bytes.
 * @returns milliseconds until the server closed it
 */
async function mute(port: number, bytes?: Buffer): Promise<number> {
  const since = performance.now();
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      if (bytes !== undefined) socket.write(bytes);
    });
    socket.on('error', () => undefined).once('close', () => resolve(performance.now() - since));
    socket.resume();
  });
}

test('what a client does not finish is closed in time: the handshake, the headers, the first byte, a body, and one that comes drop by drop', async () => {
  await using served = await Served.start({ headerMs: 1_000, requestMs: 2_000 });
  const { place } = served;
  const drip = (socket: HeldConnection['socket'], byte: string): void => {
    const timer = setInterval(() => socket.write(byte), 50);
    socket.once('close', () => clearInterval(timer));
  };
  // A handshake record that announces 512 bytes and has none.
  const hello = Buffer.from([22, 3, 1, 2, 0]);
  const times = await Promise.all([
    mute(place.port),
    mute(place.port, hello),
    hold(place, () => undefined).closed,
    hold(place, (socket) => socket.write('POST /validate HTTP/1.1\r\nHost: w\r\n')).closed,
    hold(place, (socket) => {
      socket.write('POST /validate HTTP/1.1\r\nX: ');
      drip(socket, 'x');
    }).closed,
    hold(place, (socket) => socket.write(headers(1_000))).closed,
    hold(place, (socket) => {
      socket.write(headers(400_000));
      drip(socket, ' ');
    }).closed,
    hold(place, (socket) => {
      socket.write(headers(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked'));
      drip(socket, '1\r\n \r\n');
    }).closed,
    // The server answers before the body has arrived.
    hold(place, (socket) => {
      socket.write(headers(1_000_000).replace('/validate', '/elsewhere'));
      drip(socket, ' ');
    }).closed,
  ]);
  for (const [at, time] of times.entries()) assert.ok(time < 8_000, `client ${at} was closed after ${Math.round(time)} ms`);
  await until('nothing is held', () => served.server.holds.bodyBytes === 0 && served.server.holds.connections === 0);
  assert.equal((await ask(place)).status, 200);
});

test('endless headers are rejected at their limit', async () => {
  await using served = await Served.start({});
  const giant = hold(served.place, (socket) => socket.write(`POST /validate HTTP/1.1\r\nX-Much: ${'x'.repeat(1_000_000)}`));
  await giant.closed;
  assert.match(giant.received(), /^HTTP\/1\.1 431 /);
  const many = hold(served.place, (socket) =>
    socket.write(`POST /validate HTTP/1.1\r\n${Array.from({ length: 5_000 }, (_, at) => `X-${at}: 1\r\n`).join('')}`),
  );
  await many.closed;
  assert.match(many.received(), /^HTTP\/1\.1 431 /);
  assert.equal((await ask(served.place)).status, 200);
});

test('many connections of one client displace only its own, and the connection of an API server stays', async () => {
  await using served = await Served.start({ connections: 20 });
  const { place, server, unserved } = served;
  const agent = lasting('127.0.0.1');
  try {
    const port = async (): Promise<number> => {
      assert.equal((await ask(place, review(), { agent })).status, 200);
      const [[socket] = []] = Object.values(agent.freeSockets);
      return (socket as unknown as { localPort: number } | undefined)?.localPort ?? 0;
    };
    const first = await port();
    const held = Array.from({ length: 100 }, () => hold(place, (socket) => socket.write(headers(1_000)), STRANGER));
    await until('most of them were closed', () => unserved.filter((why) => why === 'room').length >= 80);
    assert.ok(server.holds.connections <= 20, `${server.holds.connections} connections`);
    assert.equal(await port(), first, 'the same connection');
    assert.equal((await ask(place)).status, 200, 'a new one is served as well');
    for (const { socket } of held) socket.destroy();
  } finally {
    agent.destroy();
  }
});

test('an address that makes connections without end is cut off before TLS is spoken, and others are not', async () => {
  await using served = await Served.start({ connectionsPerSecond: 5 });
  const held = Array.from({ length: 60 }, () => hold(served.place, () => undefined, STRANGER));
  await until('most of them were closed', () => served.unserved.filter((why) => why === 'rate').length >= 40);
  assert.equal((await ask(served.place)).status, 200);
  for (const { socket } of held) socket.destroy();
});

test('bodies beyond the common limit are dropped, first the oldest of the address with the most bytes', async () => {
  await using served = await Served.start({ bodies: 1_000_000, unknownBody: 2_000_000 });
  const { place, server } = served;
  const part = (bytes: number): ((socket: HeldConnection['socket']) => void) => {
    return (socket) => socket.write(headers(2_000_000) + ' '.repeat(bytes));
  };
  // Half of the total budget, from the address of the API server.
  const own = hold(place, part(200_000));
  await until('it is held', () => server.holds.bodyBytes > 200_000);
  const others = Array.from({ length: 12 }, () => hold(place, part(100_000), STRANGER));
  await until('some were given up', () => served.unserved.filter((why) => why === 'body').length >= 4);
  assert.ok(server.holds.bodyBytes <= 1_000_000);
  assert.equal(own.socket.destroyed, false);
  assert.equal((await ask(place, review({ pad: ' '.repeat(300_000) }))).status, 200);
  for (const { socket } of [own, ...others]) socket.destroy();
  await until('nothing is held', () => server.holds.bodyBytes === 0);
});

test('a body that arrives byte by byte takes its bytes, and not a buffer for each', async () => {
  await using served = await Served.start({});
  const client = hold(served.place, (socket) => {
    socket.write(headers(400_000));
    for (let at = 0; at < 20_000; at++) socket.write(' ');
  });
  await until('they have come', () => served.server.holds.bodyBytes >= 20_000);
  assert.ok(served.server.holds.bodyBytes <= 80_000, `${served.server.holds.bodyBytes} bytes`);
  client.socket.destroy();
});

test('an address with slow reviews gets rejections after a while, and no other address does', async () => {
  // The time of the validation itself, so that the result does not depend on the speed of the machine.
  let now = 0;
  const slow = (request: AdmissionRequest): typeof ALLOWED => {
    if (request.name === 'slow') now += 50;
    return ALLOWED;
  };
  await using served = await Served.start({ validationMs: { address: 20, all: 10_000 } }, slow, SILENT, () => now);
  const statuses: number[] = [];
  for (let times = 0; times < 8; times++)
    statuses.push((await ask(served.place, review({ name: 'slow' }), { localAddress: STRANGER })).status);
  // A burst of 100 ms, and each review takes a little over 50; meanwhile a millisecond is refilled.
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429]);
  assert.equal((await ask(served.place)).status, 200);
});

test('a request of many kilobytes writes a line of the log that is bounded, and no second one within a minute', async () => {
  const lines: string[] = [];
  const log: Log = { ...SILENT, error: (message, fields) => lines.push(JSON.stringify({ message, ...fields })) };
  const failing = ({ object }: AdmissionRequest): typeof ALLOWED => {
    throw new Error(`a bug: ${object?.metadata.name ?? ''}`);
  };
  await using served = await Served.start({}, failing, log);
  const long = 'n'.repeat(400_000);
  for (let times = 0; times < 3; times++) {
    const { status, body } = await ask(served.place, review({ object: { metadata: { name: long } } }));
    assert.deepEqual([status, body.length < 500], [200, true]);
  }
  assert.equal(lines.length, 1);
  assert.ok((lines[0] ?? '').length < 6_000, `${lines[0]?.length} characters`);
  assert.equal((await ask(served.place, review({ name: long }))).body, 'request.name is longer than 512 characters\n');
});

test('what a client writes comes back cut, and without a character that moves a cursor or turns the text round', async () => {
  await using served = await Served.start({}, ({ object }) => ({
    denials: [{ code: 'NotFound', field: 'spec', message: `there is no ${object?.metadata.name ?? ''}`, kind: 'invalid' }],
    warnings: [object?.metadata.name ?? ''],
  }));
  const odd = '\u001b]0;title\u0007\r\nforged line\u202egnol\u009b31m';
  const short = await ask(served.place, review({ object: { metadata: { name: odd } } }));
  const { response } = JSON.parse(short.body) as { response: { status: { message: string }; warnings: string[] } };
  assert.equal(response.status.message, String.raw`there is no \u001b]0;title\u0007\r\nforged line\u202egnol\u009b31m`);
  assert.doesNotMatch(response.warnings.join(''), /[^ -~]/);
  const long = await ask(served.place, review({ object: { metadata: { name: `${odd}${'x'.repeat(400_000)}` } } }));
  assert.ok(long.body.length < 8_000, `${long.body.length} characters`);
});

test('connections of many addresses yield before those of an API server that has more of them', async () => {
  await using served = await Served.start({ connections: 20 });
  const { place, unserved } = served;
  const agents = Array.from({ length: 5 }, () => lasting('127.0.0.1'));
  try {
    await Promise.all(agents.map((agent) => ask(place, review(), { agent })));
    const held = Array.from({ length: 60 }, (_, at) => hold(place, (socket) => socket.write(headers(1_000)), `127.0.1.${at + 1}`));
    await until('some were closed', () => unserved.filter((why) => why === 'room').length >= 40);
    for (const agent of agents) {
      const [[socket] = []] = Object.values(agent.freeSockets);
      assert.equal(socket?.destroyed, false);
      assert.equal((await ask(place, review(), { agent })).status, 200);
    }
    for (const { socket } of held) socket.destroy();
  } finally {
    for (const agent of agents) agent.destroy();
  }
});
