/** The laboratory's certificates in its folder, so that a kubeconfig stays valid after a restart. */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../tls.ts';
import { createCredentials } from '../tls.ts';

const LEAST_REMAINING_MS = 30 * 24 * 3600 * 1000;

/** The certificates of the folder; new ones if there are none or they expire within a month. */
export function keptCredentials(directory: string, now: number): Credentials {
  const path = join(directory, 'credentials.json');
  if (existsSync(path)) {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Credentials;
    if (Date.parse(new X509Certificate(kept.server.certificate).validTo) - now > LEAST_REMAINING_MS) return kept;
  }
  const made = createCredentials(now);
  writeFileSync(`${path}.new`, JSON.stringify(made), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made;
}
