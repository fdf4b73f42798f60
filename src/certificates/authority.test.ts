import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CertificateAuthority } from './authority.ts';

const run = promisify(execFile);
const HOSTS = ['kiln-webhook.kube-system.svc', '127.0.0.1', '::1', '2001:db8::7'];

test('a server certificate is for its hosts, by its authority, for its time', () => {
  const from = Date.parse('2026-01-01T00:00:00Z');
  const until = Date.parse('2061-06-01T12:30:00Z');
  const authority = new CertificateAuthority('an authority', { from, until });
  const { certificate, key } = authority.issue({ name: { commonName: 'server' }, purpose: 'server', hosts: HOSTS });
  const [ca, leaf] = [new X509Certificate(authority.certificate), new X509Certificate(certificate)];
  assert.equal(leaf.subject, 'CN=server');
  assert.equal(leaf.issuer, 'CN=an authority');
  assert.ok(ca.ca && !leaf.ca && leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
  assert.ok(leaf.checkPrivateKey(createPrivateKey(key)));
  assert.equal(leaf.checkHost('kiln-webhook.kube-system.svc'), 'kiln-webhook.kube-system.svc');
  assert.equal(leaf.checkHost('elsewhere.svc'), undefined);
  for (const address of HOSTS.slice(1)) assert.equal(leaf.checkIP(address), address);
  assert.deepEqual([Date.parse(leaf.validFrom), Date.parse(leaf.validTo)], [from, until]);
  assert.notEqual(leaf.serialNumber, ca.serialNumber);
});

test('openssl verifies what the authority signed, and rejects it for another host, another purpose, another authority', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-certificates-'));
  const validity = { from: Date.now() - 60_000, until: Date.now() + 3_600_000 };
  const authority = new CertificateAuthority('ca', validity);
  const verify = async (...args: string[]): Promise<string> =>
    run('openssl', ['verify', '-x509_strict', '-CAfile', join(directory, 'ca'), ...args, join(directory, 'leaf')]).then(
      ({ stdout }) => stdout,
      (error: unknown) => Object.values(error as Record<string, unknown>).join('\n'),
    );
  try {
    await writeFile(join(directory, 'ca'), authority.certificate);
    await writeFile(join(directory, 'leaf'), authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: HOSTS }).certificate);
    assert.match(await verify('-purpose', 'sslserver', '-verify_ip', '127.0.0.1'), /: OK$/m);
    assert.match(await verify('-purpose', 'sslserver', '-verify_hostname', 'kiln-webhook.kube-system.svc'), /: OK$/m);
    assert.match(await verify('-verify_hostname', 'elsewhere.svc'), /hostname mismatch/i);
    assert.match(await verify('-purpose', 'sslclient'), /(unsupported|unsuitable) certificate purpose/i);
    await writeFile(join(directory, 'ca'), new CertificateAuthority('ca', validity).certificate);
    assert.match(await verify(), /verification failed|unable to get|signature failure/i);
  } finally {
    await rm(directory, { recursive: true });
  }
});
