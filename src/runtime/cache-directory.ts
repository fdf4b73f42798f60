import { homedir } from 'node:os';
import { join } from 'node:path';

/** Environment variables as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder for everything that is built or unpacked once per host: `$KILN_CACHE`, else `kiln` in the user's cache directory.
 * It is outside of every checkout, so that a fresh clone finds what an earlier one built.
 */
export function cacheDirectory(env: Environment = process.env): string {
  if (env['KILN_CACHE']) return env['KILN_CACHE'];
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kiln');
}

/** The folder in which Node caches compiled sources for later processes: this saves half of the time of a short one. */
export function compiledDirectory(env: Environment = process.env): string {
  return join(cacheDirectory(env), 'compiled');
}
