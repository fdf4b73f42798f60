import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { insert, mapSet, mutate, mutateDelete, mutateInsert, newUuid, rowIs, select, update, type RowChange, type Uuid } from './index.ts';
import { openSession, commit } from './testing/open-session.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';

let server: OvsdbServerProcess;
before(async () => (server = await OvsdbServerProcess.start({ tcp: true })));
after(() => server.stop());

/** The compared parts of a change, with sets and maps as lists. */
function brief({ kind, table, uuid, changed }: RowChange): unknown {
  if (changed === undefined) return [kind, table, uuid];
  const columns = Array.from(changed, ([column, { before: old, added, removed }]) =>
    added === undefined ? [column, old] : [column, [...added], [...removed]],
  );
  return [kind, table, uuid, ...columns];
}

test('every shape of column is read as its kind, with defaults where nothing was written', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const [band, meter, qos, port] = [newUuid(), newUuid(), newUuid(), newUuid()];
  const switchId = newUuid();
  await commit(session, [
    insert('Meter_Band', { action: 'drop', rate: 7, burst_size: 1 }, band),
    insert('Meter', { name: 'kinds', unit: 'kbps', bands: [band], fair: true }, meter),
    insert('QoS', { priority: 5, direction: 'to-lport', match: 'ip', bandwidth: { rate: 100, burst: 200 } }, qos),
    insert('Logical_Switch_Port', { name: 'kinds', addresses: ['a "quoted" \\ one', 'ключ'], tag: 12, options: { 'k:1': 'v' } }, port),
    insert('Logical_Switch', { name: 'kinds', qos_rules: [qos], ports: [port] }, switchId),
  ]);
  const row = session.replica.table('Logical_Switch_Port').get(port)!;
  assert.equal(row._uuid, port);
  assert.deepEqual(row['addresses'], new Set(['a "quoted" \\ one', 'ключ']));
  assert.equal(row['tag'], 12);
  assert.equal(row['parent_name'], null);
  assert.deepEqual(row['options'], new Map([['k:1', 'v']]));
  assert.deepEqual(row['port_security'], new Set());
  assert.deepEqual(session.replica.table('Logical_Switch').get(switchId)!['qos_rules'], new Set([qos]));
  assert.deepEqual(
    session.replica.table('QoS').get(qos)!['bandwidth'],
    new Map([
      ['rate', 100],
      ['burst', 200],
    ]),
  );
  assert.equal(session.replica.table('Meter').get(meter)!['fair'], true);

  const other = openSession(t, [server.tcp]).session;
  await other.untilSynced();
  for (const table of ['Logical_Switch_Port', 'Logical_Switch', 'QoS', 'Meter', 'Meter_Band']) {
    assert.deepEqual(other.replica.table(table), session.replica.table(table), `${table} read at the start is as it came by updates`);
  }
});

test("a transaction's own changes are in the replica, and listeners called, before it resolves; one batch each", async (t) => {
  const { session, batches } = openSession(t, [server.unix]);
  await session.untilSynced();
  batches.length = 0;
  const [switchId, port] = [newUuid(), newUuid()];
  for (let round = 0; round < 50; round++) {
    const before = batches.length;
    await commit(session, [insert('Logical_Switch', { name: `order-${round}` })]);
    assert.equal(batches.length, before + 1);
  }
  batches.length = 0;
  await commit(session, [
    insert('Logical_Switch', { name: 'batch', ports: [port] }, switchId),
    insert('Logical_Switch_Port', { name: 'batch' }, port),
  ]);
  assert.deepEqual(
    batches.map((batch) => new Set(batch.map(brief).map(String))),
    [new Set([`insert,Logical_Switch,${switchId}`, `insert,Logical_Switch_Port,${port}`])],
  );
});

test('changes carry the value before, or what came and went; sets and maps change in place', async (t) => {
  const { session, batches } = openSession(t, [server.unix]);
  await session.untilSynced();
  const uuid = newUuid();
  const table = 'Load_Balancer';
  await commit(session, [insert(table, { name: 'one', external_ids: { a: '1', b: '2' }, selection_fields: ['ip_src', 'ip_dst'] }, uuid)]);
  const row = session.replica.table(table).get(uuid)!;
  const [ids, fields] = [row['external_ids'], row['selection_fields']];
  const change = async (...operations: Parameters<typeof commit>[1]): Promise<unknown> => {
    batches.length = 0;
    await commit(session, operations);
    assert.ok(batches.length <= 1);
    return batches[0]?.map(brief);
  };
  assert.deepEqual(await change(update(table, uuid, { name: 'two', protocol: 'tcp' })), [
    ['modify', table, uuid, ['name', 'one'], ['protocol', null]],
  ]);
  assert.deepEqual(await change(mutateInsert(table, uuid, 'external_ids', { c: '3' })), [
    ['modify', table, uuid, ['external_ids', [['c', '3']], []]],
  ]);
  assert.deepEqual(await change(mapSet(table, uuid, 'external_ids', { a: '9' })), [
    ['modify', table, uuid, ['external_ids', [['a', '9']], [['a', '1']]]],
  ]);
  assert.deepEqual(await change(mutateDelete(table, uuid, 'external_ids', ['b', 'nothing'])), [
    ['modify', table, uuid, ['external_ids', [], [['b', '2']]]],
  ]);
  assert.deepEqual(await change(mutateDelete(table, uuid, 'external_ids', { a: 'another value' })), undefined);
  assert.deepEqual(await change(mutateDelete(table, uuid, 'external_ids', { a: '9' })), [
    ['modify', table, uuid, ['external_ids', [], [['a', '9']]]],
  ]);
  assert.deepEqual(await change(mutateInsert(table, uuid, 'selection_fields', ['tp_src', 'ip_src'])), [
    ['modify', table, uuid, ['selection_fields', ['tp_src'], []]],
  ]);
  assert.deepEqual(await change(update(table, uuid, { selection_fields: [], protocol: null })), [
    ['modify', table, uuid, ['protocol', 'tcp'], ['selection_fields', [], ['ip_dst', 'ip_src', 'tp_src']]],
  ]);
  assert.equal(row['external_ids'], ids);
  assert.equal(row['selection_fields'], fields);
  assert.deepEqual(ids, new Map([['c', '3']]));
  assert.equal(row['protocol'], null);
  assert.deepEqual(await change({ op: 'delete', table, where: [rowIs(uuid)] }), [['delete', table, uuid]]);
  assert.equal(session.replica.table(table).size, 0);
});

test('results of operations: uuid, count, rows with columns as the replica has them', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const uuid = newUuid();
  const results = await commit(session, [
    insert('Logical_Router', { name: 'results', options: { x: 'y' } }, uuid),
    mutate('Logical_Router', uuid, [{ column: 'external_ids', mutator: 'insert', value: new Map([['a', 'b']]) }]),
    select('Logical_Router', [rowIs(uuid)], ['_uuid', 'name', 'options', 'enabled']),
    select('Logical_Router', [rowIs(uuid)]),
  ]);
  assert.deepEqual(results.slice(0, 3), [
    { uuid },
    { count: 1 },
    { rows: [{ _uuid: uuid, name: 'results', options: new Map([['x', 'y']]), enabled: null }] },
  ]);
  assert.deepEqual(results[3]!.rows![0], session.replica.table('Logical_Router').get(uuid));
});

test('tables and columns that the server lacks are reported and left out', async (t) => {
  const tables = { Logical_Switch: ['name', 'no_such'], DHCP_Relay: 'all', ACL: ['tier'] } as const;
  const { session } = openSession(t, [server.unix], { tables });
  await session.untilSynced();
  assert.deepEqual(session.missing, [
    { table: 'Logical_Switch', column: 'no_such' },
    { table: 'DHCP_Relay' },
    { table: 'ACL', column: 'tier' },
  ]);
  assert.equal(session.replica.table('DHCP_Relay').size, 0);
  const uuid = newUuid();
  const acl = newUuid();
  await commit(session, [
    insert('ACL', { priority: 1, direction: 'to-lport', match: '1', action: 'drop' }, acl),
    insert('Logical_Switch', { name: 'partial', acls: [acl] }, uuid),
  ]);
  assert.deepEqual({ ...session.replica.table('Logical_Switch').get(uuid) }, { _uuid: uuid, name: 'partial' });
  assert.deepEqual({ ...session.replica.table('ACL').get(acl) }, { _uuid: acl });
  assert.throws(() => session.replica.table('NAT'), { code: 'OVSDB_NOT_MONITORED' });
});

test('indexes follow every change, also those declared late', async (t) => {
  const { session } = openSession(t, [server.unix]);
  const byName = session.replica.index('Logical_Switch_Port', 'name', (row) => row['name'] as string);
  const bySwitch = session.replica.memberIndex('Logical_Switch', 'port', 'ports');
  await session.untilSynced();
  const [switchId, a, b] = [newUuid(), newUuid(), newUuid()];
  await commit(session, [
    insert('Logical_Switch_Port', { name: 'ia', external_ids: { owner: 'x' } }, a),
    insert('Logical_Switch_Port', { name: 'ib', external_ids: { owner: 'x' } }, b),
    insert('Logical_Switch', { name: 'indexed', ports: [a, b] }, switchId),
  ]);
  const byOwner = session.replica.index('Logical_Switch_Port', 'owner', (row) => (row['external_ids'] as Map<string, string>).get('owner'));
  const uuids = (rows: readonly { _uuid: Uuid }[]): Set<Uuid> => new Set(rows.map((row) => row._uuid));
  assert.equal(byName.first('ia')!._uuid, a);
  assert.deepEqual(uuids(byOwner.all('x')), new Set([a, b]));
  assert.equal(bySwitch.first(a)!._uuid, switchId);

  await commit(session, [
    update('Logical_Switch_Port', a, { name: 'ic' }),
    mapSet('Logical_Switch_Port', a, 'external_ids', { owner: 'z' }),
  ]);
  assert.equal(byName.first('ia'), undefined);
  assert.equal(byName.first('ic')!._uuid, a);
  assert.deepEqual(uuids(byOwner.all('x')), new Set([b]));
  assert.equal(byOwner.count('z'), 1);

  await commit(session, [mutateDelete('Logical_Switch', switchId, 'ports', [b])]);
  assert.equal(bySwitch.first(b), undefined);
  assert.equal(bySwitch.first(a)!._uuid, switchId);
  assert.equal(byName.first('ib'), undefined);
  assert.deepEqual([...byOwner.keys()], ['z']);
  assert.equal(session.replica.index('Logical_Switch_Port', 'owner'), byOwner);
  assert.throws(() => session.replica.index('Logical_Switch_Port', 'owner', () => 'x'), { code: 'OVSDB_BAD_OPTION' });
});

test('close() ends the session: open transactions, waiters, later calls', async (t) => {
  const { session } = openSession(t, [server.unix]);
  await session.untilSynced();
  const never = session.transact([
    { op: 'wait', table: 'NB_Global', where: [], columns: ['name'], until: '==', rows: [{ name: 'x' }], timeoutMs: 60_000 },
  ]);
  await session.close();
  const outcome = await never;
  assert.ok(!outcome.ok);
  assert.deepEqual([outcome.error.code, outcome.error.outcome], ['OVSDB_CLOSED', 'unknown']);
  const late = await session.transact([]);
  assert.ok(!late.ok);
  assert.deepEqual([late.error.code, late.error.outcome], ['OVSDB_CLOSED', 'not-sent']);
  await assert.rejects(session.untilSynced(), { code: 'OVSDB_CLOSED' });
  assert.equal(session.replica.status, 'stale');
});

test('untilSynced gives up with its signal', async (t) => {
  const { session } = openSession(t, ['unix:/nonexistent/socket']);
  const controller = new AbortController();
  const waiting = session.untilSynced(controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, { message: 'enough' });
  assert.equal(session.replica.status, 'never-synced');
});
