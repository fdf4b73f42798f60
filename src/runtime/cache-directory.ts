import { homedir } from 'node:os';
import { join } from 'node:path';

/** Environment variables as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where what is built or unpacked once a machine is kept: `$KILN_CACHE`, else `kiln` in the user's cache directory.
 * It lies outside every checkout, so that a fresh clone finds what an earlier one built.
 */
export function cacheDirectory(env: Environment = process.env): string {
  if (env['KILN_CACHE']) return env['KILN_CACHE'];
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kiln');
}

/** Where Node keeps what it read and compiled of the sources, for the next process that runs them: half of what a short one takes. */
export function compiledDirectory(env: Environment = process.env): string {
  return join(cacheDirectory(env), 'compiled');
}
