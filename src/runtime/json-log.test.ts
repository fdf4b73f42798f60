import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knowSecret } from '../text/known-secrets.ts';
import { jsonLog } from './json-log.ts';
import type { Fields } from './log.ts';
import { tracesOf } from './testing/secret-traces.ts';

const CANARY = 'c4narY.hunter-Zq7';

function logged(fields: Fields, message = 'something'): Record<string, unknown> {
  const lines: string[] = [];
  jsonLog('info', (line) => lines.push(line)).warn(message, fields);
  assert.equal(lines.length, 1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

function assertWithout(line: unknown): void {
  const text = JSON.stringify(line);
  for (const trace of tracesOf(CANARY)) assert.ok(!text.includes(trace), `${trace} is in ${text}`);
}

test('a line is a constant message and its fields', () => {
  const { time, ...line } = logged({ resource: 'subnets', key: 'shop/web', rows: 3 });
  assert.deepEqual(line, { level: 'warn', msg: 'something', resource: 'subnets', key: 'shop/web', rows: 3 });
  assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
});

test('a field that is not on the list is not written, whatever it holds', () => {
  const unlisted = { password: CANARY, headers: { authorization: CANARY }, request: [CANARY], bare: CANARY, [`token=${CANARY}`]: 1 };
  const { time, ...line } = logged({ name: 'web', ...unlisted });
  assert.ok(time !== undefined);
  assert.deepEqual(line, { level: 'warn', msg: 'something', name: 'web' });
});

/** As programs, servers and manifests write it. */
const PLANTED: readonly string[] = [
  ...[CANARY, `password=${CANARY}`, `admission webhook "x" denied the request: ${CANARY} is wrong`, `{"password":"${CANARY}"}`],
  ...[
    `Unexpected token 'c', "${CANARY}"... is not valid JSON`,
    `said "a" ${CANARY} "b"`,
    `"the door opens with ${CANARY}"`,
    `a "${CANARY}`,
  ],
  ...[`https://me:${CANARY}@example.com/`, `GET https://example.com/?access_token=${CANARY}&x=1 failed`, `Bearer ${CANARY}`],
  ...[Buffer.from(`password: ${CANARY}`).toString('base64'), Buffer.from(CANARY).toString('hex'), encodeURIComponent(`"${CANARY}"`)],
  ...[
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${CANARY}\n-----END OPENSSH PRIVATE KEY-----`,
    `${CANARY}, and more`,
    `(${CANARY})`,
    `[${CANARY}]`,
  ],
  ...[`\u001b[1m${CANARY}`, `pass\u200bword: ${CANARY}`, `x`.repeat(20_000) + CANARY],
];

test('a text of another program in any field of the list has no secret of unknown form, alone, in lists and in columns of a row', () => {
  for (const text of PLANTED)
    for (const field of ['error', 'reason', 'why', 'found', 'message', 'name', 'key', 'id', 'path', 'user'] as const) {
      assertWithout(logged({ [field]: text }));
      assertWithout(logged({ [field]: [text, { deeper: { deeper: text } }] }));
      assertWithout(logged({ [field]: new Error(text) }));
      assertWithout(logged({ before: { options: text, [text]: 'x' } }));
    }
});

test("a secret of the process is cut out of Kiln's own texts too", () => {
  const secret = 'correct horse battery';
  knowSecret(secret);
  const line = logged({ next: `kubectl --token ${secret}`, error: `no ${secret} here`, name: secret }, `tried ${secret}`);
  assert.ok(!JSON.stringify(line).includes(secret));
  assert.equal(line['error'], 'no [redacted] here');
});

test('what Kiln, its servers and its tools say stays', () => {
  for (const error of [
    'Subnet red cannot be deleted: 2 objects still use it: IP web-0.red-web, IP web-1.red-web',
    'list pods: KUBE_UNAUTHORIZED: the server does not accept the credentials',
    'Vpc blue: spec.staticRoutes[0].cidr "10.0.0.300/24" is no network; a route needs the network or the address that it is for',
    'outport == "blue-red" && ip4.src == 10.1.0.0/24',
    'tcp:10.0.0.1:6641,ssl:[fd00::1]:6641',
    'connect ECONNREFUSED 10.0.0.1:6443',
    'connect ENOENT /run/openvswitch/db.sock',
    'RTNETLINK answers: File exists',
    'write rejected: pods "web-0" is forbidden: User "system:serviceaccount:kube-system:kiln-controller" cannot patch resource "pods"',
    'Error: Command failed: ip -batch - (exit 2)',
    'kiln-controller-7d9f8b6c5-x2x7k_6f1c0d2e-9d3b-4f57-8a3e-0c6a9f1e2b11',
    '/var/log/kiln/kiln-20260131T202252516Z-undo6e2f260.jsonl:5 is not an entry of a journal',
    'the certificate ends at 2026-01-01T00:00:00Z',
    'unsupported TLSv1 or SHA256',
    '0a:00:00:00:00:01 10.1.0.2',
  ])
    assert.equal(logged({ error })['error'], error);
});

// A search in quadratic time would take minutes, and the process would lose its Lease meanwhile.
test('the time grows with the text, not with its square', () => {
  knowSecret('aaaaaaab');
  const time = (text: string): number => {
    // Processor time, which does not depend on other programs.
    const begin = process.cpuUsage();
    logged({ error: text, name: text });
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / 1_000;
  };
  for (const piece of [
    'a',
    'eyJ-',
    'tcp:',
    'a://b:',
    '-----BEGIN PRIVATE KEY',
    '"',
    '["',
    '{',
    '[text of 1',
    'a b ',
    '@',
    '=',
    '\\',
    '. ',
    '-',
  ]) {
    const [short, long] = [1, 8].map((times) => {
      const text = piece.repeat(Math.ceil((times * 2_000) / piece.length));
      return Math.min(...[1, 2, 3].map(() => time(text)));
    }) as [number, number];
    // Quadratic time would be 64 times as long.
    assert.ok(long < 50 || long < 30 * short, `${JSON.stringify(piece)}: ${short} ms, eight times as much ${long} ms`);
  }
});
