import { chmod, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Writes a file beside its place and renames it: no program ever sees half of one. @throws Error that names the file */
export async function replaceFile(file: string, write: (beside: string) => Promise<unknown>, mode: number): Promise<void> {
  const beside = join(file, '..', `.${basename(file)}.new`);
  await rm(beside, { force: true });
  try {
    await write(beside);
    await chmod(beside, mode);
    await rename(beside, file);
  } catch (error) {
    // Of a full disk it would take the rest.
    await rm(beside, { force: true });
    throw new Error(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
