/**
 * Temporary folders of running laboratories. If the process is killed (`kill -9`, out of memory), its folder stays, with databases in it:
 * the next call deletes it.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './directory-claim.ts';

/** This file in the folder has the id of the process that uses it. */
const OWNER = 'owner.pid';

/** @param prefix such as `kiln-ovn-`: unused folders with this prefix are deleted */
export async function makeTemporaryFolder(prefix: string, parent = tmpdir()): Promise<string> {
  await sweep(prefix, parent);
  const folder = await mkdtemp(join(parent, prefix));
  await writeFile(join(folder, OWNER), String(process.pid));
  return folder;
}

async function sweep(prefix: string, parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const folder = join(parent, name);
    const owner = Number(await readFile(join(folder, OWNER), 'utf8').catch(() => ''));
    // A folder without an id is just being created, or does not belong to a laboratory.
    if (owner === 0 || owner === process.pid || isAlive(owner)) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
