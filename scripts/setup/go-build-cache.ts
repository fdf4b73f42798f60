/**
 * Go's cache of compiled packages for one set-up: the programs of the control plane and of nodes have most packages in common. It takes some
 * gigabytes, so it ends with the set-up; those of set-ups that were killed are deleted by the next one.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../lab/directory-claim.ts';
import { cacheDirectory } from '../../src/runtime/cache-directory.ts';

const NAME = /^\.go-cache-(\d+)$/;

/** Its folder, for `GOCACHE`. */
export function goBuildCache(): string {
  const parent = cacheDirectory(process.env);
  const own = join(parent, `.go-cache-${process.pid}`);
  if (existsSync(own)) return own;
  mkdirSync(own, { recursive: true });
  for (const name of readdirSync(parent)) {
    const owner = NAME.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return own;
}

/** At the end of a set-up. */
export function deleteGoBuildCache(): void {
  rmSync(join(cacheDirectory(process.env), `.go-cache-${process.pid}`), { recursive: true, force: true });
}
