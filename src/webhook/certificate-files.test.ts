import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Credential } from '../certificates/authority.ts';
import { CertificateAuthority } from '../certificates/authority.ts';
import { ManualClock } from '../kube/testing/manual-clock.ts';
import { SILENT } from '../runtime/log.ts';
import { CertificateFiles, readCertificateFiles } from './certificate-files.ts';

const authority = new CertificateAuthority('ca', { from: 0, until: Date.now() + 3_600_000 });
const issue = (): Credential => authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['s'] });

test('files that are renewed are served without a restart; half of a renewal, or nonsense, changes nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-files-'));
  const [certificateFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  const write = async ({ certificate, key }: Partial<Credential>): Promise<void> => {
    for (const [file, text] of [
      [certificateFile, certificate],
      [keyFile, key],
    ] as const) {
      if (text === undefined) continue;
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    }
  };
  const clock = new ManualClock();
  const served: Credential[] = [];
  const warnings: unknown[] = [];
  const [first, second] = [issue(), issue()];
  try {
    assert.throws(() => readCertificateFiles(certificateFile, keyFile), /ENOENT/);
    await write(first);
    const files = new CertificateFiles({
      certificateFile,
      keyFile,
      first: readCertificateFiles(certificateFile, keyFile),
      use: (credential) => served.push(credential),
      log: { ...SILENT, warn: (_, fields) => warnings.push(fields?.['error']) },
      clock,
    });
    clock.advance(30_000);
    assert.deepEqual(served, []);
    await write({ certificate: second.certificate });
    clock.advance(30_000);
    assert.deepEqual([served, warnings], [[], [`the key in ${keyFile} is not that of the certificate in ${certificateFile}`]]);
    await write({ key: second.key });
    clock.advance(10_000);
    assert.deepEqual(served, [second]);
    await write({ certificate: 'nonsense' });
    clock.advance(10_000);
    assert.deepEqual(warnings.slice(1), [`there is no certificate in ${certificateFile} (PEM)`]);
    files.close();
    await write(first);
    clock.advance(60_000);
    assert.equal(served.length, 1);
  } finally {
    await rm(directory, { recursive: true });
  }
});
