import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { decodeValue } from './decode.ts';
import { insert, type Atom, type OvsdbSession, type RowChange, type Value } from './index.ts';
import { openSession } from './testing/open-session.ts';
import { randomFrom, randomTransaction, tables } from './testing/random-transaction.ts';
import { OvsdbServerProcess, until } from './testing/ovsdb-server-process.ts';
import { TamperingProxy } from './testing/tampering-proxy.ts';

const run = promisify(execFile);
type Contents = Map<string, Map<string, Record<string, Value>>>;

/** What `ovsdb-client dump` says the database holds. */
async function dump(server: OvsdbServerProcess, session: OvsdbSession): Promise<Contents> {
  const { stdout } = await run('ovsdb-client', ['--format=json', '--data=json', 'dump', server.unix, 'OVN_Northbound'], { maxBuffer: 1e9 });
  const contents: Contents = new Map();
  for (const line of stdout.split('\n').filter((text) => text.startsWith('{'))) {
    const table = JSON.parse(line) as { caption: string; headings: string[]; data: unknown[][] };
    const name = /^(\S+) table$/.exec(table.caption)![1]!;
    if (!tables.some((known) => known === name)) continue;
    const columns = session.schema!.tables.get(name)!.columns;
    const rows = table.data.map((cells): [string, Record<string, Value>] => {
      const row = Object.fromEntries(
        table.headings.map((heading, at) => [
          heading,
          heading === '_uuid' ? String((cells[at] as string[])[1]) : decodeValue(columns.get(heading)!, cells[at]),
        ]),
      );
      return [String(row['_uuid']), row];
    });
    contents.set(name, new Map(rows));
  }
  return contents;
}

function contentsOf(session: OvsdbSession): Contents {
  return new Map(tables.map((table) => [table, new Map(Array.from(session.replica.table(table), ([uuid, row]) => [uuid, { ...row }]))]));
}

/** A copy that is built from what listeners are told alone. */
function follow(session: OvsdbSession): Contents {
  const copy: Contents = new Map(tables.map((table) => [table, new Map()]));
  const apply = ({ table, uuid, kind, row, changed }: RowChange): void => {
    const rows = copy.get(table);
    if (rows === undefined) return;
    if (kind === 'delete') return void rows.delete(uuid);
    if (kind === 'insert') {
      assert.ok(!rows.has(uuid));
      // Column by column: rows share their empty sets, and a clone of a whole row would, too.
      return void rows.set(uuid, Object.fromEntries(Object.entries(row).map(([column, value]) => [column, structuredClone(value)])));
    }
    const own = rows.get(uuid)!;
    for (const [column, { before, added, removed }] of changed!) {
      if (added === undefined) {
        assert.deepEqual(own[column], before);
        own[column] = row[column]!;
      } else if (own[column] instanceof Map) {
        const map = own[column] as Map<Atom, Atom>;
        for (const [key, value] of removed.entries()) assert.ok(map.get(key) === value && map.delete(key));
        for (const [key, value] of added.entries()) assert.ok(!map.has(key) && map.set(key, value));
      } else {
        const set = own[column] as Set<Atom>;
        for (const member of removed.keys()) assert.ok(set.delete(member));
        for (const member of added.keys()) assert.ok(!set.has(member) && set.add(member));
      }
    }
  };
  session.onChanges((batch) => batch.forEach(apply));
  return copy;
}

async function randomHistory(t: TestContext, seed: number, count: number): Promise<void> {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const proxy = await TamperingProxy.start(server.unix);
  t.after(() => proxy.stop());
  const { session: writer } = openSession(t, [server.unix]);
  const { session: reader, errors } = openSession(t, [proxy.endpoint]);
  const indexed = reader.replica.memberIndex('Logical_Switch', 'port', 'ports');
  const [written, read] = [follow(writer), follow(reader)];
  await Promise.all([writer.untilSynced(), reader.untilSynced()]);
  const random = randomFrom(seed);
  let failed = 0;
  for (let done = 0; done < count; done++) {
    const outcome = await writer.transact(randomTransaction(writer, random));
    if (!outcome.ok) failed++;
    if (random(300) === 0) proxy.disconnectAll();
  }
  assert.ok(failed > 0 && failed < count / 2, `${failed} of ${count} transactions failed`);
  assert.ok(errors.length > 0 && errors.every(({ code }) => code === 'OVSDB_DISCONNECTED'));
  await reader.untilSynced();
  const outcome = await writer.transact([insert('Logical_Switch', { name: 'the last' })]);
  assert.ok(outcome.ok);
  const last = outcome.results[0]!.uuid!;
  await until('the reader has the last row', () => reader.replica.table('Logical_Switch').has(last));

  const truth = await dump(server, writer);
  for (const table of tables) assert.ok(truth.get(table)!.size > 10, `${table} has ${truth.get(table)!.size} rows`);
  const copies = {
    'the replica of the session that wrote': contentsOf(writer),
    'the replica of the session that was cut off now and then': contentsOf(reader),
    'what the changes told to the session that wrote': written,
    'what the changes told to the session that was cut off now and then': read,
  };
  for (const [what, copy] of Object.entries(copies)) {
    for (const [table, rows] of truth) {
      assert.deepEqual(new Set(copy.get(table)!.keys()), new Set(rows.keys()), `${what}: ${table}`);
      for (const [uuid, row] of rows) assert.deepEqual(copy.get(table)!.get(uuid), row, `${what}: ${table} ${uuid}`);
    }
  }
  for (const [switchId, row] of truth.get('Logical_Switch')!) {
    for (const port of row['ports'] as Set<string>) assert.equal(indexed.first(port)?._uuid, switchId);
  }
}

for (const seed of [1, 2]) {
  test(`after 2,000 random transactions the replica is what ovsdb-client dumps (seed ${seed})`, (t) => randomHistory(t, seed, 2_000));
}
