import { missingPrograms } from '../../lab/node/requirements.ts';
import { findNewerNft, newerNftDirectory } from '../../lab/programs/nft.ts';
import { installPackages } from './debian.ts';
import { unpackOnce } from './unpacked-packages.ts';

const PACKAGES = ['iproute2', 'util-linux', 'iputils-ping', 'procps', 'ethtool', 'nftables', 'conntrack', 'socat'];

/** The programs of nodes that carry packets, which only root on Linux can have. */
export async function setUpPackets(): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || missingPrograms().length === 0) return;
  await installPackages(PACKAGES, 'what nodes with packets need');
}

/** An nft of another version beside the machine's: programs of one node often bring their own. */
export async function setUpNewerNft(): Promise<void> {
  if (process.platform !== 'linux' || findNewerNft() !== undefined) return;
  await unpackOnce(newerNftDirectory(), ['nftables'], 'nft 1.1');
}
