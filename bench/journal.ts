/**
 * `journal`: what the journal costs a deletion, with a real ovsdb-server, and the undo of that deletion, which must end in the very same database, UUIDs aside.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { difference, dumpOf, network, undo } from '../src/commit/testing/journaled-network.ts';
import { WriterProcess } from '../src/commit/testing/writer-process.ts';
import { FileJournal } from '../src/journal/file-journal.ts';
import { OvsdbServerProcess } from '../src/ovsdb/testing/ovsdb-server-process.ts';
import { systemClock } from '../src/timing/clock.ts';
import { NotMeasured } from './progress-watch.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

export async function journal({ rows, rounds }: Sizes['journal']): Promise<BenchRow[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-bench-journal-'));
  const measured: Deletion[] = [];
  try {
    for (let round = 0; round < rounds; round++) measured.push(await deletion(rows, join(directory, String(round))));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const of = `${rows} rows`;
  const middle = (value: (one: Deletion) => number): number => median(measured.map(value));
  return [
    { name: `deletion of ${of}, from the outputs to the last reply`, value: middle(({ ms }) => ms), unit: 'ms' },
    { name: 'of it waiting for the journal', value: middle(({ journalMs }) => journalMs), unit: 'ms' },
    { name: "the journal's share", value: middle(({ ms, journalMs }) => (100 * journalMs) / ms), unit: '%', aim: '≤ 10' },
    { name: 'journal', value: middle(({ bytes }) => bytes / rows), unit: 'bytes a row' },
    { name: `undo of ${of}: reading, plan and transaction`, value: middle(({ undoMs }) => undoMs), unit: 'ms' },
  ];
}

interface Deletion {
  readonly ms: number;
  readonly journalMs: number;
  readonly bytes: number;
  readonly undoMs: number;
}

/** Makes the rows, deletes them, restores them, and compares. @param own directory of the journal */
async function deletion(rows: number, own: string): Promise<Deletion> {
  const server = await OvsdbServerProcess.start();
  const file = new FileJournal({ directory: own, clock: systemClock, writer: 'bench' });
  const kiln = await new WriterProcess(server, undefined, file).start();
  try {
    const { kept, lost } = network(rows);
    await kiln.want([...kept, ...lost]);
    const before = await dumpOf(server);
    const began = performance.now();
    await kiln.want(kept);
    const ms = performance.now() - began;
    const { journalMs } = kiln.writer;
    const { bytes } = file.counts;
    const undoBegan = performance.now();
    await undo(kiln, own);
    const undoMs = performance.now() - undoBegan;
    const [first] = difference(before, await dumpOf(server));
    if (first !== undefined) throw new NotMeasured(`the undo did not restore the same database: ${first}`);
    return { ms, journalMs, bytes, undoMs };
  } finally {
    await kiln.close();
    await file.close();
    await server.stop();
  }
}
