/**
 * `journal`: what the journal costs a deletion, with a real ovsdb-server: the same rows deleted with and without it, in turn; and their
 * undo, which must end in the very same database, UUIDs aside.
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
  const times = { without: [] as number[], with: [] as number[], undone: [] as number[] };
  let bytes = 0;
  try {
    // In turn: another program on a shared machine slows both.
    for (let round = 0; round < rounds; round++) {
      times.without.push((await deletion(rows)).ms);
      const own = join(directory, String(round));
      const file = new FileJournal({ directory: own, clock: systemClock, writer: 'bench' });
      const deleted = await deletion(rows, file, own);
      times.with.push(deleted.ms);
      times.undone.push(deleted.undoMs);
      bytes = file.counts.bytes;
      await file.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const [plain, journaled] = [median(times.without), median(times.with)];
  const of = `${rows} rows`;
  return [
    { name: `deletion of ${of}, without a journal`, value: plain, unit: 'ms' },
    { name: `deletion of ${of}, journaled`, value: journaled, unit: 'ms' },
    { name: "the journal's share of it", value: Math.max(0, (100 * (journaled - plain)) / journaled), unit: '%', aim: '≤ 10' },
    { name: 'journal', value: bytes / rows, unit: 'bytes a row' },
    { name: `undo of ${of}: plan and transaction`, value: median(times.undone), unit: 'ms' },
  ];
}

/** Makes the rows, deletes them, restores them if there is a journal, and compares. */
async function deletion(rows: number, journaling?: FileJournal, own = ''): Promise<{ readonly ms: number; readonly undoMs: number }> {
  const server = await OvsdbServerProcess.start();
  const kiln = await new WriterProcess(server, undefined, journaling).start();
  try {
    const { kept, lost } = network(rows);
    await kiln.want([...kept, ...lost]);
    const before = journaling === undefined ? [] : await dumpOf(server);
    const began = performance.now();
    await kiln.want(kept);
    const ms = performance.now() - began;
    if (journaling === undefined) return { ms, undoMs: 0 };
    const undoBegan = performance.now();
    await undo(kiln, own);
    const undoMs = performance.now() - undoBegan;
    const [first] = difference(before, await dumpOf(server));
    if (first !== undefined) throw new NotMeasured(`the undo did not restore the same database: ${first}`);
    return { ms, undoMs };
  } finally {
    await kiln.close();
    await server.stop();
  }
}
