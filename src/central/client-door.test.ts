import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { SILENT } from '../runtime/log.ts';
import { until } from '../testing/until.ts';
import { ClientDoor } from './client-door.ts';
import { makeKeys, type Material } from './keys.ts';

const KEYS = makeKeys(Date.now());
const DOOR = {
  key: KEYS.members['sb-key'] ?? '',
  certificate: KEYS.members['sb-cert'] ?? '',
  authorities: KEYS.members['sb-cacert'] ?? '',
  central: KEYS.members['nb-cacert'] ?? '',
};
const NORTHD = { key: KEYS.members['northd-key'] ?? '', cert: KEYS.members['northd-cert'] ?? '' };
const ECHO = '{"id":1,"method":"echo","params":[]}';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

interface Scene {
  readonly port: number;
  readonly door: ClientDoor;
  /** What the database got, of all clients. */
  readonly got: () => string;
  readonly database: Database;
}

/** Sends back what it gets. */
class Database {
  readonly #path: string;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  got = '';

  constructor(path: string) {
    this.#path = path;
  }

  async start(): Promise<void> {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        this.got += chunk.toString('latin1');
        socket.write(chunk);
      });
    }).listen(this.#path);
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    if (this.#server?.listening === true) await once(this.#server.close(), 'close');
  }
}

async function scene(t: TestContext): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-door-'));
  const socket = join(directory, 'db.sock');
  const database = new Database(socket);
  await database.start();
  const port = await freePort();
  const door = new ClientDoor({ schema: 'OVN_Southbound', address: '127.0.0.1', port, socket, log: SILENT });
  t.after(async () => {
    door.close();
    await database.stop();
    await rm(directory, { recursive: true, force: true });
  });
  door.open(DOOR);
  await until('it is open', () => door.problem === undefined);
  return { port, door, database, got: () => database.got };
}

/** A client that takes every server for what it says it is. */
function client(
  port: number,
  { key = '', cert = '' }: Material,
): { readonly socket: TLSSocket; readonly got: () => string; readonly ended: () => boolean } {
  const socket = connect({ port, host: '127.0.0.1', key, cert, rejectUnauthorized: false });
  let [got, ended] = ['', false];
  socket.on('data', (chunk: Buffer) => (got += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.on('close', () => (ended = true));
  return { socket, got: () => got, ended: () => ended };
}

test('what a client and a database say passes unchanged, also much at once', async (t) => {
  const { port, got } = await scene(t);
  const { socket, got: back } = client(port, KEYS.nodes);
  const large = JSON.stringify({ id: 2, method: 'transact', params: ['é'.repeat(3_000_000)] });
  const bytes = Buffer.from(ECHO + large);
  socket.write(bytes);
  await until('all came back', () => back().length === bytes.length);
  assert.equal(got(), bytes.toString('latin1'));
  assert.equal(back(), bytes.toString('latin1'));
  socket.destroy();
});

test('who has no certificate of its authorities gets no byte through', async (t) => {
  const { port, got } = await scene(t);
  const other = makeKeys(Date.now());
  for (const keys of [{}, other.nodes, other.controller, other.cluster, KEYS.cluster]) {
    const { socket, ended, got: back } = client(port, keys);
    socket.write(ECHO);
    await until('it is cut off', ended);
    assert.equal(back(), '');
  }
  assert.equal(got(), '');
});

test('a client that asks for what it may not is cut off, and the database gets no whole request; the others stay', async (t) => {
  const { port, got } = await scene(t);
  const other = client(port, KEYS.nodes);
  other.socket.write(ECHO);
  await until('it is served', () => other.got() === ECHO);
  for (const [keys, method] of [
    [KEYS.nodes, 'convert'],
    [KEYS.nodes, 'steal'],
    [NORTHD, 'convert'],
  ] as const) {
    const { socket, ended } = client(port, keys);
    socket.write(`{"id":1,"params":[],"method":"${method}"`);
    socket.write('}');
    await until(`${method} ends it`, ended);
  }
  const northd = client(port, NORTHD);
  northd.socket.write('{"id":1,"method":"steal","params":["ovn_northd"]}');
  await until('northd takes its lock', () => northd.got().endsWith('}'));
  assert.doesNotMatch(got(), /convert/);
  assert.ok(!other.ended() && !northd.ended());
  for (const { socket } of [other, northd]) socket.destroy();
});

test('clients are cut off when the database ends, and served again when it is back', async (t) => {
  const { port, database } = await scene(t);
  const first = client(port, KEYS.nodes);
  first.socket.write(ECHO);
  await until('it is served', () => first.got() === ECHO);
  await database.stop();
  await until('it is cut off', first.ended);
  const meanwhile = client(port, KEYS.nodes);
  await until('nobody is held', meanwhile.ended);
  await database.start();
  const again = client(port, KEYS.nodes);
  again.socket.write(ECHO);
  await until('it is served again', () => again.got() === ECHO);
  again.socket.destroy();
});

test('a port that is taken is told, and opened once it is free; an end of the member ends its clients', async (t) => {
  const { port, door } = await scene(t);
  const open = [client(port, KEYS.nodes), client(port, KEYS.nodes)] as const;
  open[0].socket.write(ECHO);
  await until('it is served', () => open[0].got() === ECHO);
  // A handshake is under way.
  const later = client(port, KEYS.nodes);
  await once(later.socket, 'secureConnect');
  door.close();
  for (const { ended } of [...open, later]) await until('its client is cut off', ended);
  const earlier = createServer().listen(port, '0.0.0.0');
  await once(earlier, 'listening');
  door.open(DOOR);
  await until('the reason is told', () => /EADDRINUSE/.test(door.problem ?? ''));
  await once(earlier.close(), 'close');
  door.open(DOOR);
  await until('it is open', () => door.problem === undefined);
});
