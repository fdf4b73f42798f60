/**
 * `ovsdb`: what the client costs with a real ovsdb-server: reading many rows compared with the server's own time to the first byte, rows
 * written a second, and how long one row takes in a large switch.
 */
import { connect } from 'node:net';
import { insert, mutateDelete, mutateInsert, newUuid, OvsdbSession, rowIs } from '../src/ovsdb/index.ts';
import type { Operation, Uuid } from '../src/ovsdb/index.ts';
import { OvsdbServerProcess } from '../src/ovsdb/testing/ovsdb-server-process.ts';
import { monitoredColumns } from '../src/nb/tables.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { median, percentile } from './statistics.ts';

const TABLES = monitoredColumns();
const DATABASE = 'OVN_Northbound';
/** Reads of each kind, alternating: other programs on a shared machine only ever make one slower. */
const READS = 5;

export async function ovsdb({ rows: sizes, written: count, latencyPorts }: Sizes['ovsdb']): Promise<BenchRow[]> {
  const server = await OvsdbServerProcess.start();
  const writer = await open(server.unix);
  const rows: BenchRow[] = [];
  try {
    const large = newUuid();
    await commit(writer, [insert('Logical_Switch', { name: 'large' }, large)]);
    const [one, four] = [await write(writer, large, count, 1), await write(writer, large, count, 4)];
    rows.push({ name: 'rows written, 100 a transaction, one transaction under way', value: one, unit: 'rows/s' });
    rows.push({ name: 'rows written, 100 a transaction, four under way', value: four, unit: 'rows/s' });
    let written = 2 * count;
    await write(writer, large, latencyPorts - written, 4);
    rows.push(...(await latency(writer, large, latencyPorts)));
    written = latencyPorts;
    for (const size of sizes) {
      await write(writer, large, size - written, 4);
      written = size;
      rows.push(...(await reading(server.unix, size, asked(writer))));
    }
    return rows;
  } finally {
    await writer.close();
    await server.stop();
  }
}

/** Adds and deletes one port repeatedly; the client receives its own change before the reply. */
async function latency(writer: OvsdbSession, parent: Uuid, among: number): Promise<BenchRow[]> {
  const times: number[] = [];
  const cpu = process.cpuUsage();
  for (let n = 0; n < 300; n++) {
    const uuid = newUuid();
    const started = performance.now();
    await commit(writer, [port(uuid, n), mutateInsert('Logical_Switch', parent, 'ports', [uuid])]);
    times.push(performance.now() - started);
    await commit(writer, [mutateDelete('Logical_Switch', parent, 'ports', [uuid])]);
  }
  const { user, system } = process.cpuUsage(cpu);
  const where = `one row, in a switch of ${among} ports`;
  return [
    { name: `${where}: p50`, value: percentile(times, 50), unit: 'ms' },
    { name: `${where}: p99`, value: percentile(times, 99), unit: 'ms' },
    { name: `${where}: the client's processor time`, value: (user + system) / 600, unit: 'µs' },
  ];
}

async function reading(endpoint: string, size: number, tables: object): Promise<BenchRow[]> {
  const firstBytes: number[] = [];
  const reads: number[] = [];
  const cpu: number[] = [];
  const turns: number[] = [];
  for (let n = 0; n < READS; n++) {
    firstBytes.push(await firstByte(endpoint, tables));
    const before = process.cpuUsage();
    let longest = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const started = performance.now();
    const session = await open(endpoint);
    reads.push(performance.now() - started);
    await new Promise((done) => setTimeout(done, 5));
    clearInterval(beat);
    turns.push(longest);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1_000);
    const found = session.replica.table('Logical_Switch_Port').size;
    if (found !== size) throw new Error(`${found} ports were read of ${size}`);
    await session.close();
  }
  const name = `${size} port rows`;
  const [least, read] = [Math.min(...firstBytes), Math.min(...reads)];
  return [
    { name: `${name}: the server's time to the first byte`, value: least, unit: 'ms' },
    { name: `${name}: until the replica is synced`, value: read, unit: 'ms' },
    { name: `${name}: on top of the server's time`, value: (read / least - 1) * 100, unit: '%', aim: '≤ 60' },
    { name: `${name}: the client's processor time`, value: median(cpu), unit: 'ms' },
    { name: `${name}: longest turn of the event loop`, value: median(turns), unit: 'ms' },
  ];
}

/** The columns that a session monitors, as far as the server's schema has them. */
function asked({ schema }: OvsdbSession): object {
  const present = Object.entries(TABLES).flatMap(([table, columns]) => {
    const known = schema?.tables.get(table)?.columns;
    return known === undefined ? [] : [[table, [{ columns: columns.filter((column) => known.has(column)) }]]];
  });
  return Object.fromEntries(present) as object;
}

/** How long the server composes its answer to the session's request, measured by a client that parses nothing. */
function firstByte(endpoint: string, tables: object): Promise<number> {
  const zero = '00000000-0000-0000-0000-000000000000';
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const socket = connect(endpoint.slice('unix:'.length));
    socket.once('error', reject);
    socket.once('data', () => {
      resolve(performance.now() - started);
      socket.destroy();
    });
    socket.write(JSON.stringify({ id: 1, method: 'monitor_cond_since', params: [DATABASE, 'bench', tables, zero] }));
  });
}

async function open(endpoint: string): Promise<OvsdbSession> {
  const session = new OvsdbSession({ endpoints: [endpoint], database: DATABASE, tables: TABLES });
  session.start();
  await session.untilSynced();
  return session;
}

async function commit(session: OvsdbSession, operations: readonly Operation[]): Promise<void> {
  const outcome = await session.transact(operations);
  if (!outcome.ok) throw outcome.error;
}

/** A row like a pod's port by Kiln. */
function port(uuid: Uuid, at: number): Operation {
  const [a, b] = [(at >> 8) & 255, at & 255];
  const name = `p-${at}-${uuid.slice(0, 8)}.default`;
  const externalIds = {
    pod: `default/${name}`,
    ls: 'large',
    vendor: 'kube-ovn',
    'kiln.io/owner': `pod/default/${name}`,
    'kiln.io/uid': uuid,
    'kiln.io/rule': 'pod-port',
  };
  return insert('Logical_Switch_Port', { name, addresses: [`0a:00:00:00:${a}:${b} 10.1.${a}.${b}`], external_ids: externalIds }, uuid);
}

/** Adds ports in transactions of 100. @param ahead concurrent transactions @returns rows a second */
async function write(session: OvsdbSession, parent: Uuid, count: number, ahead: number): Promise<number> {
  const started = performance.now();
  const sent = new Set<Promise<void>>();
  for (let at = 0; at < count; at += 100) {
    const uuids = Array.from({ length: 100 }, newUuid);
    const one: Promise<void> = commit(session, [
      ...uuids.map((uuid, offset) => port(uuid, at + offset)),
      mutateInsert('Logical_Switch', [rowIs(parent)], 'ports', uuids),
    ]).then(() => void sent.delete(one));
    sent.add(one);
    if (sent.size >= ahead) await Promise.race(sent);
  }
  await Promise.all(sent);
  return (count * 1_000) / (performance.now() - started);
}
