/** A file that its owner alone reads, also where an earlier run has left one with other rights. */
import { fchmodSync, openSync } from 'node:fs';

const OWNER_ALONE = 0o600;

/** @returns its descriptor. @throws as `open` and `fchmod` do */
export function openPrivate(path: string, flags: 'w' | 'a'): number {
  const file = openSync(path, flags, OWNER_ALONE);
  fchmodSync(file, OWNER_ALONE);
  return file;
}
