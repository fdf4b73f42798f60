/** The parts of the laboratory that `kiln start` needs. Tests and benchmarks import from the files. */
export { claimDirectory, makeDirectory } from './directory-claim.ts';
export { succeed } from './former-leader.ts';
export { Laboratory } from './laboratory.ts';
export { whyNoPackets } from './node/requirements.ts';
export { placeOf } from './packets/sandbox-files.ts';
export { makeTemporaryFolder } from './temporary-folder.ts';
