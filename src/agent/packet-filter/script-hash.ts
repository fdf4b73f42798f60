import { createHash } from 'node:crypto';

/** Tells whether a table was made by a script: 32 hexadecimal digits. */
export function scriptHash(script: string): string {
  return createHash('sha256').update(script).digest('hex').slice(0, 32);
}
