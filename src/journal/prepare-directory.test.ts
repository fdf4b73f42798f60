import assert from 'node:assert/strict';
import { chmod, link, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { prepareJournalDirectory } from './prepare-directory.ts';

const isRoot = process.getuid?.() === 0;
/** Nobody, and one that an earlier image ran as. */
const USER = isRoot ? { user: 65_532, group: 65_532 } : { user: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };

test("the directory and its files are given to the controller's user, and to no other; links are left alone", async () => {
  const root = await mkdtemp(join(tmpdir(), 'kiln-prepare-'));
  try {
    const directory = join(root, 'journal');
    await mkdir(directory);
    await chmod(directory, 0o755);
    await writeFile(join(directory, 'kiln-a.jsonl'), '');
    const foreign = join(root, 'shadow');
    await writeFile(foreign, 'secret', { mode: 0o600 });
    await symlink(foreign, join(directory, 'link'));
    await link(foreign, join(directory, 'second-name'));
    assert.match(await prepareJournalDirectory({ directory, ...USER }), /belongs to user \d+ now/);
    const made = await lstat(directory);
    assert.deepEqual([made.uid, made.gid, made.mode & 0o777], [USER.user, USER.group, 0o700]);
    assert.equal((await lstat(join(directory, 'kiln-a.jsonl'))).uid, USER.user);
    assert.equal((await lstat(foreign)).uid, process.getuid?.(), 'through neither link');
    assert.match(await prepareJournalDirectory({ directory, ...USER }), /already/);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test('a file in the place of the directory is named, and not given away', async () => {
  const root = await mkdtemp(join(tmpdir(), 'kiln-prepare-'));
  try {
    const directory = join(root, 'journal');
    await symlink(root, directory);
    await assert.rejects(prepareJournalDirectory({ directory, ...USER }), /is not a directory/);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
