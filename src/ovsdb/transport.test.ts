import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { insert, newUuid, OvsdbSession, type TlsMaterial } from './index.ts';
import { readTlsFiles, TestAuthority } from './testing/certificates.ts';
import { ManualClock } from '../timing/testing/manual-clock.ts';
import { commit, openSession } from './testing/open-session.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';

let authority: TestAuthority;
let server: OvsdbServerProcess;
let tls: TlsMaterial;
before(async () => {
  authority = await TestAuthority.create();
  server = await OvsdbServerProcess.start({ tcp: true, ssl: await authority.issue('server') });
  tls = await readTlsFiles(await authority.issue('client'));
});
after(async () => {
  await server.stop();
  await authority.remove();
});

test('unix, tcp and ssl endpoints lead to the same database', async (t) => {
  const sessions = [server.unix, server.tcp, server.ssl].map((endpoint) => openSession(t, [endpoint], { tls }).session);
  await Promise.all(sessions.map((session) => session.untilSynced()));
  for (const session of sessions) {
    const uuid = newUuid();
    await commit(session, [insert('Logical_Switch', { name: session.endpoint }, uuid)]);
    await until('all have the row', () => sessions.every((each) => each.replica.table('Logical_Switch').has(uuid)));
  }
});

test('an IPv6 address stands in brackets', async (t) => {
  const relay = createServer((client) => {
    const upstream = connect(server.unix.slice('unix:'.length));
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '::1', resolve));
  t.after(() => relay.close());
  const { session } = openSession(t, [`tcp:[::1]:${(relay.address() as AddressInfo).port}`]);
  await session.untilSynced();
});

test('the client rejects a server of another authority', async (t) => {
  const other = await TestAuthority.create();
  t.after(() => other.remove());
  const stranger = await readTlsFiles(await other.issue('client'));
  const { session, errors } = openSession(t, [server.ssl], { tls: { ...tls, ca: stranger.ca } });
  await until('the attempt failed', () => errors.length > 0);
  assert.equal(errors[0]!.code, 'OVSDB_CONNECT_FAILED');
  assert.equal(session.replica.status, 'never-synced');
});

test('the server rejects a client of another authority', async (t) => {
  const other = await TestAuthority.create();
  t.after(() => other.remove());
  const stranger = await readTlsFiles(await other.issue('client'));
  const { session, errors } = openSession(t, [server.ssl], { tls: { ...stranger, ca: tls.ca } });
  await until('the attempt failed', () => errors.length > 0);
  assert.equal(errors[0]!.code, 'OVSDB_CONNECT_FAILED');
  assert.match(
    errors[0]!.message,
    /^ssl:\S+: the server does not accept the client's certificate: TLS alert "(unknown ca|decrypt error)"$/,
  );
  assert.equal(session.replica.status, 'never-synced');
});

test('the host name is checked with verifyHostname', async (t) => {
  const { errors } = openSession(t, [server.ssl], { tls: { ...tls, verifyHostname: true } });
  await until('the attempt failed', () => errors.length > 0);
  assert.equal(errors[0]!.code, 'OVSDB_CONNECT_FAILED');
});

test('certificates are read at each connection', async (t) => {
  let asked = 0;
  const { session } = openSession(t, [server.ssl], { tls: () => (asked++, tls) });
  await session.untilSynced();
  await server.kill();
  await until('the loss is seen', () => session.state === 'stale');
  await server.restart();
  await session.untilSynced();
  assert.ok(asked >= 2);
});

test('an endpoint that accepts and sends nothing is given up after connectTimeoutMs', async (t) => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const { errors, session } = openSession(t, [`ssl:127.0.0.1:${(silent.address() as AddressInfo).port}`], { tls, connectTimeoutMs: 50 });
  await until('the attempt failed', () => errors.length > 0);
  assert.equal(errors[0]!.code, 'OVSDB_CONNECT_TIMEOUT');
  await session.close();
});

test('the session takes its clock and random numbers from its options', () => {
  const clock = new ManualClock();
  const session = new OvsdbSession({
    endpoints: ['unix:/nonexistent/a'],
    database: 'X',
    tables: {},
    clock,
    random: () => 0,
  });
  session.start();
  assert.equal(clock.timers, 1);
  clock.advance(5_000);
  assert.equal(session.state, 'connecting');
  void session.close();
  assert.equal(clock.timers, 0);
});

test('options that cannot work are rejected at once', () => {
  const rest = { database: 'X', tables: {} };
  assert.throws(() => new OvsdbSession({ endpoints: [], ...rest }), { code: 'OVSDB_BAD_OPTION' });
  assert.throws(() => new OvsdbSession({ endpoints: ['ssl:a:1'], ...rest }), { code: 'OVSDB_BAD_OPTION' });
  assert.throws(() => new OvsdbSession({ endpoints: ['http://a'], ...rest }), { code: 'OVSDB_BAD_ENDPOINT' });
});
