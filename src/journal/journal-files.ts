/**
 * The files of a journal's directory. Each process writes files of its own, so two never write into one; a name begins with the time at
 * which the file was begun, so names sort by age.
 */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const NAME = /^kiln-\d{8}T\d{9}Z-[a-z0-9]{1,16}\.jsonl$/;

export function journalFileName(wallTime: number, writer: string): string {
  return `kiln-${new Date(wallTime).toISOString().replaceAll(/[-:.]/g, '')}-${writer}.jsonl`;
}

/** Paths of the files, the oldest first. @throws the error of the file system */
export async function journalFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => NAME.test(name))
    .toSorted()
    .map((name) => join(directory, name));
}

/**
 * Deletes the oldest files until the rest has at most this many bytes.
 * @param except is never deleted
 */
export async function dropOldest(directory: string, mostBytes: number, except: string): Promise<void> {
  const files = await journalFiles(directory);
  const sizes = await Promise.all(
    files.map(async (path) => ({
      path,
      bytes: await stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    })),
  );
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of sizes) {
    if (total <= mostBytes) return;
    if (path === except) continue;
    // Another process may have deleted it.
    await unlink(path).catch(() => undefined);
    total -= bytes;
  }
}
