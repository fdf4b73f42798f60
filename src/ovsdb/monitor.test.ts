import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insert, mapSet, mutateDelete, mutateInsert, newUuid, update } from './index.ts';
import { commit, openSession } from './testing/open-session.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { TamperingProxy, type RpcMessage, type Verdict } from './testing/tampering-proxy.ts';

const older: readonly [what: string, lacks: readonly string[], update: string][] = [
  ['Open vSwitch 2.12 and later', [], 'update3'],
  ['Open vSwitch 2.6 to 2.11', ['monitor_cond_since'], 'update2'],
  ['RFC 7047 alone', ['monitor_cond_since', 'monitor_cond'], 'update'],
];
for (const [what, lacks, method] of older) {
  test(`${what}: the replica follows by ${method}`, async (t) => {
    const server = await OvsdbServerProcess.start();
    t.after(() => server.stop());
    const proxy = await TamperingProxy.start(server.unix);
    t.after(() => proxy.stop());
    // A server before 2.9 has no _Server either.
    proxy.onClientMessage = ({ method: asked, params, id }: RpcMessage): Verdict => {
      if (lacks.includes(asked ?? '')) return { answer: { id, result: null, error: { error: 'unknown method' } } };
      const isOld = lacks.length > 0 && Array.isArray(params) && params[0] === '_Server';
      return isOld ? { answer: { id, result: null, error: { error: 'unknown database' } } } : 'pass';
    };
    const { session } = openSession(t, [server.unix]);
    const { session: old, batches } = openSession(t, [proxy.endpoint], { leaderOnly: true });
    await Promise.all([session.untilSynced(), old.untilSynced()]);
    const [switchId, a, b] = [newUuid(), newUuid(), newUuid()];
    const steps = [
      [
        insert('Logical_Switch_Port', { name: 'a', addresses: ['x', 'y'], tag: 3 }, a),
        insert('Logical_Switch_Port', { name: 'b' }, b),
        insert('Logical_Switch', { name: 's', ports: [a, b], external_ids: { k: 'v', l: 'w' } }, switchId),
      ],
      [
        update('Logical_Switch_Port', a, { tag: null, addresses: ['y', 'z'], up: true }),
        mapSet('Logical_Switch', switchId, 'external_ids', { k: '2' }),
        mutateDelete('Logical_Switch', switchId, 'external_ids', ['l']),
      ],
      [mutateDelete('Logical_Switch', switchId, 'ports', [b])],
      [mutateInsert('Logical_Switch_Port', a, 'addresses', ['more'])],
    ];
    const same = (): void => {
      for (const table of ['Logical_Switch', 'Logical_Switch_Port'])
        assert.deepEqual(old.replica.table(table), session.replica.table(table));
    };
    for (const step of steps) {
      batches.length = 0;
      await commit(old, step);
      assert.equal(batches.length, 1);
      await until('both have received it', () => session.replica.table('Logical_Switch').size === 1);
    }
    await commit(session, [insert('NB_Global', { name: 'last' })]);
    await until('both have received it', () => old.replica.table('NB_Global').size === 1);
    same();
    const notified = new Set(
      proxy.fromServer
        .filter(({ method: sent, params }) => sent !== undefined && (params as unknown[])[0] === 'replica')
        .map(({ method: sent }) => sent),
    );
    assert.deepEqual(notified, new Set([method]));

    const generation = old.generation;
    proxy.disconnectAll();
    await until('the session has synced again', () => old.generation > generation);
    same();
  });
}

test('a change of the schema, online: the session comes back with the new columns, the rows in place', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const { session } = openSession(t, [server.unix], { tables: { Logical_Switch: 'all', DHCP_Relay: 'all' } });
  await session.untilSynced();
  const uuid = newUuid();
  await commit(session, [insert('Logical_Switch', { name: 'kept' }, uuid)]);
  const row = session.replica.table('Logical_Switch').get(uuid)!;
  assert.deepEqual(session.missing, [{ table: 'DHCP_Relay' }]);

  await server.convert((schema) => {
    schema.version = '7.99.0';
    schema.tables['Logical_Switch']!.columns['color'] = { type: { key: 'string', min: 0, max: 'unlimited' } };
    delete schema.tables['Logical_Switch']!.columns['copp'];
    schema.tables['DHCP_Relay'] = { columns: { name: { type: 'string' } }, isRoot: true };
  });
  await until('the new schema is read', () => session.schema?.version === '7.99.0' && session.state === 'synced');
  assert.deepEqual(session.missing, []);
  assert.equal(session.replica.table('Logical_Switch').get(uuid), row);
  assert.deepEqual(row['color'], new Set());
  assert.ok(!('copp' in row));
  await commit(session, [mutateInsert('Logical_Switch', uuid, 'color', ['blue']), insert('DHCP_Relay', { name: 'r' })]);
  assert.deepEqual(row['color'], new Set(['blue']));
  assert.equal(session.replica.table('DHCP_Relay').size, 1);
});
