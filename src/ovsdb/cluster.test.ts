import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { insert, newUuid, zeroUuid, type Operation, type OvsdbErrorCode, type OvsdbSession, type Uuid } from './index.ts';
import { OvsdbCluster } from './testing/ovsdb-cluster.ts';
import { openSession } from './testing/open-session.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { TamperingProxy, type RpcMessage } from './testing/tampering-proxy.ts';

let cluster: OvsdbCluster;
before(async () => (cluster = await OvsdbCluster.start()));
after(() => cluster.stop());

/** Repeats a transaction until the session has a leader again, as a caller of `transact` has to. @param uuid of one of the inserted rows */
async function commitUntilDone(session: OvsdbSession, operations: readonly Operation[], table: string, uuid: Uuid): Promise<void> {
  await until('the transaction is carried out', async () => {
    await session.untilSynced();
    if (session.replica.table(table).has(uuid)) return true;
    const outcome = await session.transact(operations, { timeoutMs: 5_000 });
    return outcome.ok || outcome.error.code === 'OVSDB_DUPLICATE_UUID';
  });
}

async function commitEventually(session: OvsdbSession, name: string, uuid = newUuid()): Promise<void> {
  await commitUntilDone(session, [insert('Logical_Switch', { name }, uuid)], 'Logical_Switch', uuid);
}

/** The rows of `_Server` in a message, for a proxy to change; undefined in any other message. */
function statusIn(message: RpcMessage): { Database?: Record<string, { new: Record<string, unknown> }> } | undefined {
  const status = message.result as { Database?: Record<string, { new: Record<string, unknown> }> } | null | undefined;
  return status?.Database === undefined ? undefined : status;
}

/** On a loaded machine the leadership moves by itself, and the session follows. @returns the leader, when the session is connected to it */
async function atTheLeader(session: OvsdbSession): Promise<OvsdbServerProcess> {
  let leader = await cluster.leader();
  await until('the session is at the leader', async () => {
    leader = await cluster.leader();
    return session.state === 'synced' && session.endpoint === leader.unix;
  });
  return leader;
}

test('leaderOnly finds the leader among the members', async (t) => {
  const { session, errors } = openSession(t, cluster.endpoints, { leaderOnly: true });
  await session.untilSynced();
  await atTheLeader(session);
  // On a loaded machine a member loses contact with the others for a moment.
  assert.ok(errors.every(({ code }) => code === 'OVSDB_NOT_LEADER' || code === 'OVSDB_CLUSTER_DISCONNECTED'));
});

test('a follower serves a session without leaderOnly', async (t) => {
  const leader = await cluster.leader();
  const follower = cluster.members.find((member) => member !== leader)!;
  const { session } = openSession(t, [follower.unix]);
  await session.untilSynced();
  await commitEventually(session, 'by a follower');
});

/** One session is cut off from its server while another one writes. @returns the changes that the first reports after the reconnect */
async function whileAway(
  t: TestContext,
  write: (session: OvsdbSession) => Promise<unknown>,
): Promise<{ changes: Set<string>; found: unknown; updates: object }> {
  const leader = await cluster.leader();
  const proxy = await TamperingProxy.start(leader.unix);
  t.after(() => proxy.stop());
  const { session } = openSession(t, [leader.unix]);
  const { session: away, batches } = openSession(t, [proxy.endpoint]);
  await Promise.all([session.untilSynced(), away.untilSynced()]);
  // A server's history is no larger than the database: so the database needs some contents.
  const [first, mark] = [newUuid(), newUuid()];
  const balancers = [insert('Load_Balancer', {}, first), ...Array.from({ length: 199 }, () => insert('Load_Balancer', {}))];
  await commitUntilDone(session, balancers, 'Load_Balancer', first);
  await commitEventually(session, 'mark', mark);
  await until('the rows have come', () => away.replica.table('Logical_Switch').has(mark));

  batches.length = 0;
  proxy.onServerMessage = () => 'disconnect';
  proxy.disconnectAll();
  await until('the loss is seen', () => away.state === 'stale');
  await write(session);
  proxy.fromServer.length = 0;
  proxy.onServerMessage = () => 'pass';
  await away.untilSynced();

  const replies = proxy.fromServer.flatMap(({ result }) => (Array.isArray(result) ? [result as unknown[]] : []));
  assert.ok(replies[0] !== undefined);
  const [found, lastTxnId, updates] = replies[0];
  assert.notEqual(lastTxnId, zeroUuid);
  for (const table of ['Logical_Switch', 'Load_Balancer']) assert.deepEqual(away.replica.table(table), session.replica.table(table));
  return { changes: new Set(batches.flat().map(({ kind, uuid }) => `${kind} ${uuid}`)), found, updates: updates as object };
}

test('a lost connection is resumed where it ended: only what changed meanwhile is read', async (t) => {
  const fresh = newUuid();
  const { changes, found, updates } = await whileAway(t, (session) => commitEventually(session, 'meanwhile', fresh));
  assert.equal(found, true);
  assert.deepEqual(Object.keys(updates), ['Logical_Switch']);
  assert.deepEqual(changes, new Set([`insert ${fresh}`]));
});

test('after more changes than the server remembers all is read again, and listeners get only the true differences', async (t) => {
  const fresh = Array.from({ length: 120 }, newUuid);
  const { changes, found, updates } = await whileAway(t, async (session) => {
    for (const uuid of fresh) await commitEventually(session, 'one of many', uuid);
  });
  assert.equal(found, false);
  assert.ok(Object.keys(updates).includes('Load_Balancer'));
  assert.deepEqual(changes, new Set(fresh.map((uuid) => `insert ${uuid}`)));
});

test('after an update that does not fit, nothing is resumed: all is read again', async (t) => {
  const proxy = await TamperingProxy.start((await cluster.leader()).unix);
  t.after(() => proxy.stop());
  const { session, errors } = openSession(t, [proxy.endpoint]);
  await session.untilSynced();
  await commitEventually(session, 'so that there is a transaction to resume from');
  const [ghost, { generation }] = [newUuid(), session];
  const update = { Logical_Switch: { [ghost]: { insert: { name: 'ghost' } }, none: { modify: {} } } };
  proxy.inject(JSON.stringify({ id: null, method: 'update2', params: ['replica', update] }));
  await until('the session has synced again', () => session.generation > generation);
  assert.ok(errors.some(({ code }) => code === 'OVSDB_INCONSISTENT'));
  assert.ok(!session.replica.table('Logical_Switch').has(ghost));
});

test('a leader killed with -9, and started again: the session moves to the new one and continues', async (t) => {
  const { session, errors } = openSession(t, cluster.endpoints, { leaderOnly: true, probeIntervalMs: 1_000 });
  await session.untilSynced();
  await commitEventually(session, 'before the kill');
  const rows = new Set(session.replica.table('Logical_Switch').keys());
  const lost = await cluster.leader();
  await lost.kill();
  await commitEventually(session, 'after the kill');
  await atTheLeader(session);
  assert.notEqual(session.endpoint, lost.unix);
  assert.ok([...rows].every((uuid) => session.replica.table('Logical_Switch').has(uuid)));
  const expected: OvsdbErrorCode[] = [
    'OVSDB_DISCONNECTED',
    'OVSDB_CONNECT_FAILED',
    'OVSDB_NOT_LEADER',
    'OVSDB_CLUSTER_DISCONNECTED',
    'OVSDB_STALE_SERVER',
    // From a member that was busy for two seconds.
    'OVSDB_PROBE_TIMEOUT',
  ];
  assert.deepEqual(
    errors.filter(({ code }) => !expected.includes(code)),
    [],
  );
  await lost.restart();
});

test('the session leaves a leader that transfers its leadership', async (t) => {
  const { session, errors } = openSession(t, cluster.endpoints, { leaderOnly: true });
  await session.untilSynced();
  // A busy leader loses its leadership before it can transfer it: then the next leader is tried.
  await until('the session leaves the former leader', async () => {
    const first = await atTheLeader(session);
    errors.length = 0;
    await until('it is left', async () => {
      await first.appctl('cluster/failure-test', 'transfer-leadership');
      return errors.length > 0;
    });
    return errors[0]?.code === 'OVSDB_NOT_LEADER' && errors[0].endpoint === first.unix;
  });
  await commitEventually(session, 'after the handover');
  // The first member may become the leader again: the session has to be connected to the leader, whichever that is.
  await atTheLeader(session);
});

test('the session leaves a member without the majority', async (t) => {
  const leader = await cluster.leader();
  const followers = cluster.members.filter((member) => member !== leader);
  const { session, errors } = openSession(t, [leader.unix]);
  await session.untilSynced();
  for (const member of followers) member.pause();
  await until('the session leaves it', () => errors.some(({ code }) => code === 'OVSDB_CLUSTER_DISCONNECTED'));
  assert.equal(session.replica.status, 'stale');
  for (const member of followers) member.resume();
  await session.untilSynced();
});

test('the session rejects a member that is behind what it read from another', async (t) => {
  const leader = await cluster.leader();
  const behind = cluster.members.find((member) => member !== leader)!;
  const ahead = await TamperingProxy.start(leader.unix);
  t.after(() => ahead.stop());
  // The index that the proxy's server reports is beyond that of all others: as if they had not caught up yet.
  const later = 1_000_000;
  ahead.onServerMessage = (message) => {
    for (const row of Object.values(statusIn(message)?.Database ?? {})) Object.assign(row.new, { index: later, connected: true });
    return 'pass';
  };
  const { session, errors } = openSession(t, [ahead.endpoint, behind.unix]);
  await session.untilSynced();
  await until('the other one was rejected for that, and the session is back at the first', () => {
    const isRejected = errors.some(({ code, endpoint }) => code === 'OVSDB_STALE_SERVER' && endpoint === behind.unix);
    const isBack = session.state === 'synced' && session.endpoint === ahead.endpoint;
    // Try again if the session rejected the other member as well, because that one had just lost contact with the cluster.
    if (isBack && !isRejected) ahead.disconnectAll();
    return isRejected && isBack;
  });
  // On a loaded machine a member loses contact with the others for a moment.
  const others = errors.filter(({ code }) => code !== 'OVSDB_STALE_SERVER' && code !== 'OVSDB_CLUSTER_DISCONNECTED');
  assert.ok(others.every(({ code, endpoint }) => code === 'OVSDB_DISCONNECTED' && endpoint === ahead.endpoint));
});

test('the session leaves a server that just started and names no database yet, and keeps its contents', async (t) => {
  const leader = await cluster.leader();
  const well = await TamperingProxy.start(leader.unix);
  const starting = await TamperingProxy.start(leader.unix);
  t.after(() => Promise.all([well.stop(), starting.stop()]));
  let looks = 0;
  well.onServerMessage = (message) => {
    for (const row of Object.values(statusIn(message)?.Database ?? {})) row.new['connected'] = true;
    return 'pass';
  };
  starting.onServerMessage = (message) => {
    const status = statusIn(message);
    if (status === undefined) return 'pass';
    looks++;
    // A real server answers this way between its first connection and its first look at its databases; before it has applied an entry, it
    // has no index.
    if (looks === 1) delete status.Database;
    else if (looks === 2)
      for (const row of Object.values(status.Database ?? {})) Object.assign(row.new, { index: ['set', []], connected: true });
    else Object.assign(message, { result: null, error: { error: 'unknown database' } });
    return 'pass';
  };
  const { session, errors } = openSession(t, [well.endpoint, starting.endpoint], { rollbackPatienceMs: 3_600_000 });
  await session.untilSynced();
  const { generation } = session;
  well.onServerMessage = () => 'disconnect';
  well.disconnectAll();
  const changes = (): string[] => errors.filter(({ endpoint }) => endpoint === starting.endpoint).map(({ code }) => code);
  await until('it was met three times', () => changes().length >= 3);
  assert.deepEqual(changes().slice(0, 3), ['OVSDB_NO_DATABASE', 'OVSDB_STALE_SERVER', 'OVSDB_OTHER_CLUSTER']);
  assert.equal(session.generation, generation, 'nothing was read from it');
  well.onServerMessage = () => 'pass';
  await session.untilSynced();
  assert.equal(session.endpoint, well.endpoint);
});

test('the session rejects a server of another cluster, and one without a cluster', async (t) => {
  const alone = await OvsdbServerProcess.start();
  t.after(() => alone.stop());
  const other = await OvsdbCluster.start();
  t.after(() => other.stop());
  const strays = [alone.unix, (await other.leader()).unix];
  const { session, errors } = openSession(t, [...cluster.endpoints, ...strays], { leaderOnly: true, rollbackPatienceMs: 3_600_000 });
  await commitEventually(session, 'in the cluster');
  await Promise.all(cluster.members.map((member) => member.kill()));
  await until('both were rejected', () => errors.filter(({ code }) => code === 'OVSDB_OTHER_CLUSTER').length >= 2);
  await Promise.all(cluster.members.map((member) => member.restart()));
  await commitEventually(session, 'in the cluster as well');
  assert.ok(cluster.endpoints.includes(session.endpoint), session.endpoint);
  const rejected = errors.filter(({ code }) => code === 'OVSDB_OTHER_CLUSTER');
  assert.deepEqual(new Set(rejected.map(({ endpoint }) => endpoint)), new Set(strays));
  assert.ok(
    rejected.some(({ message }) => / stands alone; what was read is of the cluster [0-9a-f-]{36}$/.test(message)),
    rejected[0]!.message,
  );
});

test('a server without a cluster in place of the cluster is accepted after rollbackPatienceMs', async (t) => {
  const alone = await OvsdbServerProcess.start();
  t.after(() => alone.stop());
  const made = await OvsdbCluster.start();
  t.after(() => made.stop());
  // A session that has read nothing yet uses the first server that it finds.
  const later = await TamperingProxy.start(alone.unix);
  t.after(() => later.stop());
  later.onServerMessage = () => 'disconnect';
  const { session, errors } = openSession(t, [...made.endpoints, later.endpoint], { leaderOnly: true, rollbackPatienceMs: 1_000 });
  await commitEventually(session, 'in the cluster');
  await Promise.all(made.members.map((member) => member.kill()));
  later.onServerMessage = () => 'pass';
  await until('it is taken', () => session.state === 'synced' && session.endpoint === later.endpoint);
  assert.ok(errors.some(({ code }) => code === 'OVSDB_OTHER_CLUSTER'));
  assert.equal(session.replica.table('Logical_Switch').size, 0);
  await commitEventually(session, 'in its place');
});

test('a cluster that was restored to an earlier state is accepted after rollbackPatienceMs', async (t) => {
  const { session, errors, batches } = openSession(t, cluster.endpoints, { leaderOnly: true, rollbackPatienceMs: 1_000 });
  await commitEventually(session, 'in the backup');
  const backups = await Promise.all(cluster.members.map((member) => member.backUp()));
  for (let count = 0; count < 20; count++) await commitEventually(session, `lost ${count}`);
  await Promise.all(cluster.members.map((member) => member.kill()));
  await Promise.all(backups.map((putBack) => putBack()));
  const [before, changes] = [errors.length, batches.length];
  await Promise.all(cluster.members.map((member) => member.restart()));
  const names = (): unknown[] => [...session.replica.table('Logical_Switch').values()].map(({ name }) => name);
  // A new leader applies the end of its log a moment later.
  const isBack = (): boolean => session.state === 'synced' && !names().includes('lost 0') && names().includes('in the backup');
  await until('what was lost is gone from the replica, and the rest is there', isBack);
  assert.deepEqual(
    names().filter((name) => String(name).startsWith('lost')),
    [],
  );
  assert.ok(
    errors.slice(before).some(({ code }) => code === 'OVSDB_STALE_SERVER'),
    'it was rejected at first',
  );
  const kinds = batches.slice(changes).flatMap((batch) => batch.map(({ kind }) => kind));
  const inserts = kinds.filter((kind) => kind === 'insert').length;
  assert.equal(kinds.filter((kind) => kind === 'delete').length - inserts, 20, 'the true differences');
  assert.ok(inserts <= 1, `${inserts} unchanged rows are reported as inserted`);
  await commitEventually(session, 'goes on');
});
