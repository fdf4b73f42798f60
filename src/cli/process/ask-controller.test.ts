/** When a command asks a controller of its host, and when it reads for itself. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '../../testing/until.ts';
import { SILENT } from '../../runtime/log.ts';
import { VERSION } from '../../runtime/version.ts';
import type { Answer, Question } from './answer-socket.ts';
import { ACCEPTED, answerSocket, isPrivate, MOST_QUESTION_BYTES } from './answer-socket.ts';
import { serveAnswers } from './answer-server.ts';
import { askController, exchange, questionOf } from './ask-controller.ts';

const folder = mkdtempSync(join(tmpdir(), 'kiln-ask-'));
after(() => rmSync(folder, { recursive: true }));
const kubeconfig = join(folder, 'kubeconfig');
writeFileSync(kubeconfig, 'server: one');
const env = { XDG_RUNTIME_DIR: folder, KUBECONFIG: kubeconfig, KILN_OVN_NB: 'tcp:10.0.0.1:6641' };
const ANSWER: Answer = { out: [['one']], say: [], exit: 0 };

test('a question has what the command line has', () => {
  assert.deepEqual(questionOf(['explain', 'pod', 'web-0', '-n', 'shop', '--output=json', '--all', '--context', 'far'], env), {
    origin: { context: 'far' },
    question: {
      ...{ version: VERSION, command: 'explain', words: ['pod', 'web-0'], namespace: 'shop', output: 'json', all: true },
      ...{ colors: false, ovnNb: 'tcp:10.0.0.1:6641' },
    },
  });
});

for (const line of [
  'diff',
  'audit',
  'delete vpc one',
  'status --watch',
  'status -l a=b',
  'status --no-controller',
  'status --lease-namespace other',
  'status --default-vpc other',
  'status --ovn-nb tcp:10.0.0.2:6641',
  'status --all',
  'status vpc',
  'status -o',
  'status -n -o',
  'status -n a -n b',
  'status -ojson',
  'status --help',
  'explain',
  'explain vpc one two',
  'explain -- vpc',
])
  test(`kiln ${line} is not asked: the command itself understands its line, or has to read`, () =>
    assert.equal(questionOf(line.split(' '), env), undefined));

test('each kubeconfig, context and content of the file has a socket of its own', () => {
  const other = join(folder, 'other');
  writeFileSync(other, 'server: one');
  const paths = [
    answerSocket({ kubeconfig }, env),
    answerSocket({ kubeconfig: other }, env),
    answerSocket({ kubeconfig, context: 'far' }, env),
    answerSocket({ inCluster: true }, { ...env, KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }),
  ];
  // As `kubectl config use-context` does.
  writeFileSync(other, 'server: two');
  paths.push(answerSocket({ kubeconfig: other }, env));
  assert.equal(new Set(paths).size, 5);
  assert.ok(!paths.includes(undefined));
  assert.equal(answerSocket({}, env), paths[0]);
  assert.equal(answerSocket({}, { ...env, KUBECONFIG: `${kubeconfig}:${other}` }), undefined);
  assert.equal(answerSocket({}, { ...env, KUBECONFIG: join(folder, 'missing') }), undefined);
});

test('a socket in a folder that others may write to is not asked, and none is made there', async () => {
  const socket = answerSocket({}, env) ?? '';
  mkdirSync(dirname(socket), { recursive: true });
  chmodSync(dirname(socket), 0o755);
  assert.equal(isPrivate(socket), false);
  const end = await serveAnswers({ socket, log: SILENT, refusal: () => undefined, answer: () => Promise.resolve(ANSWER) });
  assert.equal(await askController(['status'], env), undefined);
  assert.equal(await exchange(socket, question()), undefined);
  await end();
  chmodSync(dirname(socket), 0o700);
  assert.equal(isPrivate(socket), true);
});

test('without a controller nothing is asked', async () => assert.equal(await askController(['status'], env), undefined));

test('one question at a time, then a rest; a refusal, a failure and what is no question get no answer', async () => {
  const socket = join(folder, 'served', 'a.sock');
  let refused: string | undefined;
  let [now, asked] = [0, 0];
  let answers = Promise.withResolvers<Answer>();
  const log = { ...SILENT };
  const end = await serveAnswers({
    ...{ socket, log, refusal: () => refused, now: () => now },
    answer: () => {
      asked++;
      return answers.promise;
    },
  });
  const first = exchange(socket, question());
  // Accepted questions wait; the second one is refused meanwhile.
  await until('the first question', () => asked === 1);
  assert.equal(await exchange(socket, question()), undefined);
  now = 10;
  answers.resolve(ANSWER);
  assert.deepEqual(await first, ANSWER);
  now = 39;
  assert.equal(await exchange(socket, question()), undefined);
  now = 40;
  assert.deepEqual(await exchange(socket, question()), ANSWER);
  refused = 'standby';
  assert.equal(await exchange(socket, question()), undefined);
  refused = undefined;
  for (const bad of ['command', 'words', 'version', 'ovnNb'] as const)
    assert.equal(await exchange(socket, { ...question(), [bad]: { not: 'known' } }), undefined, bad);
  assert.equal(await exchange(socket, { ...question(), namespace: 'x'.repeat(MOST_QUESTION_BYTES) }), undefined);
  assert.equal(asked, 2);
  answers = Promise.withResolvers();
  answers.promise.catch(() => undefined);
  answers.reject(new Error('forbidden'));
  assert.equal(await exchange(socket, question()), undefined);
  assert.equal(asked, 3);
  await end();
});

test('a controller that does not accept, or whose answer is cut off, is not waited for', async () => {
  const socket = join(folder, 'other.sock');
  let serve = (_connection: Socket): void => undefined;
  const server = createServer((connection) => {
    connection.on('error', () => undefined).resume();
    serve(connection);
  });
  await new Promise<void>((done) => {
    server.listen(socket, done);
  });
  assert.equal(await exchange(socket, question()), undefined);
  const line = JSON.stringify(ANSWER);
  for (const text of [`${ACCEPTED}\n${line}`, `${line}\n`, `${ACCEPTED}\n{}\n`, `${ACCEPTED}\n${line}\n${line}\n`]) {
    serve = (connection) => void connection.end(text);
    assert.equal(await exchange(socket, question()), undefined, text);
  }
  serve = (connection) => void connection.end(`${ACCEPTED}\n${line}\n`);
  assert.deepEqual(await exchange(socket, question()), ANSWER);
  await new Promise((done) => {
    server.close(done);
  });
});

function question(): Question {
  return { version: VERSION, command: 'status', words: [], all: false, colors: false, ovnNb: '' };
}
