/**
 * One laboratory in a folder at a time: a second one would overwrite the first one's kubeconfig.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export class DirectoryInUseError extends Error {
  override name = 'DirectoryInUseError';
  readonly code = 'LAB_DIRECTORY_IN_USE';
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

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
