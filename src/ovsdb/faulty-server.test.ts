/**
 * A proxy in front of a real ovsdb-server breaks the protocol: the session reports it within two probe intervals and takes another
 * endpoint.
 */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import {
  deleteRows,
  insert,
  mutateInsert,
  newUuid,
  update,
  type OvsdbErrorCode,
  type OvsdbSession,
  type Operation,
  type Uuid,
} from './index.ts';
import { commit, openSession } from './testing/open-session.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { TamperingProxy } from './testing/tampering-proxy.ts';

const PROBE_MS = 400;
/** Two intervals, and a margin for a loaded machine. */
const TOLD_MS = 2 * PROBE_MS + 30_000;

let server: OvsdbServerProcess;
before(async () => {
  server = await OvsdbServerProcess.start();
});
after(() => server.stop());

interface Scene {
  readonly proxy: TamperingProxy;
  readonly session: OvsdbSession;
  readonly codes: () => readonly OvsdbErrorCode[];
}

async function scene(t: TestContext, others: readonly string[] = [server.unix]): Promise<Scene> {
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session, errors } = openSession(t, [proxy.endpoint, ...others], { probeIntervalMs: PROBE_MS });
  await session.untilSynced();
  assert.equal(session.endpoint, proxy.endpoint);
  return { proxy, session, codes: () => errors.map(({ code }) => code) };
}

const answersNull = (proxy: TamperingProxy): void => {
  proxy.onClientMessage = ({ method, id }) => (method === 'transact' ? { answer: { id, result: null, error: null } } : 'pass');
};
const answersNothing = (proxy: TamperingProxy): void => {
  proxy.onClientMessage = ({ method }) => (method === 'transact' ? 'swallow' : 'pass');
};
const showsNothing = (proxy: TamperingProxy): void => {
  proxy.onServerMessage = ({ method }) => (method?.startsWith('update') === true ? 'swallow' : 'pass');
};

const LIES: readonly { readonly what: string; readonly code: OvsdbErrorCode; readonly lie: (proxy: TamperingProxy) => void }[] = [
  { what: 'answers null to every transaction', code: 'OVSDB_PROTOCOL', lie: answersNull },
  { what: 'answers echoes, and no transaction', code: 'OVSDB_NO_REPLY', lie: answersNothing },
  { what: 'carries transactions out and sends no update', code: 'OVSDB_EFFECT_MISSING', lie: showsNothing },
];

for (const { what, code, lie } of LIES) {
  test(`one that ${what} is given up, and the next endpoint carries on`, async (t) => {
    const { proxy, session, codes } = await scene(t);
    lie(proxy);
    const began = performance.now();
    const uuid = newUuid();
    const outcome = await session.transact([insert('Logical_Switch', { name: `of ${code}` }, uuid)]);
    assert.ok(!outcome.ok);
    assert.equal(outcome.error.outcome, 'unknown');
    assert.ok(performance.now() - began < TOLD_MS, `${performance.now() - began} ms`);
    await until('the other endpoint', () => session.state === 'synced' && session.endpoint === server.unix);
    assert.deepEqual(codes(), [code]);
    // A repetition with the same UUID cannot make a second row.
    if (!session.replica.table('Logical_Switch').has(uuid)) await commit(session, [insert('Logical_Switch', { name: `of ${code}` }, uuid)]);
    assert.ok(session.replica.table('Logical_Switch').has(uuid));
  });

  test(`one that ${what}, and is the only endpoint, is tried again, and is used once it follows the protocol`, async (t) => {
    const { proxy, session, codes } = await scene(t, []);
    lie(proxy);
    assert.equal((await session.transact([insert('Logical_Switch', { name: 'first' }, newUuid())])).ok, false);
    await session.untilSynced();
    assert.equal((await session.transact([insert('Logical_Switch', { name: 'second' }, newUuid())])).ok, false);
    proxy.onClientMessage = proxy.onServerMessage = () => 'pass';
    await session.untilSynced();
    const uuid = newUuid();
    await commit(session, [insert('Logical_Switch', { name: 'third' }, uuid)]);
    assert.ok(session.replica.table('Logical_Switch').has(uuid));
    assert.deepEqual(new Set(codes()), new Set([code]));
  });
}

/** Errors of RFC 7047 and of ovsdb-server that the real server does not send in these tests. */
const SAID: Readonly<Record<string, OvsdbErrorCode>> = {
  canceled: 'OVSDB_CANCELED',
  'cluster error': 'OVSDB_CLUSTER_ERROR',
  'internal error': 'OVSDB_INTERNAL_ERROR',
  'not supported': 'OVSDB_NOT_SUPPORTED',
  'ovsdb error': 'OVSDB_OVSDB_ERROR',
  'permission error': 'OVSDB_PERMISSION_ERROR',
  'unknown method': 'OVSDB_UNKNOWN_METHOD',
};
test('the error of the answer to a transaction is the code of the failure', async (t) => {
  const { proxy, session } = await scene(t, []);
  for (const [text, code] of Object.entries(SAID)) {
    proxy.onClientMessage = ({ method, id }) =>
      method === 'transact' ? { answer: { id, result: [{ error: text, details: 'because' }], error: null } } : 'pass';
    const outcome = await session.transact([insert('Logical_Switch', { name: `said ${text}` }, newUuid())]);
    assert.ok(!outcome.ok);
    assert.deepEqual([outcome.error.code, outcome.error.details], [code, 'because']);
  }
});

test('a server that sends no update is found with any change that is certain', async (t) => {
  const { session: honest } = openSession(t, [server.unix]);
  await honest.untilSynced();
  const [network, port] = [newUuid(), newUuid()];
  await commit(honest, [insert('Logical_Switch', { name: 'changed', external_ids: { a: '1' } }, network)]);
  const changes: readonly (readonly [string, readonly Operation[]])[] = [
    ['a port', [insert('Logical_Switch_Port', { name: 'p' }, port), mutateInsert('Logical_Switch', network, 'ports', port)]],
    ['a column', [update('Logical_Switch', network, { external_ids: { a: '2' } })]],
    ['a deletion', [deleteRows('Logical_Switch', network)]],
  ];
  for (const [what, operations] of changes) {
    const { proxy, session } = await scene(t);
    showsNothing(proxy);
    const outcome = await session.transact(operations);
    assert.equal(outcome.ok ? 'ok' : outcome.error.code, 'OVSDB_EFFECT_MISSING', what);
    await session.close();
  }
});

test('a transaction that changes nothing, or that undoes itself, needs no update', async (t) => {
  const { session, codes } = await scene(t);
  const uuid: Uuid = newUuid();
  await commit(session, [insert('Logical_Switch', { name: 'still', other_config: { b: '1', a: '2' } }, uuid)]);
  await commit(session, [update('Logical_Switch', uuid, { other_config: { a: '2', b: '1' } })]);
  await commit(session, [mutateInsert('Logical_Switch', uuid, 'other_config', new Map([['a', '2']]))]);
  // No row refers to it, so it is collected at the end of the transaction.
  await commit(session, [insert('Logical_Switch_Port', { name: 'nowhere' }, newUuid())]);
  const brief = newUuid();
  await commit(session, [insert('Logical_Switch', { name: 'brief' }, brief), deleteRows('Logical_Switch', brief)]);
  assert.deepEqual(codes(), []);
});

for (const { what, bytes } of [
  { what: 'white space between messages', bytes: ' \n' },
  { what: 'a message that has no end', bytes: '"x' },
]) {
  test(`one that sends ${what}, and nothing else, is given up`, async (t) => {
    const { proxy, session, codes } = await scene(t);
    proxy.onServerMessage = () => 'swallow';
    let first = true;
    const dripping = setInterval(() => {
      proxy.inject(bytes === '"x' ? (first ? '{"method":"' : 'x') : bytes);
      first = false;
    }, 50);
    t.after(() => clearInterval(dripping));
    const began = performance.now();
    await until('it is given up', () => codes().length > 0);
    clearInterval(dripping);
    assert.equal(codes()[0], 'OVSDB_PROBE_TIMEOUT');
    // The beginning of a valid message gets more time: it may be a large one on a slow line.
    assert.ok(performance.now() - began < (bytes === '"x' ? 9 * PROBE_MS + 30_000 : TOLD_MS));
    await until('the other endpoint', () => session.state === 'synced' && session.endpoint === server.unix);
  });
}
