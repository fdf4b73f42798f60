/** Prints what the session costs against a real server here: `node --expose-gc src/ovsdb/session.bench.ts`. */
import { insert, mutateDelete, mutateInsert, newUuid, OvsdbSession, rowIs, type Operation, type Uuid } from './index.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';

const tables = { Logical_Switch: 'all', Logical_Switch_Port: 'all' } as const;

async function open(endpoint: string): Promise<OvsdbSession> {
  const session = new OvsdbSession({ endpoints: [endpoint], database: 'OVN_Northbound', tables });
  session.start();
  await session.untilSynced();
  return session;
}

async function commit(session: OvsdbSession, operations: readonly Operation[]): Promise<void> {
  const outcome = await session.transact(operations);
  if (!outcome.ok) throw outcome.error;
}

function port(uuid: Uuid, at: number): Operation {
  const addresses = [`0a:00:00:00:${(at >> 8) & 255}:${at & 255} 10.1.${(at >> 8) & 255}.${at & 255}`];
  const ids = { vendor: 'example', owner: `pod/default/p-${at}`, uid: uuid, rule: 'pod' };
  return insert('Logical_Switch_Port', { name: `p-${at}-${uuid}`, addresses, external_ids: ids }, uuid);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Adds ports in transactions of `batch`, with `ahead` transactions under way. @returns rows a second */
async function write(session: OvsdbSession, switchId: Uuid, count: number, batch: number, ahead: number): Promise<number> {
  const started = performance.now();
  const open = new Set<Promise<void>>();
  for (let at = 0; at < count; at += batch) {
    const uuids = Array.from({ length: batch }, newUuid);
    const sent: Promise<void> = commit(session, [
      ...uuids.map((uuid, offset) => port(uuid, at + offset)),
      mutateInsert('Logical_Switch', [rowIs(switchId)], 'ports', uuids),
    ]).then(() => void open.delete(sent));
    open.add(sent);
    if (open.size >= ahead) await Promise.race(open);
  }
  await Promise.all(open);
  return Math.round((count / (performance.now() - started)) * 1000);
}

async function milliseconds(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return Math.round(performance.now() - started);
}

const server = await OvsdbServerProcess.start();
try {
  const writer = await open(server.unix);
  const switchId = newUuid();
  await commit(writer, [insert('Logical_Switch', { name: 'large' }, switchId)]);
  print(`write, 100 rows a transaction, one under way:  ${await write(writer, switchId, 12_500, 100, 1)} rows/s`);
  print(`write, 100 rows a transaction, four under way: ${await write(writer, switchId, 12_500, 100, 4)} rows/s`);
  print(`write, 1 row a transaction, eight under way:   ${await write(writer, switchId, 2_000, 1, 8)} rows/s`);

  const collect = (globalThis as { gc?: () => void }).gc ?? ((): void => {});
  collect();
  const before = process.memoryUsage().heapUsed;
  let reader: OvsdbSession | undefined;
  const first = await milliseconds(async () => (reader = await open(server.unix)));
  collect();
  const rows = reader!.replica.table('Logical_Switch_Port').size;
  print(`read ${rows} ports: ${first} ms, ${Math.round((process.memoryUsage().heapUsed - before) / rows)} bytes of heap a row`);
  const batches: number[] = [];
  reader!.onChanges((batch) => batches.push(batch.length));
  const small = newUuid();
  await commit(writer, [insert('Logical_Switch', { name: 'small' }, small)]);
  for (const [name, target] of [
    ['1 port', small],
    [`${rows} ports`, switchId],
  ] as const) {
    const cpu = process.cpuUsage();
    const uuid = newUuid();
    await commit(writer, [port(uuid, 0), mutateInsert('Logical_Switch', target, 'ports', [uuid])]);
    for (let round = 0; round < 500; round++) {
      const next = newUuid();
      await commit(writer, [port(next, round), mutateInsert('Logical_Switch', target, 'ports', [next])]);
      await commit(writer, [mutateDelete('Logical_Switch', target, 'ports', [next])]);
    }
    const { user, system } = process.cpuUsage(cpu);
    print(`one change in a switch of ${name}: ${Math.round((user + system) / 1_000)} µs of CPU for both sessions (1,000 transactions)`);
  }
  await Promise.all([writer.close(), reader!.close()]);
} finally {
  await server.stop();
}
