/**
 * The simulated server against the real one: the same transactions on both, chosen and random, give the same replies, the same
 * contents, and the same updates to monitors.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { treeSeed } from '../../../testing/tree-seed.ts';
import { systemClock } from '../../../timing/clock.ts';
import {
  abort,
  deleteRows,
  equals,
  includes,
  insert,
  insertNamed,
  mapSet,
  mutate,
  mutateDelete,
  mutateInsert,
  newUuid,
  select,
  update,
  waitFor,
  waitForNone,
  waitForRow,
  type Operation,
  type OvsdbSession,
  type Row,
  type RowChange,
  type TransactOutcome,
  type Uuid,
} from '../../index.ts';
import { openSession, testTables } from '../open-session.ts';
import { northboundSchemaFile, OvsdbServerProcess } from '../ovsdb-server-process.ts';
import { until } from '../../../testing/until.ts';
import { randomFrom, randomTransaction, tables } from '../random-transaction.ts';
import { SimulatedServer } from './server.ts';

const schemaJson: unknown = JSON.parse(readFileSync(northboundSchemaFile, 'utf8'));
const observed = { ...testTables, ACL: 'all', Port_Group: 'all', Logical_Router_Port: 'all', Logical_Router_Static_Route: 'all' } as const;

interface Pair {
  readonly real: OvsdbSession;
  readonly simulated: OvsdbSession;
  readonly server: SimulatedServer;
  readonly process: OvsdbServerProcess;
  readonly batches: { readonly real: (readonly RowChange[])[]; readonly simulated: (readonly RowChange[])[] };
}

async function pair(t: TestContext): Promise<Pair> {
  const process = await OvsdbServerProcess.start();
  t.after(() => process.stop());
  const server = new SimulatedServer({ schemaJson, clock: systemClock, newUuid });
  const real = openSession(t, [process.unix], { tables: observed });
  const simulated = openSession(t, ['tcp:127.0.0.1:6641'], { tables: observed, dial: server.dialFor('test') });
  await Promise.all([real.session.untilSynced(), simulated.session.untilSynced()]);
  return {
    real: real.session,
    simulated: simulated.session,
    server,
    process,
    batches: { real: real.batches, simulated: simulated.batches },
  };
}

/** The comparable parts of an outcome, without texts of messages and UUIDs that the server chose. */
function verdict(outcome: TransactOutcome): unknown {
  if (outcome.ok)
    return outcome.results.map(({ count, rows }) => ({ count, rows: rows?.map((row) => shown(row, ['_uuid', 'name'])).toSorted() }));
  return { error: outcome.error.code, operation: outcome.error.operation?.index };
}

function shown(row: Row, without: readonly string[]): string {
  const plain = (value: unknown): unknown =>
    value instanceof Set || value instanceof Map ? [...(value as Iterable<unknown>)].map((part) => JSON.stringify(part)).toSorted() : value;
  return JSON.stringify(
    Object.keys(row)
      .filter((column) => !without.includes(column))
      .toSorted()
      .map((column) => [column, plain(row[column])]),
  );
}

function contents(session: OvsdbSession): Record<string, string[]> {
  return Object.fromEntries(
    Object.keys(observed).map((table) => [table, [...session.replica.table(table).values()].map((row) => shown(row, [])).toSorted()]),
  );
}

function changes(batches: readonly (readonly RowChange[])[]): string[][] {
  const cells = (change: RowChange): unknown => (change.changed !== undefined ? [...change.changed.keys()].toSorted() : []);
  return batches.map((batch) => batch.map((change) => JSON.stringify([change.table, change.uuid, change.kind, cells(change)])).toSorted());
}

async function both(pair: Pair, operations: readonly Operation[]): Promise<TransactOutcome> {
  const [real, simulated] = await Promise.all([pair.real.transact(operations), pair.simulated.transact(operations)]);
  const what = JSON.stringify(operations, (_key, part: unknown) => (part instanceof Set || part instanceof Map ? [...part] : part));
  assert.deepEqual(verdict(simulated), verdict(real), `${what}: ${real.ok ? '' : real.error.message}`);
  return real;
}

test('chosen transactions: guards, chosen and named UUIDs, mutations, references, collection, indexes, limits', async (t) => {
  const two = await pair(t);
  const [a, b, port, port2, router, group, acl, global] = Array.from({ length: 8 }, () => newUuid()) as [
    Uuid,
    Uuid,
    Uuid,
    Uuid,
    Uuid,
    Uuid,
    Uuid,
    Uuid,
  ];
  const owned = { vendor: 'kube-ovn', 'kiln.io/owner': 'vpc//a' };
  const cases: readonly (readonly Operation[])[] = [
    [insert('NB_Global', { external_ids: { 'kiln.io/term': '1' } }, global)],
    // A table of at most one row.
    [insert('NB_Global', {}, newUuid())],
    [insert('Logical_Switch', { name: 'a', external_ids: owned }, a), insert('Logical_Switch', { name: 'b' }, b)],
    // An existing UUID, and one that a transaction inserts twice.
    [insert('Logical_Switch', { name: 'again' }, a)],
    [insert('Logical_Switch', { name: 'x' }, port), insert('Logical_Switch', { name: 'y' }, port)],
    [deleteRows('Logical_Switch', b), insert('Logical_Switch', { name: 'b' }, b)],
    // Guards.
    [waitForRow('Logical_Switch', a, [includes('external_ids', owned)]), update('Logical_Switch', a, { other_config: { k: 'v' } })],
    [waitForRow('Logical_Switch', a, [includes('external_ids', { vendor: 'neutron' })]), update('Logical_Switch', a, { name: 'lost' })],
    [waitForRow('Logical_Switch', newUuid()), update('Logical_Switch', a, { name: 'lost' })],
    [waitForNone('Logical_Switch', 'name', 'none')],
    [waitForNone('Logical_Switch', 'name', 'a')],
    [
      waitFor('NB_Global', global, [{ external_ids: new Map([['kiln.io/term', '1']]) }]),
      mapSet('NB_Global', global, 'external_ids', { 'kiln.io/term': '2' }),
    ],
    [waitFor('NB_Global', global, [{ external_ids: new Map([['kiln.io/term', '1']]) }])],
    // A port without a parent is collected at once; one with a parent is collected with it.
    [insert('Logical_Switch_Port', { name: 'orphan' }, newUuid())],
    [insert('Logical_Switch_Port', { name: 'p', addresses: ['unknown'] }, port), mutateInsert('Logical_Switch', a, 'ports', [port])],
    // A duplicate name in an indexed table.
    [insert('Logical_Switch_Port', { name: 'p' }, port2), mutateInsert('Logical_Switch', b, 'ports', [port2])],
    // The same name, passed to another row in one transaction.
    [
      mutateDelete('Logical_Switch', a, 'ports', [port]),
      insert('Logical_Switch_Port', { name: 'p' }, port2),
      mutateInsert('Logical_Switch', b, 'ports', [port2]),
    ],
    // A reference to a missing row: a strong one, and a weak one.
    [mutateInsert('Logical_Switch', a, 'ports', [newUuid()])],
    [mutateInsert('Logical_Switch', a, 'load_balancer', [newUuid()])],
    // Weak references are removed with their row.
    [insert('Port_Group', { name: 'group', ports: [port2] }, group)],
    [
      insert('ACL', { priority: 1, direction: 'to-lport', match: 'ip4', action: 'drop' }, acl),
      mutateInsert('Port_Group', group, 'acls', [acl]),
    ],
    [mutateDelete('Logical_Switch', b, 'ports', [port2])],
    // A row with strong references cannot be deleted.
    [deleteRows('ACL', acl)],
    [mutateDelete('Port_Group', group, 'acls', [acl]), deleteRows('ACL', acl)],
    // Values that the schema forbids.
    [insert('ACL', { priority: 99_999, direction: 'to-lport', match: '', action: 'drop' }, newUuid())],
    [insert('ACL', { priority: 1, direction: 'sideways', match: '', action: 'drop' }, newUuid())],
    [update('Logical_Switch', a, { _uuid: newUuid() })],
    // Mutations of maps and sets: an existing key keeps its value, and a pair is deleted only if its value is equal.
    [mutateInsert('Logical_Switch', a, 'external_ids', { vendor: 'other', more: 'x' })],
    [mutate('Logical_Switch', a, [{ column: 'external_ids', mutator: 'delete', value: { vendor: 'other', more: 'x' } }])],
    [mapSet('Logical_Switch', a, 'external_ids', { vendor: 'third' })],
    [mutateDelete('Logical_Switch', a, 'external_ids', ['vendor', 'nothing'])],
    [mutate('NB_Global', global, [{ column: 'nb_cfg', mutator: '+=', value: 2 }])],
    [mutate('NB_Global', global, [{ column: 'nb_cfg', mutator: '/=', value: 0 }])],
    [mutate('NB_Global', global, [{ column: 'name', mutator: '+=', value: 1 }])],
    // Named UUIDs, also before their insert.
    [
      insertNamed('Logical_Router_Port', { name: 'rp', mac: '00:00:00:00:00:01', networks: ['10.0.0.1/24'] }, 'made'),
      insert('Logical_Router', { name: 'r', ports: ['made'] }, router),
    ],
    [
      insertNamed('Logical_Router_Port', { name: 'r1', mac: 'm', networks: ['10.0.0.1/24'] }, 'twice'),
      insertNamed('Logical_Router_Port', { name: 'r2', mac: 'm', networks: ['10.0.0.1/24'] }, 'twice'),
    ],
    [select('Logical_Switch', [], ['name', 'external_ids'])],
    [update('Logical_Switch', [equals('name', 'none')], { name: 'x' })],
    [update('Logical_Switch', [], { other_config: { all: 'yes' } })],
    [insert('Logical_Switch', { name: 'never' }, newUuid()), abort()],
    [deleteRows('Logical_Switch', a), deleteRows('Logical_Switch', a)],
    [update('Logical_Switch', [], {})],
    [],
  ];
  for (const operations of cases) {
    await both(two, operations);
    assert.deepEqual(contentsWithoutChosen(two.simulated), contentsWithoutChosen(two.real));
  }
});

/** Rows that were inserted by name have UUIDs of the servers' choice. */
function contentsWithoutChosen(session: OvsdbSession): unknown {
  const { Logical_Router_Port: ports, Logical_Router: routers, ...rest } = contents(session);
  return { rest, ports: ports?.length, routers: routers?.length };
}

/**
 * If a transaction deletes a row and otherwise changes a column with a weak reference to it, ovsdb-server 3.1 keeps the reference. That is
 * a bug of this version: such a transaction is not compared.
 */
function withoutDangling(operations: readonly Operation[]): readonly Operation[] {
  const deletes = operations.some((one) => one.op === 'delete' && one.table === 'Load_Balancer');
  return deletes ? operations.filter((one) => !('table' in one && one.table === 'Logical_Switch')) : operations;
}

test('random transactions: the same answers, contents and changes', async (t) => {
  const two = await pair(t);
  const seed = treeSeed();
  const random = randomFrom(seed);
  let failed = 0;
  for (let count = 0; count < 600; count++) {
    const outcome = await both(two, withoutDangling(randomTransaction(two.real, random)));
    if (!outcome.ok) failed++;
  }
  assert.deepEqual(contents(two.simulated), contents(two.real), `seed ${seed}`);
  assert.deepEqual(changes(two.batches.simulated), changes(two.batches.real), `seed ${seed}`);
  assert.ok(failed > 0 && failed < 500, `${failed} of 600 failed`);
  assert.ok(tables.every((table) => two.real.replica.table(table).size > 0));
});

test('a broken connection: the own update comes before the reply, a lost reply is unknown, and the session resumes', async (t) => {
  const two = await pair(t);
  const uuid = newUuid();
  let fate: 'execute' | 'lose-reply' | 'lose-request' = 'lose-reply';
  const server = new SimulatedServer({ schemaJson, clock: systemClock, newUuid, fate: () => fate });
  const { session } = openSession(t, ['tcp:127.0.0.1:6641'], { tables: observed, dial: server.dialFor('test') });
  await session.untilSynced();
  const outcome = await session.transact([insert('Logical_Switch', { name: 'lost' }, uuid)]);
  assert.equal(outcome.ok ? '' : outcome.error.outcome, 'unknown');
  await until(
    'the session is back and shows what was done',
    () => session.state === 'synced' && session.replica.table('Logical_Switch').has(uuid),
  );
  fate = 'lose-request';
  const second = await session.transact([insert('Logical_Switch', { name: 'never' }, newUuid())]);
  assert.equal(second.ok ? '' : second.error.outcome, 'unknown');
  await until('the session is back', () => session.state === 'synced');
  assert.equal(session.replica.table('Logical_Switch').size, 1);
  // On both, the replica has a transaction's changes when its reply arrives.
  for (const one of [two.real, two.simulated]) {
    const row = newUuid();
    const made = await one.transact([insert('Logical_Switch', { name: 'now' }, row)]);
    assert.ok(made.ok && one.replica.table('Logical_Switch').has(row));
  }
});

test('members of a cluster: a session that wants the leader follows it', async (t) => {
  const server = new SimulatedServer({ schemaJson, clock: systemClock, newUuid, members: 3 });
  const endpoints = [1, 2, 3].map((member) => `tcp:127.0.0.1:664${member}`);
  const { session } = openSession(t, endpoints, { tables: observed, leaderOnly: true, dial: server.dialFor('test') });
  await session.untilSynced();
  assert.equal(session.endpoint, endpoints[0]);
  server.moveLeader();
  await until('the session is with the new leader', () => session.state === 'synced' && session.endpoint === endpoints[1]);
  server.transact([{ op: 'insert', table: 'Logical_Switch', row: { name: 'seen' } }]);
  await until('the change is seen', () => session.replica.table('Logical_Switch').size === 1);
});
