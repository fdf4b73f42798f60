/**
 * Folders for what a laboratory keeps while it runs. One whose process was killed (`kill -9`, a machine that ran out of memory) is left
 * behind, with databases in it: the next one that is made takes it away.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './directory-claim.ts';

/** In the folder: the number of the process that has it. */
const OWNER = 'owner.pid';

/** @param prefix such as `kiln-ovn-`: those of this prefix that nobody has any more go */
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
    // One that does not say is somebody's who just makes it, or no laboratory's.
    if (owner === 0 || owner === process.pid || isAlive(owner)) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
