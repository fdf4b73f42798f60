import { join } from 'node:path';
import { cacheDirectory, type Environment } from '../../src/runtime/cache-directory.ts';
import { isExecutable } from './executable.ts';
import { loaderOf } from './unpacked-programs.ts';

/** The folder in the cache with nft 1.1, unpacked from Debian 13's packages. */
export function newerNftDirectory(env: Environment = process.env): string {
  return join(cacheDirectory(env), 'nft-1.1');
}

/** The command of an nft that is newer than that of Debian 12. */
export function findNewerNft(env: Environment = process.env): readonly [string, ...string[]] | undefined {
  const root = newerNftDirectory(env);
  const program = join(root, 'usr/sbin/nft');
  return isExecutable(program) ? loaderOf(root)?.(program) : undefined;
}
