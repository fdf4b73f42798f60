/**
 * A seed for random tests: different for each commit and constant for one, so that a failure can be reproduced from the same files.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A hash of all programs and tests. @returns a whole number from 0 to 999,999,999 */
export function treeSeed(): number {
  const hash = createHash('sha256');
  for (const file of globSync(['src/**/*.{ts,txt}', 'lab/**/*.{ts,txt}', 'test/**/*.{ts,txt}'], { cwd: ROOT }).toSorted())
    hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest().readUInt32BE() % 1_000_000_000;
}
