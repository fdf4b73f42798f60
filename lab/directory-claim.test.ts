import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../src/testing/until.ts';
import { claimDirectory } from './directory-claim.ts';

test('a folder has one laboratory at a time', async () => {
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

test('a process that has ended and is still a zombie has no claim on a folder', { skip: platform() !== 'linux' }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-claim-'));
  // A parent that never waits for its child: when the child ends, it stays a zombie.
  const careless = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(careless.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    await writeFile(join(directory, 'pid'), String(pid));
    await assert.rejects(claimDirectory(directory), /a laboratory runs in/);
    process.kill(pid);
    await until(`process ${pid} has ended`, async () => /^.*\) Z/s.test(await readFile(`/proc/${pid}/stat`, 'utf8')));
    const release = await claimDirectory(directory);
    await release();
  } finally {
    careless.kill('SIGKILL');
    await rm(directory, { recursive: true });
  }
});
