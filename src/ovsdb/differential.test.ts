import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { decodeValue } from './decode.ts';
import { UnreliableProxy } from '../testing/unreliable-proxy.ts';
import { insert, newUuid, type Atom, type OvsdbError, type OvsdbOptions, type OvsdbSession, type RowChange, type Value } from './index.ts';
import { OvsdbCluster } from './testing/ovsdb-cluster.ts';
import { openSession } from './testing/open-session.ts';
import { randomFrom, randomTransaction, tables } from './testing/random-transaction.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { TamperingProxy } from './testing/tampering-proxy.ts';

const run = promisify(execFile);
type Contents = Map<string, Map<string, Record<string, Value>>>;

/** The contents of the database according to `ovsdb-client dump`. */
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

/** A copy that is built from the listeners' changes alone. */
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

/** On a busy machine sessions give up connections by themselves, and faults come later. */
const MOST_TIMES = 4;

/** The endpoints of the two sessions of a history, and the faults of their connections meanwhile. */
interface Way {
  readonly writer: readonly string[];
  readonly reader: readonly string[];
  readonly options?: Partial<OvsdbOptions>;
  /** Called before each transaction. */
  readonly disturb: (done: number, random: (below: number) => number) => Promise<void> | void;
  /** Called after the last transaction: it ends all faults. */
  readonly calm: () => Promise<void> | void;
  /** Whether enough faults have come; until then the history goes on, up to four times as long. */
  readonly enough?: () => boolean;
  /** The server with the right contents. */
  readonly server: () => Promise<OvsdbServerProcess> | OvsdbServerProcess;
}

async function randomHistory(t: TestContext, seed: number, count: number, way: Way): Promise<readonly OvsdbError[]> {
  const { session: writer } = openSession(t, way.writer, way.options);
  const { session: reader, errors } = openSession(t, way.reader, way.options);
  const indexed = reader.replica.memberIndex('Logical_Switch', 'port', 'ports');
  const [written, read] = [follow(writer), follow(reader)];
  await Promise.all([writer.untilSynced(), reader.untilSynced()]);
  const random = randomFrom(seed);
  let failed = 0;
  let done = 0;
  for (; done < count || (done < MOST_TIMES * count && way.enough?.() === false); done++) {
    await way.disturb(done, random);
    await writer.untilSynced();
    const outcome = await writer.transact(randomTransaction(writer, random));
    if (!outcome.ok) failed++;
  }
  assert.ok(failed > 0 && failed < done / 2, `${failed} of ${done} transactions failed`);
  await way.calm();
  const last = newUuid();
  await until('the last row is written', async () => {
    await writer.untilSynced();
    const outcome = await writer.transact([insert('Logical_Switch', { name: 'the last' }, last)]);
    return outcome.ok || outcome.error.code === 'OVSDB_DUPLICATE_UUID';
  });
  await until('the reader has the last row', () => reader.state === 'synced' && reader.replica.table('Logical_Switch').has(last));
  await until('the writer has the last row', () => writer.state === 'synced' && writer.replica.table('Logical_Switch').has(last));

  const truth = await dump(await way.server(), writer);
  for (const table of tables) assert.ok(truth.get(table)!.size > 10, `${table} has ${truth.get(table)!.size} rows`);
  const copies = {
    'the replica of the session that wrote': contentsOf(writer),
    'the replica of the session that only read': contentsOf(reader),
    'the changes that listeners of the writing session got': written,
    'the changes that listeners of the reading session got': read,
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
  return errors;
}

for (const seed of [1, 2]) {
  test(`after 2,000 random transactions the replica is what ovsdb-client dumps, with a reader cut off now and then (seed ${seed})`, async (t) => {
    const server = await OvsdbServerProcess.start();
    t.after(() => server.stop());
    const proxy = await TamperingProxy.start(server.unix);
    t.after(() => proxy.stop());
    const errors = await randomHistory(t, seed, 2_000, {
      writer: [server.unix],
      reader: [proxy.endpoint],
      disturb: (_, random) => void (random(300) === 0 && proxy.disconnectAll()),
      calm: () => undefined,
      server: () => server,
    });
    assert.ok(errors.length > 0 && errors.every(({ code }) => code === 'OVSDB_DISCONNECTED'));
  });
}

test('the same when all bytes come late, and both connections break in the middle of messages or fall silent', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const chance = randomFrom(3);
  const proxies = await Promise.all(
    [0, 1].map(() => UnreliableProxy.start(server.unix, { delayMs: 2, lifeBytes: 60_000, silentOneIn: 4 }, () => chance(1_000_000) / 1e6)),
  );
  for (const proxy of proxies) t.after(() => proxy.stop());
  const [writer, reader] = proxies as [UnreliableProxy, UnreliableProxy];
  const errors = await randomHistory(t, 3, 600, {
    writer: [writer.endpoint],
    reader: [reader.endpoint],
    options: { probeIntervalMs: 250, syncSilenceMs: 500, backoff: { baseMs: 5, maxMs: 50 } },
    disturb: () => undefined,
    calm: () => proxies.forEach((proxy) => proxy.calm()),
    enough: () => writer.broken.closed > 2 && writer.broken.silent > 0,
    server: () => server,
  });
  const { closed, silent } = writer.broken;
  assert.ok(closed > 2 && silent > 0, `the writer lost ${closed} connections, and ${silent} by silence`);
  assert.ok(errors.length > 0);
});

test('the same on a cluster with members that die and restart, and leaders that transfer their leadership', async (t) => {
  const cluster = await OvsdbCluster.start();
  t.after(() => cluster.stop());
  let down: OvsdbServerProcess | undefined;
  const back = async (): Promise<void> => {
    const member = down;
    down = undefined;
    await member?.restart();
  };
  await randomHistory(t, 4, 600, {
    writer: cluster.endpoints,
    reader: cluster.endpoints,
    options: { leaderOnly: true, probeIntervalMs: 1_000 },
    disturb: async (done, random) => {
      if (done % 100 === 50) await back();
      if (done % 100 !== 99) return;
      const leader = await cluster.leader();
      if (random(3) === 0) await leader.appctl('cluster/failure-test', 'transfer-leadership').catch(() => leader.kill());
      if (leader.pid !== undefined && random(2) === 0) {
        down = leader;
        await leader.kill();
      }
    },
    calm: back,
    server: () => cluster.leader(),
  });
});
