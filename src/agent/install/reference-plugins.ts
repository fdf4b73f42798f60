/**
 * The reference plugins that pods need beside ours: `loopback`, which runtimes call by themselves, and `portmap`, which our configuration names. Some
 * distributions bring neither (RKE2 without a CNI). One that is there is left alone; what was put there is known by a file beside it.
 */
import { createHash } from 'node:crypto';
import { copyFile, lstat, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from './replace-file.ts';

const NAMES = ['loopback', 'portmap'] as const;

/**
 * @param source a folder with them
 * @returns the files that were written
 * @throws Error if one is nowhere: no pod of this node would start
 */
export async function installReferencePlugins(source: string, binaries: string): Promise<readonly string[]> {
  const written: string[] = [];
  for (const name of NAMES) {
    const [from, to] = [join(source, name), join(binaries, name)];
    const contents = await readFile(from).catch(() => undefined);
    // A link may lead to where this container does not see it.
    const isThere = await lstat(to).then(
      () => true,
      () => false,
    );
    if (isThere && (contents === undefined || !(await isOurs(to)) || (await hashOf(to)) === hash(contents))) continue;
    if (contents === undefined)
      throw new Error(
        `CNI plugin ${name} is neither in ${binaries} nor in ${source}, and no pod starts without it: install the reference plugins (package containernetworking-plugins), and name their folder with --reference-plugins`,
      );
    await replaceFile(markOf(to), (beside) => writeFile(beside, hash(contents)), 0o644);
    await replaceFile(to, (beside) => copyFile(from, beside), 0o755);
    written.push(to);
  }
  return written;
}

/** Those that are still as they were written, each with the file beside it. @param read undefined for a file that does not exist */
export async function installedReferencePlugins(
  binaries: string,
  read: (file: string) => Promise<Buffer | undefined>,
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const name of NAMES) {
    const to = join(binaries, name);
    const [contents, mark] = [await read(to), await read(markOf(to))];
    if (mark === undefined) continue;
    if (contents !== undefined && mark.toString('utf8') === hash(contents)) files.push(to);
    files.push(markOf(to));
  }
  return files;
}

async function isOurs(file: string): Promise<boolean> {
  const mark = await readFile(markOf(file), 'utf8').catch(() => undefined);
  return mark !== undefined && mark === (await hashOf(file));
}

async function hashOf(file: string): Promise<string | undefined> {
  const contents = await readFile(file).catch(() => undefined);
  return contents === undefined ? undefined : hash(contents);
}

function hash(contents: Buffer): string {
  return createHash('sha256').update(contents).digest('hex');
}

function markOf(file: string): string {
  return file.replace(/[^/]+$/, '.$&.of-kiln');
}
