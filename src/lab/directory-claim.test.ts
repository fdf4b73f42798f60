import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimDirectory } from './directory-claim.ts';

test('a folder has one laboratory, which may be followed by another', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-claim-'));
  try {
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
    await once(other, 'spawn');
    await writeFile(join(directory, 'pid'), String(other.pid));
    await assert.rejects(claimDirectory(directory), new RegExp(`process ${other.pid}\\); stop it, or use another folder`));
    other.kill('SIGKILL');
    await once(other, 'exit');
    const release = await claimDirectory(directory);
    assert.equal(await readFile(join(directory, 'pid'), 'utf8'), String(process.pid));
    await release();
    await assert.rejects(readFile(join(directory, 'pid')), /ENOENT/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
