import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteRows, insert, mapSet, newUuid, update, type OvsdbErrorCode } from './index.ts';
import { commit, openSession } from './testing/open-session.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { TamperingProxy } from './testing/tampering-proxy.ts';

test('a server killed with -9 and started again: stale meanwhile, then as before', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const { session, batches, errors } = openSession(t, [server.unix]);
  await session.untilSynced();
  const uuid = newUuid();
  await commit(session, [insert('Logical_Switch', { name: 'kept', external_ids: { a: '1' } }, uuid)]);
  const row = session.replica.table('Logical_Switch').get(uuid);
  batches.length = 0;

  await server.kill();
  await until('the loss is seen', () => session.state === 'stale');
  assert.equal(session.replica.status, 'stale');
  assert.equal(session.replica.table('Logical_Switch').size, 1, 'a stale replica stays readable');
  const failed = await session.transact([insert('Logical_Switch', { name: 'lost' })]);
  assert.ok(!failed.ok);
  assert.deepEqual([failed.error.code, failed.error.outcome], ['OVSDB_DISCONNECTED', 'not-sent']);

  await server.restart();
  await session.untilSynced();
  assert.deepEqual([session.generation, session.replica.status], [2, 'synced']);
  assert.deepEqual(batches, [], 'a server that holds the same brings no change');
  assert.equal(session.replica.table('Logical_Switch').get(uuid), row);
  // A server that has just started answers requests before it lists its databases.
  const expected: OvsdbErrorCode[] = ['OVSDB_DISCONNECTED', 'OVSDB_CONNECT_FAILED', 'OVSDB_NO_DATABASE'];
  assert.deepEqual(
    errors.filter(({ code }) => !expected.includes(code)),
    [],
  );
});

test('what changed while the session was away comes as one batch of true differences', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session } = openSession(t, [server.unix]);
  const { session: away, batches } = openSession(t, [proxy.endpoint]);
  const byName = away.replica.index('Logical_Switch', 'name', (row) => row['name'] as string);
  await Promise.all([session.untilSynced(), away.untilSynced()]);
  const [kept, changed, removed, added] = [newUuid(), newUuid(), newUuid(), newUuid()];
  await commit(session, [
    insert('Logical_Switch', { name: 'kept', external_ids: { a: '1' } }, kept),
    insert('Logical_Switch', { name: 'changed', external_ids: { a: '1', b: '2' } }, changed),
    insert('Logical_Switch', { name: 'removed' }, removed),
  ]);
  await until('the rows have come', () => away.replica.table('Logical_Switch').size === 3);

  batches.length = 0;
  proxy.onServerMessage = () => 'disconnect';
  proxy.disconnectAll();
  await until('the loss is seen', () => away.state === 'stale');
  await commit(session, [
    update('Logical_Switch', changed, { name: 'renamed' }),
    mapSet('Logical_Switch', changed, 'external_ids', { b: '3', c: '4' }),
    deleteRows('Logical_Switch', removed),
    insert('Logical_Switch', { name: 'added' }, added),
  ]);
  assert.ok(away.replica.table('Logical_Switch').has(removed));
  proxy.onServerMessage = () => 'pass';
  await away.untilSynced();

  assert.equal(batches.length, 1);
  const ids = {
    added: new Map([
      ['b', '3'],
      ['c', '4'],
    ]),
    removed: new Map([['b', '2']]),
  };
  assert.deepEqual(
    new Map(batches[0]!.map(({ uuid, kind, changed: columns }) => [uuid, [kind, columns]])),
    new Map<string, unknown>([
      [removed, ['delete', undefined]],
      [added, ['insert', undefined]],
      [
        changed,
        [
          'modify',
          new Map<string, unknown>([
            ['external_ids', ids],
            ['name', { before: 'changed' }],
          ]),
        ],
      ],
    ]),
  );
  assert.equal(byName.first('renamed')!._uuid, changed);
  assert.deepEqual(away.replica.table('Logical_Switch'), session.replica.table('Logical_Switch'));
});

test('a replica that never synced stays never-synced while the server is away', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  await server.kill();
  const { session, errors } = openSession(t, [server.unix]);
  await until('some attempts failed', () => errors.length > 3);
  assert.deepEqual([session.state, session.replica.status, session.generation], ['connecting', 'never-synced', 0]);
  assert.equal(errors[0]!.code, 'OVSDB_CONNECT_FAILED');
  assert.equal(errors[0]!.endpoint, server.unix);
  await server.restart();
  await session.untilSynced();
  assert.deepEqual([session.replica.status, session.generation], ['synced', 1]);
});

test('the probe finds a server that sends and reads nothing; the transaction ends as unknown', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session, errors } = openSession(t, [proxy.endpoint], { probeIntervalMs: 1_000 });
  await session.untilSynced();
  errors.length = 0;
  proxy.onClientMessage = () => 'swallow';
  const talking = setInterval(() => proxy.inject('{"id":"echo","method":"echo","params":[]}'), 50);
  t.after(() => clearInterval(talking));
  const outcome = await session.transact([insert('Logical_Switch', { name: 'swallowed' })]);
  assert.ok(!outcome.ok);
  assert.deepEqual([outcome.error.code, outcome.error.outcome], ['OVSDB_DISCONNECTED', 'unknown']);
  assert.match(errors[0]?.message ?? '', /the server sent, and answered nothing, for \d+ ms/);
  proxy.onClientMessage = () => 'pass';
  await session.untilSynced();
  await commit(session, [insert('Logical_Switch', { name: 'arrives' })]);
});

test('a stopped server (SIGSTOP) is found by the probe; open transactions end as unknown', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const { session, errors } = openSession(t, [server.unix], { probeIntervalMs: 1_000 });
  await session.untilSynced();
  errors.length = 0;
  server.pause();
  const outcome = await session.transact([insert('Logical_Switch', { name: 'unknown' })]);
  assert.ok(!outcome.ok);
  assert.deepEqual([outcome.error.code, outcome.error.outcome], ['OVSDB_DISCONNECTED', 'unknown']);
  assert.equal(errors[0]!.code, 'OVSDB_PROBE_TIMEOUT');
  server.resume();
  await session.untilSynced();
});

test('an idle connection to a living server is kept by echoes of both sides', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session, errors } = openSession(t, [proxy.endpoint], { probeIntervalMs: 4_000 });
  await session.untilSynced();
  await until('some echoes were sent', () => proxy.fromClient.filter(({ method }) => method === 'echo').length >= 3);
  proxy.inject('{"id":"echo","method":"echo","params":["anyone?"]}');
  await until('the echo is answered', () =>
    proxy.fromClient.some(({ id, result }) => id === 'echo' && JSON.stringify(result) === '["anyone?"]'),
  );
  assert.deepEqual([session.state, errors], ['synced', []]);
});

const broken: readonly [what: string, bytes: string | Buffer, code: OvsdbErrorCode][] = [
  ['bytes that are not JSON', 'HTTP/1.1 400 Bad Request\r\n', 'OVSDB_BROKEN_STREAM'],
  ['a message of brackets that do not match', '{"method":["a"}}', 'OVSDB_BROKEN_STREAM'],
  ['a message without end', Buffer.alloc(3_000_000, '{"a":"'), 'OVSDB_MESSAGE_TOO_LARGE'],
  ['a reply without a request', '{"id":987654,"result":{},"error":null}', 'OVSDB_PROTOCOL'],
  [
    'an update of a table that is not monitored',
    '{"id":null,"method":"update2","params":["replica",{"NAT":{"u":{"insert":{}}}}]}',
    'OVSDB_PROTOCOL',
  ],
  [
    'a value of another type',
    '{"id":null,"method":"update2","params":["replica",{"Logical_Switch":{"u":{"insert":{"name":1}}}}]}',
    'OVSDB_BAD_VALUE',
  ],
  [
    'a change of a row that is not there',
    '{"id":null,"method":"update2","params":["replica",{"Logical_Switch":{"u":{"modify":{"name":"x"}}}}]}',
    'OVSDB_INCONSISTENT',
  ],
  ['the end of the monitor', '{"id":null,"method":"monitor_canceled","params":["replica"]}', 'OVSDB_MONITOR_CANCELED'],
];
for (const [what, bytes, code] of broken) {
  test(`${what}: ${code}, and a reconnect`, async (t) => {
    const server = await OvsdbServerProcess.start();
    t.after(() => server.stop());
    const proxy = await TamperingProxy.start(server.unix);
    t.after(() => proxy.stop());
    const { session, errors } = openSession(t, [proxy.endpoint], { maxMessageBytes: 2_000_000 });
    await session.untilSynced();
    proxy.inject(bytes);
    await until('the session has synced again', () => session.generation === 2);
    assert.deepEqual(
      errors.map((error) => error.code),
      [code],
    );
    await commit(session, [insert('Logical_Switch', { name: 'well again' })]);
  });
}

test('an update that fits only in part is undone by the next sync, and listeners get both changes', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session, batches } = openSession(t, [proxy.endpoint]);
  await session.untilSynced();
  const ghost = newUuid();
  proxy.inject(
    JSON.stringify({
      id: null,
      method: 'update2',
      params: ['replica', { Logical_Switch: { [ghost]: { insert: { name: 'ghost' } }, none: { modify: {} } } }],
    }),
  );
  await until('the session has synced again', () => session.generation === 2);
  assert.deepEqual(
    batches.map((batch) => batch.map(({ kind, uuid }) => [kind, uuid])),
    [[['insert', ghost]], [['delete', ghost]]],
  );
});

test('a connection lost with the reply: outcome unknown, and the insert cannot be doubled', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session } = openSession(t, [proxy.endpoint]);
  await session.untilSynced();
  const uuid = newUuid();
  const operations = [insert('Logical_Switch', { name: 'once' }, uuid)];
  proxy.onServerMessage = ({ method, result }) => (method === undefined && Array.isArray(result) ? 'disconnect' : 'pass');
  const lost = await session.transact(operations);
  assert.ok(!lost.ok);
  assert.equal(lost.error.outcome, 'unknown');
  proxy.onServerMessage = () => 'pass';
  await session.untilSynced();
  assert.ok(session.replica.table('Logical_Switch').has(uuid), 'the replica says that it was carried out');
  const again = await session.transact(operations);
  assert.equal(!again.ok && again.error.code, 'OVSDB_DUPLICATE_UUID');
});

test('an endpoint that is down costs one attempt; the next one is tried at once', async (t) => {
  const server = await OvsdbServerProcess.start({ tcp: true });
  t.after(() => server.stop());
  const { session, errors } = openSession(t, ['unix:/nonexistent/a', 'tcp:127.0.0.1:1', server.tcp], {
    backoff: { baseMs: 60_000, maxMs: 60_000 },
  });
  await session.untilSynced();
  assert.deepEqual(
    errors.map(({ code, endpoint }) => [code, endpoint]),
    [
      ['OVSDB_CONNECT_FAILED', 'unix:/nonexistent/a'],
      ['OVSDB_CONNECT_FAILED', 'tcp:127.0.0.1:1'],
    ],
  );
  assert.equal(session.endpoint, server.tcp);
});

test('a database that is removed from the server and added again', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const { session, errors } = openSession(t, [server.unix]);
  await session.untilSynced();
  await commit(session, [insert('Logical_Switch', { name: 'there' })]);
  await server.appctl('ovsdb-server/remove-db', 'OVN_Northbound');
  await until('the session reports it', () => errors.some(({ code }) => code === 'OVSDB_NO_DATABASE'));
  assert.equal(session.replica.status, 'stale');
  assert.equal(session.replica.table('Logical_Switch').size, 1);
  await server.appctl('ovsdb-server/add-db', `${server.directory}/db.db`);
  await session.untilSynced();
});

test('nothing keeps the process alive after close()', async (t) => {
  const server = await OvsdbServerProcess.start({ tcp: true });
  t.after(() => server.stop());
  const count = (): number => process.getActiveResourcesInfo().filter((kind) => /Timeout|Socket|Pipe|TCP|Connect/i.test(kind)).length;
  const before = count();
  const sessions = [
    openSession(t, [server.unix]),
    openSession(t, [server.tcp]),
    openSession(t, ['unix:/nonexistent/a'], { backoff: { baseMs: 60_000, maxMs: 60_000 } }),
    openSession(t, ['tcp:192.0.2.1:1']),
  ].map(({ session }) => session);
  await sessions[0]!.untilSynced();
  await sessions[1]!.untilSynced();
  assert.ok(count() > before);
  await Promise.all(sessions.map((session) => session.close()));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(count(), before);
});
