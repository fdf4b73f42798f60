import { findOvn, unpackedOvnDirectory } from '../../lab/programs/ovn.ts';
import { installPackages } from './debian.ts';
import { SetupError } from './report.ts';
import { unpackOnce } from './unpacked-packages.ts';

const PACKAGES = ['ovn-central', 'ovn-host', 'openvswitch-switch'];

/** The machine's own OVN: installed if possible, else the message names the packages. */
export async function setUpOvn(): Promise<void> {
  if (findOvn('system') === undefined) await installPackages(PACKAGES, 'OVN');
}

/** OVN 25.03, the release that Kube-OVN 1.17 ships, beside the machine's own: Debian 13's packages, unpacked. */
export async function setUpUnpackedOvn(): Promise<void> {
  if (findOvn('25.03') !== undefined) return;
  await unpackOnce(unpackedOvnDirectory(), PACKAGES, 'OVN 25.03');
  if (findOvn('25.03') === undefined)
    throw new SetupError(`${unpackedOvnDirectory()} does not hold a whole OVN; remove it and run this again`);
}
