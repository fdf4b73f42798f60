import { missingPrograms } from '../../lab/node/requirements.ts';
import { installPackages } from './debian.ts';

const PACKAGES = ['iproute2', 'util-linux', 'iputils-ping', 'procps', 'ethtool', 'nftables', 'socat'];

/** The programs of nodes that carry packets, which only root on Linux can have. */
export async function setUpPackets(): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || missingPrograms().length === 0) return;
  await installPackages(PACKAGES, 'what nodes with packets need');
}
