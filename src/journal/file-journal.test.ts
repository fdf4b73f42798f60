import assert from 'node:assert/strict';
import { appendFile, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import { systemClock } from '../timing/clock.ts';
import type { JournalFile } from './file-journal.ts';
import { FileJournal } from './file-journal.ts';
import { journalFiles } from './journal-files.ts';
import type { JournalEntry } from './journal.ts';
import { readJournal } from './read-journal.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kiln-journal-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** A transaction that deletes one row, and its outcome. */
function transaction(tx: string, at: string, filling = ''): readonly JournalEntry[] {
  return [
    { kind: 'transaction', tx, at, changes: 1 },
    {
      ...{ kind: 'change', tx, change: 'delete', table: 'Logical_Switch', id: `Logical_Switch/${tx}` as RowId, uuid: tx as Uuid },
      ...{ owner: 'subnet//s', uid: 'u', reason: 'unexplained', row: { name: tx, filling }, references: [] },
    },
    { kind: 'outcome', tx, at, outcome: 'committed' },
  ];
}

test('what one process wrote, the next one reads, by time', async () => {
  const first = new FileJournal({ directory, clock: systemClock, writer: 'a' });
  assert.equal(await first.append(transaction('1.1', '2026-01-01T00:00:00Z')), true);
  await first.close();
  const second = new FileJournal({ directory, clock: systemClock, writer: 'b' });
  await second.append(transaction('2.1', '2026-01-01T00:00:01Z'));
  await second.close();
  const { transactions, problems, files } = await readJournal(directory);
  assert.deepEqual(
    [transactions.map(({ tx, outcome }) => [tx, outcome?.outcome]), problems, files],
    [
      [
        ['1.1', 'committed'],
        ['2.1', 'committed'],
      ],
      [],
      2,
    ],
  );
});

test('beyond its size the oldest files go, and never the newest entries', async () => {
  const journal = new FileJournal({ directory, clock: systemClock, writer: 'a', mostBytes: 16_000 });
  for (let at = 0; at < 60; at++)
    await journal.append(transaction(`1.${at}`, `2026-01-01T00:00:${String(at).padStart(2, '0')}Z`, 'x'.repeat(500)));
  await journal.close();
  const files = await journalFiles(directory);
  const bytes = (await Promise.all(files.map(async (path) => (await readFile(path)).length))).reduce((sum, one) => sum + one, 0);
  assert.ok(bytes <= 16_000, `${bytes} bytes`);
  const { transactions, problems } = await readJournal(directory);
  assert.deepEqual(problems, []);
  assert.equal(transactions.at(-1)?.tx, '1.59');
  assert.ok(transactions.length > 10 && transactions.length < 60);
});

test('a full disk fails the append; when there is room again it goes on in a new file, and what was cut off is no entry', async () => {
  let full = true;
  const clock = { ...systemClock, setTimeout: (run: () => void, ms: number) => setTimeout(run, Math.min(ms, 500) / 10) };
  const openFile = async (path: string): Promise<JournalFile> => {
    await writeFile(path, '');
    return {
      write: async (bytes) => {
        await appendFile(path, full ? bytes.subarray(0, 20) : bytes);
        if (full) throw new Error('ENOSPC: no space left on device');
      },
      close: () => Promise.resolve(),
    };
  };
  const journal = new FileJournal({ directory, clock, writer: 'a', openFile });
  const states: (string | undefined)[] = [];
  const resumed = new Promise<void>((done) => {
    journal.onState(() => {
      states.push(journal.failure);
      if (journal.failure === undefined) done();
    });
  });
  assert.equal(await journal.append(transaction('1.1', '2026-01-01T00:00:00Z')), false);
  full = false;
  await resumed;
  assert.deepEqual(states, ['ENOSPC: no space left on device', undefined]);
  assert.equal(await journal.append(transaction('1.2', '2026-01-01T00:00:01Z')), true);
  await journal.close();
  const { transactions, problems } = await readJournal(directory);
  assert.deepEqual([transactions.map(({ tx }) => tx), problems], [['1.2'], []]);
  assert.equal((await readdir(directory)).length, 1, 'a file without one whole entry is deleted');
});

test('a file system that does not answer counts as failed', async () => {
  const clock = { ...systemClock, setTimeout: (run: () => void, ms: number) => setTimeout(run, ms / 500) };
  const never = new Promise<never>(() => undefined);
  const journal = new FileJournal({
    ...{ directory, clock, writer: 'a' },
    openFile: () => Promise.resolve({ write: () => never, close: () => never }),
  });
  assert.equal(await journal.append(transaction('1.1', '2026-01-01T00:00:00Z')), false);
  assert.match(journal.failure ?? '', /no answer of the file system in 10 s/);
  void journal.close();
});

test('a line that is no entry is a problem with its file and line; a last line that was cut off is not', async () => {
  const journal = new FileJournal({ directory, clock: systemClock, writer: 'a' });
  await journal.append(transaction('1.1', '2026-01-01T00:00:00Z'));
  await journal.close();
  const [path = ''] = await journalFiles(directory);
  await appendFile(path, '{"kind":"transaction","tx":"1.2","at":"2026-01-01T00:00:01Z","cha');
  assert.deepEqual((await readJournal(directory)).problems, []);
  await appendFile(path, '\n');
  assert.deepEqual((await readJournal(directory)).problems, [`${path}:4 is not an entry of a journal`]);
});

test('files are readable by their owner alone; what root writes belongs to the owner of the directory', async () => {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(directory, 65_532, 65_532);
  const journal = new FileJournal({ directory, clock: systemClock, writer: 'a' });
  await journal.append(transaction('1.1', '2026-01-01T00:00:00Z'));
  await journal.close();
  const [path = ''] = await journalFiles(directory);
  const { mode, uid } = await stat(path);
  assert.equal(mode & 0o777, 0o600);
  assert.equal(uid, isRoot ? 65_532 : process.getuid?.());
});

test('an outcome is written together with the next transaction, or at the end: one write a transaction', async () => {
  const writes: string[] = [];
  const openFile = (path: string): Promise<JournalFile> =>
    writeFile(path, '').then(() => ({
      write: (bytes) => Promise.resolve(writes.push(bytes.toString())),
      close: () => Promise.resolve(),
    }));
  const clock = { ...systemClock, setTimeout: () => undefined };
  const journal = new FileJournal({ directory, clock, writer: 'a', openFile });
  const kinds = (): readonly string[][] =>
    writes.map((text) => text.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as JournalEntry).kind])));
  for (const tx of ['1.1', '1.2']) {
    const entries = transaction(tx, '2026-01-01T00:00:00Z');
    await journal.append(entries.slice(0, -1));
    for (const outcome of entries.slice(-1)) journal.note(outcome);
  }
  assert.deepEqual(kinds(), [
    ['transaction', 'change'],
    ['outcome', 'transaction', 'change'],
  ]);
  await journal.close();
  assert.deepEqual(kinds().at(-1), ['outcome']);
});
