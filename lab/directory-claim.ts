/**
 * Keeps a folder for one laboratory at a time: a second one would overwrite the kubeconfig of the first.
 */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export class DirectoryInUseError extends Error {
  override name = 'DirectoryInUseError';
  readonly code = 'LAB_DIRECTORY_IN_USE';
}

/**
 * Creates the folder and its missing parents one by one: where a file system fails with ENOENT (as /proc does), Node's recursive mkdir
 * never ends.
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
 * Claims the folder for this process; the claim of a dead process is replaced.
 *
 * @returns releases the claim
 * @throws DirectoryInUseError when a running process holds the claim
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

/** Whether another process with this id runs; false for this process itself. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  return !hasEnded(pid);
}

/** Whether the process is a zombie, which still accepts signals: in a container there may be no parent that waits for it. */
function hasEnded(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The process name is in parentheses and may itself contain some.
    return 'ZX'.includes(status.slice(status.lastIndexOf(')') + 2).charAt(0));
  } catch {
    return false;
  }
}
