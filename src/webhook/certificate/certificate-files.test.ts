import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Credential } from '../../certificates/authority.ts';
import { CertificateAuthority } from '../../certificates/authority.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { SILENT } from '../../runtime/log.ts';
import { CertificateFiles, certificateFilesIfThere, readCertificateFiles, validityProblem } from './certificate-files.ts';

const authority = new CertificateAuthority('ca', { from: Date.UTC(2029, 0, 1), until: Date.UTC(2035, 0, 1) });
const issue = (): Credential => authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['s'] });

test('missing files are served when they come; until then they are logged once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-files-'));
  const [certificateFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  const clock = new ManualClock();
  const served: Credential[] = [];
  const warnings: unknown[] = [];
  const first = certificateFilesIfThere(certificateFile, keyFile);
  assert.equal(first, undefined);
  const files = new CertificateFiles({
    certificateFile,
    keyFile,
    first,
    use: (credential) => served.push(credential),
    log: { ...SILENT, warn: (message) => warnings.push(message) },
    clock,
  });
  try {
    clock.advance(60_000);
    assert.deepEqual(warnings, ['the files of the webhook certificate cannot be used; the webhook answers nothing until then']);
    const made = issue();
    await writeFile(certificateFile, made.certificate);
    assert.equal(certificateFilesIfThere(certificateFile, keyFile), undefined, 'half of it');
    await writeFile(keyFile, 'nonsense');
    assert.throws(() => certificateFilesIfThere(certificateFile, keyFile), /there is no key in .*tls\.key \(PEM\)/);
    await writeFile(keyFile, made.key);
    clock.advance(10_000);
    assert.deepEqual(served, [made]);
  } finally {
    files.close();
    await rm(directory, { recursive: true });
  }
});

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
    assert.throws(() => readCertificateFiles(certificateFile, keyFile), /^Error: --webhook-cert .*tls\.crt cannot be read: ENOENT/);
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

const MINUTE_MS = 60_000;

test('a certificate that is not valid now, or not renewed in time, is logged once, and again when it has expired', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-files-'));
  const [certificateFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  const clock = new ManualClock();
  const begin = clock.wallTime();
  const made = (from: number, until: number): Credential =>
    new CertificateAuthority('ca', { from: begin + from * MINUTE_MS, until: begin + until * MINUTE_MS }).issue({
      name: { commonName: 's' },
      purpose: 'server',
      hosts: ['s'],
    });
  const first = made(-1, 59);
  assert.equal(validityProblem(first, 'f', begin), undefined);
  assert.match(validityProblem(made(1, 2), 'f', begin) ?? '', /^the certificate in f begins at .*: API servers reject it before$/);
  const warnings: string[] = [];
  try {
    await writeFile(certificateFile, first.certificate);
    await writeFile(keyFile, first.key);
    const log = {
      ...SILENT,
      warn: (_: string, fields?: Readonly<Record<string, unknown>>) => void warnings.push(String(fields?.['error'])),
    };
    const files = new CertificateFiles({ certificateFile, keyFile, first, use: () => undefined, log, clock });
    clock.advance(48 * MINUTE_MS);
    assert.deepEqual(warnings, []);
    clock.advance(10 * MINUTE_MS);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^the certificate in .*tls\.crt ends at .*, and it is not renewed yet$/);
    clock.advance(2 * MINUTE_MS);
    assert.equal(warnings.length, 2);
    assert.match(warnings[1] ?? '', /^the certificate in .*tls\.crt ended at .*: API servers reject it$/);
    const next = made(59, 119);
    await writeFile(certificateFile, next.certificate);
    await writeFile(keyFile, next.key);
    clock.advance(MINUTE_MS);
    assert.equal(warnings.length, 2);
    files.close();
  } finally {
    await rm(directory, { recursive: true });
  }
});
