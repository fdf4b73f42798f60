/**
 * `gc`: what the plan of the collection costs beside as many rows of another program, from the replica of a real ovsdb-server: the full plan, as
 * `kiln gc plan` and the survey of a new leader make it, and the incremental one, from an object that asks for nothing more to the
 * transaction that takes its rows.
 */
import type { Output, RowOutput, RowOwner } from '../src/compile/output.ts';
import { rowsOf } from '../src/commit/testing/shared-northbound.ts';
import { WriterProcess } from '../src/commit/testing/writer-process.ts';
import { CollectionPolicy } from '../src/diff/collection-policy.ts';
import { collectionPlan } from '../src/explain/collection-plan.ts';
import type { RowId } from '../src/nb/row-id.ts';
import { rowId } from '../src/nb/row-id.ts';
import { insert } from '../src/ovsdb/index.ts';
import { OvsdbServerProcess } from '../src/ovsdb/testing/ovsdb-server-process.ts';
import { NotMeasured } from './progress-watch.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

/** Rows of one object: a switch with its ports. */
const OF_ONE = 10;
const IN_TRANSACTION = 2_000;
/** Objects that are made before the next ones: each step has a time limit. */
const AT_ONCE = 500;

export async function gc({ owned, foreign, unexplained, rounds }: Sizes['gc']): Promise<BenchRow[]> {
  const server = await OvsdbServerProcess.start();
  const kiln = await new WriterProcess(server).start();
  try {
    const objects = Array.from({ length: Math.ceil(owned / OF_ONE) }, (_, at) => outputsOf(at));
    for (let from = 0; from < foreign; from += IN_TRANSACTION) await makeForeign(kiln, from, Math.min(from + IN_TRANSACTION, foreign));
    for (let from = 0; from < objects.length; from += AT_ONCE) await make(kiln, objects.slice(from, from + AT_ONCE).flat());
    const plans = Array.from({ length: rounds }, () =>
      fullPlan(
        kiln,
        new Set(
          objects
            .flat()
            .slice(0, unexplained)
            .map(({ id }) => id),
        ),
      ),
    );
    const increments: number[] = [];
    for (let round = 0; round < rounds; round++) increments.push(await increment(kiln, objects[objects.length - 1 - round] ?? []));
    return [
      {
        name: `full plan over ${owned} rows of Kiln and ${foreign} of another program, ${unexplained} of them unexplained`,
        value: median(plans),
        unit: 'ms',
        aim: '≤ 300',
      },
      { name: `plan of one object's ${OF_ONE} rows, to the transaction`, value: median(increments), unit: 'ms', aim: '≤ 5' },
    ];
  } finally {
    await kiln.close();
    await server.stop();
  }
}

function ownerOf(at: number): RowOwner {
  return { kind: 'subnet', namespace: '', name: `s${at}`, uid: `uid-${at}`, created: '2026-01-01T00:00:00Z' };
}

function outputsOf(at: number): readonly RowOutput[] {
  const row = rowsOf(ownerOf(at));
  const home = rowId('Logical_Switch', `s${at}`);
  const ports = Array.from({ length: OF_ONE - 1 }, (_, port) => {
    const name = `p${port}.s${at}`;
    return row(
      rowId('Logical_Switch_Port', name),
      { name, addresses: [`0a:00:00:00:00:0${port} 10.0.0.${port + 2}`] },
      { id: home, column: 'ports' },
    );
  });
  return [row(home, { name: `s${at}` }), ...ports];
}

async function make(kiln: WriterProcess, outputs: readonly Output[]): Promise<void> {
  kiln.desired.replace([], outputs);
  kiln.writer.flush();
  await kiln.quiet();
}

async function makeForeign({ session }: WriterProcess, from: number, to: number): Promise<void> {
  const rows = Array.from({ length: to - from }, (_, at) =>
    insert('Logical_Switch', { name: `neutron-${from + at}`, external_ids: { 'neutron:network_name': `n${from + at}` } }),
  );
  const made = await session.transact(rows);
  if (!made.ok) throw new NotMeasured(`the other program's rows were not made: ${made.error.message}`);
}

/** @returns milliseconds */
function fullPlan({ world, desired }: WriterProcess, unexplained: ReadonlySet<RowId>): number {
  const policy = new CollectionPolicy(world, true);
  const began = performance.now();
  const plan = collectionPlan(
    world,
    { row: (id) => (unexplained.has(id) ? undefined : desired.rows.row(id)) },
    { ownerExists: () => false, policy, hold: undefined, now: Date.now() },
  );
  const ms = performance.now() - began;
  if (plan.length !== unexplained.size) throw new NotMeasured(`the plan has ${plan.length} rows, and ${unexplained.size} are unexplained`);
  return ms;
}

/** @returns milliseconds until the transaction is handed to the connection */
async function increment(kiln: WriterProcess, object: readonly Output[]): Promise<number> {
  const { session, desired, writer } = kiln;
  const transact = session.transact.bind(session);
  let sentAt: number | undefined;
  session.transact = (...given) => {
    sentAt ??= performance.now();
    return transact(...given);
  };
  const began = performance.now();
  desired.replace(object, []);
  writer.flush();
  await kiln.quiet();
  session.transact = transact;
  if (sentAt === undefined) throw new NotMeasured('an object that asks for nothing more lost no row');
  return sentAt - began;
}
