import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  abort,
  assertLock,
  deleteRows,
  includes,
  insert,
  insertNamed,
  mutate,
  mutateInsert,
  newUuid,
  OvsdbError,
  rowIs,
  update,
  waitFor,
  waitForNone,
  waitForRow,
  type Operation,
  type OvsdbSession,
} from './index.ts';
import { openSession, commit } from './testing/open-session.ts';
import { readServerError } from './errors.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { TamperingProxy } from './testing/tampering-proxy.ts';

let server: OvsdbServerProcess;
before(async () => (server = await OvsdbServerProcess.start()));
after(() => server.stop());

async function failure(session: OvsdbSession, operations: readonly Operation[]): Promise<OvsdbError> {
  const outcome = await session.transact(operations);
  assert.ok(!outcome.ok, 'the transaction should have failed');
  assert.ok(outcome.error instanceof OvsdbError);
  return outcome.error;
}

/** A row that is not there. */
const gone = newUuid();
const good = insert('Logical_Router', { name: 'never there' });

/** Operations that fail, the error's code, and the operation it names. */
const failing: readonly [code: OvsdbError['code'], operations: () => readonly Operation[], named: object | undefined][] = [
  [
    'OVSDB_TIMED_OUT',
    () => [good, waitForRow('Logical_Switch', gone)],
    { index: 1, op: 'wait', table: 'Logical_Switch', where: `_uuid == "${gone}"` },
  ],
  [
    'OVSDB_TIMED_OUT',
    () => [waitFor('Logical_Switch', [rowIs(gone), includes('external_ids', { owner: 'x' })], [{ _uuid: gone }], 20)],
    { index: 0, op: 'wait', table: 'Logical_Switch', where: `_uuid == "${gone}" and external_ids includes {"owner":"x"}` },
  ],
  [
    'OVSDB_DUPLICATE_UUID_NAME',
    () => [insertNamed('Logical_Switch', {}, 'same'), insertNamed('Logical_Switch', {}, 'same')],
    { index: 1, op: 'insert', table: 'Logical_Switch' },
  ],
  ['OVSDB_ABORTED', () => [good, abort()], { index: 1, op: 'abort' }],
  ['OVSDB_NOT_OWNER', () => [good, assertLock('not_mine')], { index: 1, op: 'assert' }],
  [
    'OVSDB_CONSTRAINT_VIOLATION',
    () => [good, insert('QoS', { priority: 99_999, direction: 'to-lport', match: 'ip' })],
    { index: 1, op: 'insert', table: 'QoS' },
  ],
  [
    'OVSDB_CONSTRAINT_VIOLATION',
    () => [
      insertNamed('QoS', { direction: 'to-lport' }, 'q'),
      insert('Logical_Switch', { qos_rules: ['q'] }),
      update('QoS', [], { direction: 'sideways' }),
    ],
    { index: 2, op: 'update', table: 'QoS', where: '' },
  ],
  [
    'OVSDB_RANGE_ERROR',
    () => [
      insert('NB_Global', { nb_cfg: 9_007_199_254_740_991 }),
      mutate('NB_Global', [], [{ column: 'nb_cfg', mutator: '*=', value: 9_007_199_254_740_991 }]),
    ],
    { index: 1, op: 'mutate', table: 'NB_Global', where: '' },
  ],
  [
    'OVSDB_DOMAIN_ERROR',
    () => [insert('NB_Global', {}), mutate('NB_Global', [], [{ column: 'nb_cfg', mutator: '/=', value: 0 }])],
    { index: 1, op: 'mutate', table: 'NB_Global', where: '' },
  ],
  ['OVSDB_SYNTAX_ERROR', () => [insertNamed('Logical_Switch', {}, 'not an id')], { index: 0, op: 'insert', table: 'Logical_Switch' }],
  [
    'OVSDB_CONSTRAINT_VIOLATION',
    () => [update('Logical_Switch', [], { _uuid: gone })],
    { index: 0, op: 'update', table: 'Logical_Switch', where: '' },
  ],
];
for (const [code, operations, named] of failing) {
  test(`${code} names the operation ${JSON.stringify(named)}`, async (t) => {
    const { session } = openSession(t, [server.unix]);
    await session.untilSynced();
    const error = await failure(session, operations());
    assert.deepEqual([error.code, error.outcome, error.operation], [code, 'rejected', named], error.message);
    assert.deepEqual(
      [...session.replica.table('Logical_Router').values()].filter((row) => row['name'] === 'never there'),
      [],
      'a failed transaction changes nothing',
    );
  });
}

test('a repeated insert with its UUID is OVSDB_DUPLICATE_UUID', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const uuid = newUuid();
  await commit(session, [insert('Logical_Switch', { name: 'once' }, uuid)]);
  const error = await failure(session, [insert('Logical_Switch', { name: 'once' }, uuid)]);
  assert.equal(error.code, 'OVSDB_DUPLICATE_UUID');
  assert.deepEqual(error.operation, { index: 0, op: 'insert', table: 'Logical_Switch', where: `_uuid == "${uuid}"` });
});

test('a failure at commit names no operation; the operations on rows that the server names are suspects', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const [switchId, port, twin] = [newUuid(), newUuid(), newUuid()];
  await commit(session, [
    insert('Logical_Switch_Port', { name: 'p' }, port),
    insert('Logical_Switch', { name: 'parent', ports: [port] }, switchId),
  ]);
  const referred = await failure(session, [good, deleteRows('Logical_Switch_Port', port)]);
  assert.equal(referred.code, 'OVSDB_REFERENTIAL_INTEGRITY_VIOLATION');
  assert.equal(referred.operation, undefined);
  assert.deepEqual(referred.suspects, [{ index: 1, op: 'delete', table: 'Logical_Switch_Port', where: `_uuid == "${port}"` }]);
  assert.match(referred.message, /commit of 2 operations failed.*delete Logical_Switch_Port/);

  const twins = await failure(session, [
    good,
    insert('Logical_Switch_Port', { name: 'p' }, twin),
    mutateInsert('Logical_Switch', switchId, 'ports', [twin]),
  ]);
  assert.equal(twins.code, 'OVSDB_CONSTRAINT_VIOLATION');
  assert.deepEqual(
    twins.suspects.map(({ index }) => index),
    [1],
  );
});

test('values that cannot be written are rejected before anything is sent, by operation and column', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const wrong: readonly [OvsdbError['code'], Operation][] = [
    ['OVSDB_UNKNOWN_TABLE', insert('No_Such', {})],
    ['OVSDB_UNKNOWN_COLUMN', insert('Logical_Switch', { no_such: 1 })],
    ['OVSDB_BAD_VALUE', insert('Logical_Switch', { name: 3 })],
    ['OVSDB_BAD_VALUE', insert('Logical_Switch', { name: null })],
    ['OVSDB_BAD_VALUE', insert('Logical_Switch', { external_ids: ['a'] })],
    ['OVSDB_BAD_VALUE', insert('Logical_Switch', { external_ids: { a: 1 } })],
    ['OVSDB_BAD_VALUE', update('NB_Global', [], { nb_cfg: 1.5 })],
    ['OVSDB_BAD_VALUE', mutateInsert('Logical_Switch', newUuid(), 'ports', [1])],
  ];
  for (const [code, operation] of wrong) {
    const error = await failure(session, [good, operation]);
    assert.deepEqual([error.code, error.outcome, error.operation?.index], [code, 'not-sent', 1], error.message);
  }
});

test('a comment is sent with the transaction and has no result of its own', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const outcome = await session.transact([good], { timeoutMs: 5_000, comment: 'with a comment' });
  assert.deepEqual(outcome.ok && outcome.results.length, 1);
  await commit(session, [deleteRows('Logical_Router', [])]);
});

test('waitForNone guards a name that the database does not keep unique', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const create = [waitForNone('Logical_Router', 'name', 'unique'), insert('Logical_Router', { name: 'unique' })];
  await commit(session, create);
  assert.equal((await failure(session, create)).code, 'OVSDB_TIMED_OUT');
});

test('a transaction without a reply within timeoutMs ends with outcome unknown, and is cancelled at the server', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const outcome = await session.transact([waitFor('NB_Global', [], [{ name: 'never' }], 60_000)], { timeoutMs: 50 });
  assert.ok(!outcome.ok);
  assert.deepEqual([outcome.error.code, outcome.error.outcome], ['OVSDB_TRANSACTION_TIMEOUT', 'unknown']);
  await commit(session, [insert('NB_Global', { name: 'never' })]);
  assert.equal(session.state, 'synced', 'the late reply of the server is expected');
  await commit(session, [deleteRows('NB_Global', [])]);
});

test('a backup server answers transactions with OVSDB_NOT_ALLOWED', async (t) => {
  const backup = await OvsdbServerProcess.start();
  t.after(() => backup.stop());
  await backup.appctl('ovsdb-server/set-active-ovsdb-server', server.unix);
  await backup.appctl('ovsdb-server/connect-active-ovsdb-server');
  const { session } = openSession(t, [backup.unix]);
  await session.untilSynced();
  await until('the backup is read-only', async () => (await failure(session, [good, abort()])).code !== 'OVSDB_ABORTED');
  const error = await failure(session, [good]);
  assert.deepEqual([error.code, error.outcome], ['OVSDB_NOT_ALLOWED', 'rejected']);
});

test('a request that the server rejects as a whole has the code of its error', async (t) => {
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session } = openSession(t, [proxy.endpoint]);
  await session.untilSynced();
  proxy.onClientMessage = ({ method, id }) =>
    method === 'transact' ? { answer: { id, result: null, error: { error: 'unknown database', details: 'no database X' } } } : 'pass';
  const error = await failure(session, [good]);
  assert.deepEqual(
    [error.code, error.outcome, error.details, error.serverError],
    ['OVSDB_UNKNOWN_DATABASE', 'rejected', 'no database X', 'unknown database'],
  );
});

test('a request that the server cancels as a whole has outcome unknown, as all others that were under way; one in the result was rejected', async (t) => {
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session } = openSession(t, [proxy.endpoint]);
  await session.untilSynced();
  let first: unknown;
  proxy.onClientMessage = ({ method, id }) => {
    if (method !== 'transact') return 'pass';
    first ??= id;
    return id === first ? 'swallow' : { answer: { id, result: null, error: { error: 'canceled' } } };
  };
  const errors = await Promise.all([failure(session, [good]), failure(session, [good])]);
  assert.deepEqual(
    errors.map(({ outcome }) => outcome),
    ['unknown', 'unknown'],
  );
  await session.untilSynced();
  proxy.onClientMessage = ({ method, id }) =>
    method === 'transact' ? { answer: { id, result: [{ error: 'canceled' }], error: null } } : 'pass';
  const { code, outcome } = await failure(session, [good]);
  assert.deepEqual([code, outcome], ['OVSDB_CANCELED', 'rejected']);
  assert.equal(session.state, 'synced');
});

test('every error string of RFC 7047 and of ovsdb-server has a code; an unknown one is kept', () => {
  const strings = [
    ...['aborted', 'canceled', 'constraint violation', 'domain error', 'duplicate uuid-name', 'I/O error', 'not owner', 'not supported'],
    ...['range error', 'referential integrity violation', 'resources exhausted', 'timed out', 'unknown database', 'duplicate uuid'],
    ...[
      'syntax error',
      'unknown column',
      'unknown table',
      'internal error',
      'ovsdb error',
      'permission error',
      'not allowed',
      'cluster error',
    ],
  ];
  const codes = strings.map((error) => readServerError({ error }).code);
  assert.equal(new Set(codes).size, strings.length);
  assert.ok(!codes.includes('OVSDB_SERVER_ERROR'));
  assert.deepEqual(readServerError({ error: 'new one', details: 'd', syntax: 's' }), {
    code: 'OVSDB_SERVER_ERROR',
    error: 'new one',
    details: 'd; in: s',
  });
});

test('a reply with too few results has outcome unknown', async (t) => {
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session } = openSession(t, [proxy.endpoint]);
  await session.untilSynced();
  for (const result of [[], {}, null, [null]]) {
    // The session closed the connection, so wait for the next one.
    await session.untilSynced();
    proxy.onClientMessage = ({ method, id }) => (method === 'transact' ? { answer: { id, result, error: null } } : 'pass');
    const error = await failure(session, [good]);
    assert.deepEqual([error.code, error.outcome], ['OVSDB_PROTOCOL', 'unknown']);
  }
});
