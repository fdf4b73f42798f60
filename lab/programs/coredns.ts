import { join } from 'node:path';
import { cacheDirectory, type Environment } from '../../src/runtime/cache-directory.ts';
import { isExecutable, onPath } from './executable.ts';

/** The release that the set-up builds; `recipe` as in a build of Kubernetes. */
export const COREDNS_BUILD = { version: '1.12.4', recipe: 1 } as const;

/** The folder of the build in the cache. */
export function corednsBuildDirectory(env: Environment = process.env): string {
  return join(cacheDirectory(env), `coredns-${COREDNS_BUILD.version}-${COREDNS_BUILD.recipe}`);
}

/** `coredns` in PATH, else in the cache. */
export function findCoredns(env: Environment = process.env): string | undefined {
  const built = join(corednsBuildDirectory(env), 'coredns');
  return onPath('coredns', env) ?? (isExecutable(built) ? built : undefined);
}
