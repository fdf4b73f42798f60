import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { tracesOf } from '../runtime/testing/secret-traces.ts';
import { knowAuthorization, knowSecret, withoutSecrets } from './known-secrets.ts';

const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => encodeURIComponent(text),
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(JSON.stringify({ a: text })),
];

test('a known secret is cut out of any text, in each encoding, whatever stands around it', () => {
  const secret = fc.string({ minLength: 6, maxLength: 40 }).filter((text) => text.trim() === text);
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), fc.constantFrom(...ENCODINGS), (one, before, after, encode) => {
      knowSecret(one);
      const text = withoutSecrets(encode(`${before}${one}${after}`));
      for (const trace of tracesOf(one)) assert.ok(trace.length < 8 || !text.includes(trace), `${trace} of ${one} is in ${text}`);
    }),
    { numRuns: 1_000 },
  );
});

test('of a key each line is secret, of a header the credential and its password', () => {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  knowSecret(Buffer.from(pem));
  const line = pem.split('\n')[3] ?? '';
  assert.equal(withoutSecrets(`it read ${line} there`), 'it read [redacted] there');
  knowAuthorization(`Basic ${Buffer.from('admin:Open-Sesame').toString('base64')}`);
  assert.equal(withoutSecrets('Open-Sesame was refused'), '[redacted] was refused');
  knowAuthorization('Bearer abcdef.0123456789abcdef');
  assert.equal(withoutSecrets('you sent abcdef.0123456789abcdef'), 'you sent [redacted]');
  assert.ok(withoutSecrets('-----BEGIN CERTIFICATE-----').includes('BEGIN'));
});

test('private keys, JSON Web Tokens and passwords in URLs go even if nobody made them known', () => {
  for (const text of [
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\nhunter22',
    'eyJhbGciOiJSUzI1NiJ9.hunter22.hunter22',
    'postgres://user:hunter22@db:5432/x',
    'postgres://user:a/b@hunter22@db:5432/x',
    'redis://:hunter22@cache',
    'https://hunter22@example.com/repo.git',
    'ssl:admin:hunter22@10.0.0.2:6641',
  ])
    assert.ok(!withoutSecrets(`before ${text} after`).includes('hunter22'), withoutSecrets(text));
});

test('the newest secrets are kept, so that a token that rotates does not fill the memory', () => {
  for (let at = 0; at < 1_000; at++) knowSecret(`rotated-token-${at}-`);
  assert.equal(withoutSecrets('rotated-token-999- rotated-token-1-'), '[redacted] rotated-token-1-');
});

test('text that only resembles a secret stays', () => {
  for (const text of [
    'ssl:10.0.0.1:6641',
    'tcp:[fd00::1]:6641',
    'https://10.0.0.1:6443/api/v1/pods',
    'the token expired',
    'fd00::1/64',
    '',
  ])
    assert.equal(withoutSecrets(text), text);
});
