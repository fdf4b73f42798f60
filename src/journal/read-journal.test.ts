/** `kiln history` shows, and `kiln undo` carries out, what a journal says: only what the controller's user or root wrote. */
import assert from 'node:assert/strict';
import { chmod, chown, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readJournal } from './read-journal.ts';

const NAME = 'kiln-20260101T000000000Z-a.jsonl';
const ENTRY = `${JSON.stringify({ kind: 'transaction', tx: '1-1', at: '2026-01-01T00:00:00Z', changes: 0 })}\n`;

async function inJournal(check: (directory: string, file: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-journal-'));
  const file = join(directory, NAME);
  try {
    await writeFile(file, ENTRY, { mode: 0o600 });
    await check(directory, file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test('a directory into which everyone may write is refused', () =>
  inJournal(async (directory) => {
    assert.equal((await readJournal(directory)).transactions.length, 1);
    for (const mode of [0o777, 0o1777, 0o703]) {
      await chmod(directory, mode);
      await assert.rejects(readJournal(directory), /every user of this host may write into it/);
    }
    // As a volume with fsGroup has it.
    await chmod(directory, 0o2770);
    assert.equal((await readJournal(directory)).transactions.length, 1);
  }));

test('a file that everyone may write to, a link, and one of another user are not read, and said', () =>
  inJournal(async (directory, file) => {
    await chmod(file, 0o666);
    const open = await readJournal(directory);
    assert.deepEqual([open.transactions, open.problems.length], [[], 1]);
    assert.match(open.problems[0] ?? '', /is not read: every user of this host may write to it/);
    await chmod(file, 0o660);
    const elsewhere = join(directory, 'elsewhere');
    await writeFile(elsewhere, ENTRY);
    await symlink(elsewhere, join(directory, 'kiln-20260102T000000000Z-b.jsonl'));
    const linked = await readJournal(directory);
    assert.equal(linked.transactions.length, 1);
    assert.match(linked.problems.join(), /-b\.jsonl is not read: it is no file itself/);
  }));

test('a file of another user than that of its directory', { skip: process.getuid?.() === 0 ? false : 'it needs root' }, () =>
  inJournal(async (directory, file) => {
    await chown(file, 65_532, 65_532);
    assert.match((await readJournal(directory)).problems.join(), /is not read: it belongs to user 65532, and its directory to user 0/);
    await chown(directory, 65_532, 65_532);
    assert.equal((await readJournal(directory)).transactions.length, 1);
  }),
);
