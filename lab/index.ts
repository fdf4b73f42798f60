/** What `kiln start` needs of the laboratory. Tests and benchmarks import the parts by their files. */
export { claimDirectory, makeDirectory } from './directory-claim.ts';
export { succeed } from './former-leader.ts';
export { Laboratory } from './laboratory.ts';
export { makeTemporaryFolder } from './temporary-folder.ts';
