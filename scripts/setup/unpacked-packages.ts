/** Programs of a newer Debian, unpacked beside those of this machine: nothing of it is installed. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { debianArchive, PrivateApt } from './debian.ts';
import { makeOnce } from './make-once.ts';
import { progress, SetupError } from './report.ts';
import { run } from './run.ts';

const NEWER_DEBIAN = 'trixie';

/** Unpacks packages of Debian 13, and the libraries that they need, into a folder of the cache. @param what for messages */
export async function unpackOnce(folder: string, packages: readonly string[], what: string): Promise<void> {
  const archive = debianArchive();
  if (archive === undefined) {
    throw new SetupError(`${what} is unpacked from Debian 13's packages, and this host has no Debian archive in its apt sources`);
  }
  await makeOnce(folder, async (work) => {
    const aptFolder = join(work, 'apt');
    await mkdir(aptFolder);
    const apt = new PrivateApt(aptFolder, [{ type: 'deb', archive: { ...archive, release: NEWER_DEBIAN } }], false);
    await apt.run(['update'], `reading the package lists of Debian ${NEWER_DEBIAN}`);
    const install = ['install', '-y', '--no-install-recommends', '--download-only', ...packages];
    await apt.run(install, `downloading ${what} and the libraries it needs`);
    const files = (await readdir(apt.archives)).filter((name) => name.endsWith('.deb'));
    const log = join(aptFolder, 'unpack.log');
    const root = join(work, 'root');
    await mkdir(root);
    progress(`unpacking ${files.length} packages`);
    for (const name of files) {
      await run('dpkg-deb', ['--extract', join(apt.archives, name), root], { what: `unpacking ${name}`, log, quiet: true });
    }
    for (const entry of await readdir(root)) await rename(join(root, entry), join(work, entry));
    await rm(root, { recursive: true });
    await rm(aptFolder, { recursive: true });
  });
}
