import { join } from 'node:path';
import { cacheDirectory, type Environment } from '../../src/runtime/cache-directory.ts';
import { isExecutable, onPath } from './executable.ts';

/** The release that the set-up builds; `recipe` as in a build of Kubernetes. */
export const HELM_BUILD = { version: '3.19.5', recipe: 1 } as const;

/** The folder of the build in the cache. */
export function helmBuildDirectory(env: Environment = process.env): string {
  return join(cacheDirectory(env), `helm-${HELM_BUILD.version}-${HELM_BUILD.recipe}`);
}

/** `helm` in PATH, else in the cache. */
export function findHelm(env: Environment = process.env): string | undefined {
  const built = join(helmBuildDirectory(env), 'helm');
  return onPath('helm', env) ?? (isExecutable(built) ? built : undefined);
}
