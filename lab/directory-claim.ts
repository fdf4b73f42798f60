/**
 * One laboratory in a folder at a time: a second one would overwrite the first one's kubeconfig.
 */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export class DirectoryInUseError extends Error {
  override name = 'DirectoryInUseError';
  readonly code = 'LAB_DIRECTORY_IN_USE';
}

/**
 * Makes the folder and those above it that are missing, one by one: where a file system refuses with ENOENT (as /proc does), Node's
 * recursive mkdir never ends.
 *
 * @throws as mkdir does
 */
export async function makeDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const parent = dirname(directory);
  if (parent !== directory) await makeDirectory(parent);
  await mkdir(directory).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST') || found !== undefined) throw error;
  });
}

/**
 * Claims the folder for this process; a claim whose process is gone is taken over.
 *
 * @returns gives it back
 * @throws DirectoryInUseError when a living process has it
 */
export async function claimDirectory(directory: string): Promise<() => Promise<void>> {
  const file = join(directory, 'pid');
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const pid = Number(await readFile(file, 'utf8').catch(() => ''));
    if (isAlive(pid)) {
      throw new DirectoryInUseError(
        `a laboratory runs in ${directory} already (process ${pid}); stop it, or use another folder: npm start -- --directory DIR`,
      );
    }
    await rm(file, { force: true });
  }
}

/** Whether a process of this number runs; false for this one. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  return !hasEnded(pid);
}

/** In a container nobody may ask how a process ended: it takes signals for ever, and does nothing any more. */
function hasEnded(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in parentheses and may have some itself.
    return 'ZX'.includes(status.slice(status.lastIndexOf(')') + 2).charAt(0));
  } catch {
    return false;
  }
}
