/** Secrets in random forms: names, cases, separators, quotes, documents and encodings around one value that must not remain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonLog } from './json-log.ts';
import { redacted, redactedText } from './redaction.ts';
import { tracesOf } from './testing/secret-traces.ts';

const CANARY = 'c4narY.hunter-Zq7';
const LOWER = fc.constantFrom('db', 'aws', 'my', 'prod', 'x', 'app', 'stripe', 'user', 'smtp', 'v2', 'redis');
const SECRET = fc.constantFrom(
  ...[
    ['password'],
    ['passwd'],
    ['pass', 'phrase'],
    ['secret'],
    ['token'],
    ['api', 'key'],
    ['access', 'key'],
    ['private', 'key'],
    ['client', 'secret'],
  ],
  ...[
    ['secret', 'access', 'key'],
    ['refresh', 'token'],
    ['credentials'],
    ['connection', 'string'],
    ['pwd'],
    ['session', 'token'],
    ['signing', 'key'],
  ],
);
const CASES: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join('_'),
  (words) => words.join('_').toUpperCase(),
  (words) => words.join('-'),
  (words) => words.join('.'),
  (words) => words.map((word, at) => (at === 0 ? word : `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`)).join(''),
  (words) => words.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('-'),
];

function secretName(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(LOWER, { maxLength: 2 }), SECRET, fc.constantFrom(...CASES))
    .map(([before, words, inCase]) => inCase([...before, ...words]));
}

/** One value under one name, as files, headers, commands and programs write it. */
const FORMS: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `${name}=${value}`,
  (name, value) => `${name} = "${value}"`,
  (name, value) => `export ${name}='${value}'`,
  (name, value) => `${name}: ${value}`,
  (name, value) => `${name}:\n  ${value}`,
  (name, value) => `${name}: |\n  ${value}\nnext: 1`,
  (name, value) => JSON.stringify({ [name]: value }),
  (name, value) => JSON.stringify({ [name]: { value } }),
  (name, value) => JSON.stringify({ env: [{ name, value }] }),
  (name, value) => JSON.stringify({ env: [{ value, name }] }, undefined, 2),
  (name, value) => `env: ${JSON.stringify({ name, value })}, and more`,
  (name, value) => `said ${JSON.stringify(JSON.stringify({ [name]: value }))} and went`,
  (name, value) => JSON.stringify({ inner: JSON.stringify({ deeper: JSON.stringify({ [name]: value }) }) }),
  (name, value) => `- name: ${name}\n  value: ${value}`,
  (name, value) => `GET https://example.com/x?a=b&${name}=${value}&c=d failed`,
  (name, value) => `run --verbose --${name} ${value} --fast`,
  (name, value) => `run --${name}=${value}`,
  (name, value) => `<${name}>${value}</${name}>`,
  (name, value) => `${name} => ${value}`,
  (name, value) => `{:${name}=>"${value}"}`,
  (name, value) => `the ${name} is ${value}`,
  (name, value) => `X-${name}: ${value}\r\nAccept: */*`,
];

const OTHER_FORMS: readonly string[] = [
  ...[`client_secret ${CANARY}`, `PASSWORD ${CANARY}`, `set password ${CANARY}`, `password\t${CANARY}`, `bind_password ${CANARY}`],
  ...[`requirepass ${CANARY}`, `passcode ${CANARY}`, `DBPASS=${CANARY}`, `secret[0]=${CANARY}`, `config.secret["a"]="${CANARY}"`],
  ...[`password='a'"${CANARY}"`, `password='a'${CANARY}`, `password="a\\" ${CANARY}"`, `password=<<EOF\n${CANARY}\nEOF\nnext`],
  ...[`secret: a ${CANARY}`, `value="${CANARY}" name="password"`, `<input value="${CANARY}" name="password"/>`],
  ...[`[["password","${CANARY}"]]`, `said [["password", "${CANARY}"]] once`, `the password "${CANARY}" was refused`],
  ...[`pass phrase: ${CANARY}`, `api key: ${CANARY}`, `CREATE USER a IDENTIFIED BY '${CANARY}'`, `mysql -u me -p${CANARY}`],
  ...[`sshpass -p ${CANARY} ssh h`, `redis-cli -h h -a ${CANARY}`, `htpasswd -b f u ${CANARY}`, `SAMLResponse=${CANARY}`],
  ...[`code=${CANARY}&state=1`, `https://h/cb?code=${CANARY}&state=1`, `refresh=${CANARY}`, `https://h/webhook/${CANARY}`],
  ...['secret/ZqA01.c4narY.hunter-Zq7', `pass\u200bword=${CANARY}`, `pass\u00adword: ${CANARY}`, `ｐａｓｓｗｏｒｄ＝${CANARY}`],
  ...[`mot de passe : ${CANARY}`, `contraseña: ${CANARY}`, `пароль: ${CANARY}`, `密码：${CANARY}`, `密码 ${CANARY}`, `community ${CANARY}`],
];
/** Patterns could start a search at every repetition of each of these. */
const PIECES: readonly string[] = [
  ...['password ', 'a', '"', 'password="\\"', '[" ', 'x="', 'secret[', 'name="password" ', 'pass\u200bword', 'mysql ', 'code=', '<<EOF\n'],
  ...['password=<<EOF\n', '"password",', '-p', `password='a'"b"`, 'https://h/hook/', 'identified by ', 'key: ', 'password: a ', '/a'],
];

const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => encodeURIComponent(text),
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => Buffer.from(Buffer.from(text).toString('base64')).toString('base64'),
  (text) => JSON.stringify(text),
  (text) => JSON.stringify({ a: [{ b: text }] }),
  (text) =>
    text
      .replaceAll('=', String.raw`\u003d`)
      .replaceAll('&', String.raw`\u0026`)
      .replaceAll('"', String.raw`\"`),
  (text) => text.replaceAll('"', '&quot;'),
];

function assertWithout(text: string, original: string): void {
  for (const trace of tracesOf(CANARY)) assert.ok(!text.includes(trace), `${trace} is in\n${text}\nwhich was\n${original}`);
}

test('the value behind a secret name is removed, in every form and encoding', () => {
  const form = fc.tuple(
    secretName(),
    fc.constantFrom(...FORMS),
    fc.constantFrom(...ENCODINGS),
    fc.constantFrom('', 'failed: ', 'a=b ', '"x" '),
  );
  fc.assert(
    fc.property(form, ([name, write, encode, before]) => {
      const text = `${before}${encode(write(name, CANARY))}`;
      assertWithout(redactedText(text), text);
      assertWithout(JSON.stringify(redacted({ message: text, list: [text] })), text);
    }),
    { numRuns: 1_500 },
  );
});

test('nested fields, maps, sets and objects with toJSON are redacted', () => {
  const lines: string[] = [];
  const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => ({ inner }), `token=${CANARY}`);
  const url = new URL(`https://me:${CANARY}@example.com/`);
  jsonLog('info', (line) => lines.push(line)).info(`tried token=${CANARY}`, {
    deep,
    url,
    map: new Map([['password', CANARY]]),
    set: new Set([`password=${CANARY}`]),
    bytes: Buffer.from(`password=${CANARY}`),
    [`token=${CANARY}`]: 1,
    env: [{ name: 'DB_PASSWORD', value: CANARY }],
    dbPassword: { here: CANARY },
  });
  assert.equal(lines.length, 1);
  assertWithout(lines[0] ?? '', '');
});

test('secrets of known forms are found without a name', () => {
  const random = 'aB3dE5fG7hJ9kL1mN3pQ5rS7';
  for (const text of [
    `ghp_${random}`,
    `github_pat_${random}`,
    `glpat-${random}`,
    'AKIAIOSFODNN7EXAMPLE',
    `xoxb-123456789-${random}`,
    `sk-proj-${random}`,
    `sk_live_${random}`,
    `AIza${random}${random}`,
    `npm_${random}`,
    `hvs.${random}`,
    `SG.${random}.${random}`,
    `AGE-SECRET-KEY-1${random.toUpperCase()}`,
    `eyJhbGciOiJSUzI1NiJ9.${random}.${random}`,
    `${random}${random}`,
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${random}\n-----END OPENSSH PRIVATE KEY-----`,
    `-----BEGIN PGP PRIVATE KEY BLOCK-----\n${random}`,
    `postgres://user:${random}@db:5432/x`,
    `postgres://user:a/b@${random}@db:5432/x`,
    `redis://:${random}@cache`,
    `https://${random}@example.com/repo.git`,
    `user:${random}@tcp(db:3306)/x`,
    `jdbc:oracle:thin:user/${random}@//db:1521/x`,
    `Server=db;User Id=me;Password=${random};Encrypt=true`,
    `Cookie: theme=dark; id=${random}`,
    `Set-Cookie: id=${random}; HttpOnly`,
    `Authorization: Custom ${random}`,
    `Proxy-Authorization: Basic ${random}`,
    `curl -u me:${random} https://example.com`,
    `machine example.com login me password ${random}`,
    `//registry.example.com/:_authToken=${random}`,
    `_auth=${random}`,
  ])
    assert.ok(!redactedText(`before ${text} after`).includes(random) && !redactedText(text).includes('IOSFODNN7'), redactedText(text));
});

test('values behind blanks, subscripts, shell quotes, sentences, flags, paths and other spellings of a name are removed', () => {
  for (const text of OTHER_FORMS) {
    assertWithout(redactedText(text), text);
    assertWithout(redactedText(`before, ${text}`), text);
    assertWithout(JSON.stringify(redacted({ message: text })), text);
  }
  assertWithout(JSON.stringify(redacted({ 'pass\u200bword': CANARY, ｔｏｋｅｎ: CANARY, пароль: CANARY, contraseña: CANARY })), '');
  assertWithout(JSON.stringify(redacted({ list: [['password', CANARY]] })), '');
});

test('the time grows with the text, not with its square', () => {
  const time = (text: string): number => {
    // Processor time, which does not depend on other programs.
    const begin = process.cpuUsage();
    redactedText(text);
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / 1_000;
  };
  for (const piece of PIECES) {
    const [short, long] = [1, 8].map((times) => {
      const text = `!${piece.repeat(Math.ceil((times * 8_000) / piece.length))}`;
      return Math.min(...[1, 2, 3].map(() => time(text)));
    }) as [number, number];
    // Quadratic time would be 64 times as long.
    assert.ok(long < 50 || long < 30 * short, `${JSON.stringify(piece)}: ${short} ms, eight times as much ${long} ms`);
  }
});

test('messages of Kiln stay unchanged', () => {
  for (const text of [
    'Subnet red cannot be deleted: 2 objects still use it: IP web-0.red-web, IP web-1.red-web. It is deleted when they are gone; kubectl get subnets red shows the state',
    'list pods: KUBE_UNAUTHORIZED: the server does not accept the credentials',
    'Vpc blue: spec.staticRoutes[0].cidr "10.0.0.300/24" is no network; a route needs the network or the address that it is for',
    'outport == "blue-red" && ip4.src == 10.1.0.0/24',
    'Logical_Router_Static_Route blue 0.0.0.0/0 10.1.0.1',
    'tcp:10.0.0.1:6641,ssl:[fd00::1]:6641',
    'kiln-controller-7d9f8b6c5-x2x7k_6f1c0d2e-9d3b-4f57-8a3e-0c6a9f1e2b11',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '2026-01-01T00:00:00Z ovn.kubernetes.io/logical_switch=red-web',
    'set --metrics-token-file to serve scrapers on other hosts, or bind 127.0.0.1',
    'environment variable KILN_WEBHOOK_SECRET: "Bad" is no name of an object',
    '410: the resourceVersion or the continue token is too old',
    '--webhook-cert and --webhook-key go together: give both, or neither to have a certificate made',
    'metrics need the token of --metrics-token-file',
    'kubectl -n kube-system get secret/kiln-webhook',
    'Pod shop/web-token waits for Subnet red',
    'the compass is set: bypass=on',
    'Pod shop/web-0 waits: IPPool gold has no free address',
    '/tmp/r28/j2/kiln-20260131T202252516Z-undo6e2f260.jsonl:5 is not an entry of a journal',
  ])
    assert.equal(redactedText(text), text);
  const row = {
    uid: '6f1c0d2e-9d3b-4f57-8a3e-0c6a9f1e2b11',
    addresses: ['0a:00:00:00:00:01 10.1.0.2'],
    automountServiceAccountToken: false,
  };
  assert.equal(redacted(row), row);
});
