import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLog } from './json-log.ts';
import { redactedText } from './redaction.ts';

function logged(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lines: string[] = [];
  jsonLog('info', (line) => lines.push(line)).warn('something', fields);
  assert.equal(lines.length, 1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

const KEY = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBq1\nabcd\n-----END EC PRIVATE KEY-----';
const JWT = 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ing.eyJpc3MiOiJrdWJlcm5ldGVzL3.c2lnbmF0dXJl_-x';

test('a line is a constant message and its fields', () => {
  const { time, ...line } = logged({ resource: 'subnets', key: 'shop/web', rows: 3 });
  assert.deepEqual(line, { level: 'warn', msg: 'something', resource: 'subnets', key: 'shop/web', rows: 3 });
  assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
});

test('a line has no secret: keys, tokens and passwords in texts, in nested fields, in fields with such a name', () => {
  const line = logged({
    error: `could not read ${KEY} of the server`,
    headers: { Authorization: `Bearer ${JWT}`, accept: 'application/json' },
    request: { user: { token: JWT, password: 'hunter22' }, url: 'https://admin:hunter22@10.0.0.1:6443/api' },
    stack: [`Error: 401 for Bearer ${JWT}`, `token=hunter22&x=1`],
    clientKeyData: 'hunter22',
    bare: JWT,
    endpoints: 'tcp:10.0.0.1:6641,ssl:admin:hunter22@10.0.0.2:6641',
  });
  const text = JSON.stringify(line);
  for (const secret of ['MHcCAQEEIBq1', 'eyJ', 'hunter22']) assert.ok(!text.includes(secret), `${secret} in ${text}`);
  assert.ok(text.includes('could not read [redacted] of the server'));
  assert.ok(text.includes('https://admin:[redacted]@10.0.0.1:6443/api'));
  assert.ok(text.includes('@10.0.0.2:6641'));
  assert.deepEqual(logged({ endpoints: 'tcp:[fd00::1]:6641,ssl:10.0.0.2:6641' })['endpoints'], 'tcp:[fd00::1]:6641,ssl:10.0.0.2:6641');
  assert.ok(text.includes('"accept":"application/json"'));
});

// A search in quadratic time would take minutes, and the process would lose its Lease meanwhile.
test('a long text takes linear time', { timeout: 600_000 }, () => {
  for (const piece of ['a', 'eyJ-', 'tcp:', 'token ', 'a://b:', 'Bearer ', '-----BEGIN PRIVATE KEY'])
    assert.equal(redactedText(`secrets: ${piece.repeat(1_000_000 / piece.length)}`).startsWith('secrets: '), true);
});

test('text that only resembles a secret stays', () => {
  for (const text of [
    'ssl:10.0.0.1:6641',
    'https://10.0.0.1:6443/api/v1/pods',
    'Secret kube-ovn-tls is missing',
    'the token expired',
    'fd00::1/64',
  ])
    assert.equal(redactedText(text), text);
});
