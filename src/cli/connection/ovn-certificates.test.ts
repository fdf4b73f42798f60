import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestAuthority } from '../../ovsdb/testing/certificates.ts';
import type { ServerTlsFiles } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { certificateProblem, readOvnCertificates } from './ovn-certificates.ts';

const directory = mkdtempSync(join(tmpdir(), 'kiln-ovn-certificates-'));
let authority: TestAuthority;
let mine: ServerTlsFiles;
let other: ServerTlsFiles;
before(async () => {
  authority = await TestAuthority.create();
  [mine, other] = [await authority.issue('mine'), await authority.issue('other')];
});
after(async () => {
  await authority.remove();
  rmSync(directory, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

function problem(files: { readonly ovnCa?: string; readonly ovnCert?: string; readonly ovnKey?: string }): string | undefined {
  return certificateProblem({ ovnNb: 'ssl:10.0.0.1:6641', ovnCa: mine.ca, ovnCert: mine.cert, ovnKey: mine.key, ...files });
}

test('a matching CA, certificate and key are accepted, also with the text that openssl and ovs-pki write before a certificate', () => {
  assert.equal(problem({}), undefined);
  const described = file('described.pem', `Certificate:\n    Data:\n        Version: 3\n${readFileSync(mine.ca, 'utf8')}`);
  assert.equal(problem({ ovnCa: described }), undefined);
  assert.equal(readOvnCertificates({ ovnCa: described, ovnCert: mine.cert, ovnKey: mine.key }).cert, readFileSync(mine.cert, 'utf8'));
});

test('the error of an unusable file names flag and file, and no secret', () => {
  const garbage = file('garbage.pem', 'hunter22');
  assert.equal(problem({ ovnCa: garbage }), `--ovn-ca ${garbage} holds no certificate (PEM)`);
  assert.equal(problem({ ovnCert: garbage }), `--ovn-cert ${garbage} holds no certificate (PEM)`);
  assert.equal(problem({ ovnKey: garbage }), `--ovn-key ${garbage} holds no private key without a passphrase (PEM)`);
  assert.equal(problem({ ovnKey: other.key }), `--ovn-key ${other.key} is not the key of the certificate in --ovn-cert ${mine.cert}`);
  assert.match(problem({ ovnCa: directory }) ?? '', /^--ovn-ca .* cannot be read: EISDIR/);
  assert.match(problem({ ovnCa: '/none' }) ?? '', /^--ovn-ca \/none cannot be read: ENOENT/);
});
