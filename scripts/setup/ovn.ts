import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findOvn, unpackedOvnDirectory } from '../../lab/programs/ovn.ts';
import { debianArchive, installPackages, PrivateApt } from './debian.ts';
import { makeOnce } from './make-once.ts';
import { progress, SetupError } from './report.ts';
import { run } from './run.ts';

const PACKAGES = ['ovn-central', 'ovn-host', 'openvswitch-switch'];
const NEWER_DEBIAN = 'trixie';

/** The machine's own OVN: installed if possible, else the message names the packages. */
export async function setUpOvn(): Promise<void> {
  if (findOvn('system') === undefined) await installPackages(PACKAGES, 'OVN');
}

/** OVN 25.03, the release that Kube-OVN 1.17 ships, beside the machine's own: Debian 13's packages, unpacked. */
export async function setUpUnpackedOvn(): Promise<void> {
  if (findOvn('25.03') !== undefined) return;
  const archive = debianArchive();
  if (archive === undefined) {
    throw new SetupError("OVN 25.03 is unpacked from Debian 13's packages, and this host has no Debian archive in its apt sources");
  }
  await makeOnce(unpackedOvnDirectory(), async (folder) => {
    const aptFolder = join(folder, 'apt');
    await mkdir(aptFolder);
    const apt = new PrivateApt(aptFolder, [{ type: 'deb', archive: { ...archive, release: NEWER_DEBIAN } }], false);
    await apt.run(['update'], `reading the package lists of Debian ${NEWER_DEBIAN}`);
    const install = ['install', '-y', '--no-install-recommends', '--download-only', ...PACKAGES];
    await apt.run(install, 'downloading OVN 25.03 and the libraries it needs');
    const packages = (await readdir(apt.archives)).filter((name) => name.endsWith('.deb'));
    const log = join(aptFolder, 'unpack.log');
    const root = join(folder, 'root');
    await mkdir(root);
    progress(`unpacking ${packages.length} packages`);
    for (const name of packages) {
      await run('dpkg-deb', ['--extract', join(apt.archives, name), root], { what: `unpacking ${name}`, log, quiet: true });
    }
    for (const entry of await readdir(root)) await rename(join(root, entry), join(folder, entry));
    await rm(root, { recursive: true });
    await rm(aptFolder, { recursive: true });
  });
  if (findOvn('25.03') === undefined)
    throw new SetupError(`${unpackedOvnDirectory()} does not hold a whole OVN; remove it and run this again`);
}
