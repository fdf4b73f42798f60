/** A file that is written as a whole or not at all: a full disk neither leaves half of it nor takes the one that was there. */
import { lstat, open, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** @param mode of the file, whatever a former one had @throws Error with the system's code */
export async function writeWholeFile(path: string, contents: string | Buffer, mode = 0o644): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const found = await lstat(target).catch(() => undefined);
  // A pipe or a device, such as /dev/stdout, is not to be replaced.
  if (found !== undefined && !found.isFile()) return await writeFile(target, contents);
  const temporary = join(dirname(target), `.kiln-${process.pid}-${Date.now()}.tmp`);
  try {
    {
      await using file = await open(temporary, 'wx', mode);
      await file.writeFile(contents);
      await file.sync();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}
