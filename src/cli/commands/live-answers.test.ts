/** What a controller answers is what the command prints that reads for itself. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import { SILENT } from '../../runtime/log.ts';
import { until } from '../../testing/until.ts';
import { traitsOf } from '../../world/resources.ts';
import { northboundSession } from '../connection/connect.ts';
import { makeController } from '../connection/make-controller.ts';
import { outputText } from '../output/terminal.ts';
import type { Answer } from '../process/answer-socket.ts';
import { answerSocket } from '../process/answer-socket.ts';
import { exchange, questionOf } from '../process/ask-controller.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';
import type { LiveSources } from './live-answers.ts';
import { serveLiveAnswers } from './live-answers.ts';

const folder = mkdtempSync(join(tmpdir(), 'kiln-live-'));
let scene: CommandScene;
let sources: LiveSources;
let env: Readonly<Record<string, string>>;
let end: () => Promise<void>;
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  const { client, controller, session, kubeconfig, ovnNb } = opened;
  env = { XDG_RUNTIME_DIR: folder, KUBECONFIG: kubeconfig, KILN_OVN_NB: ovnNb };
  const connection = await connectionFromKubeconfig({ path: kubeconfig });
  sources = { namespace: 'kube-system', socket: answerSocket({}, env), controller, client, connection, session, ovnNb, log: SILENT };
  end = await serveLiveAnswers(sources);
});
after(async () => {
  await end?.();
  rmSync(folder, { recursive: true });
});

/** As a process of `kiln` asks. */
async function asked(line: string, more: Readonly<Record<string, string>> = {}): Promise<Answer | undefined> {
  const found = questionOf(line.split(' '), { ...env, ...more });
  const socket = answerSocket(found?.origin ?? {}, env);
  if (found === undefined || socket === undefined) throw new Error(`kiln ${line} asks nobody`);
  return await exchange(socket, found.question);
}

/** Once the controller has rested from its last answer. */
async function answered(line: string): Promise<Answer> {
  let answer: Answer | undefined;
  await until(`an answer to kiln ${line}`, async () => {
    await scene.controller.untilQuiet();
    answer = await asked(line);
    return answer !== undefined;
  });
  return answer as Answer;
}

/** Without times, which pass between the two. */
function timeless(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/ +\b\d+[smh]\b/g, ' AGE')
    .replaceAll(/\(\d+[smh]\)/g, '(AGE)');
}

test('with and without a controller that answers, commands print the same', { skip }, async () => {
  await scene.make('vpcs', { metadata: { name: 'shop' }, spec: { namespaces: ['shop'] } });
  await scene.make('namespaces', { metadata: { name: 'shop' } });
  await scene.make('subnets', { metadata: { name: 'web' }, spec: { vpc: 'shop', cidrBlock: '10.96.0.0/24', namespaces: ['shop'] } });
  await scene.make('pods', {
    metadata: { name: 'web-0', namespace: 'shop' },
    spec: { nodeName: 'node-1', containers: [{ name: 'a', image: 'a' }] },
  });
  await scene.make('subnets', { metadata: { name: 'lost' }, spec: { vpc: 'nowhere', cidrBlock: '10.97.0.0/24' } });
  // Waits for its Subnet, and its deletion for nothing.
  await scene.client.delete(traitsOf('vpcs'), { name: 'shop' });
  // A row of Kiln without its object, and one of another program.
  await scene.nbctl('ls-add', 'of-others');
  await scene.controller.untilQuiet();
  for (const line of [
    ...['status', 'status -o wide', 'status -o json', 'status -o yaml', 'status -o name', 'status -n shop'],
    ...['explain vpc shop', 'explain vpc/shop -o json', 'explain vpc ovn-cluster --all -o yaml', 'explain subnet lost'],
    ...['explain subnet web -o wide', 'explain pod web-0 -n shop', 'explain pod/shop/web-0 -o json', 'explain node node-1'],
  ]) {
    const answer = await answered(line);
    const read = await scene.kiln(...line.split(' '), '--no-controller');
    assert.equal(timeless(answer.out.map(outputText).join('')), timeless(read.out), line);
    assert.deepEqual([answer.exit, answer.say.join('')], [read.exit, read.err], line);
  }
});

test('answering leaves nothing behind in the controller: no query, nothing to compute', { skip }, async () => {
  await scene.controller.untilQuiet();
  const { world } = scene.controller;
  const look = (): readonly unknown[] => [world.queries, world.reactor.isIdle, scene.controller.quiet];
  const before = look();
  for (const line of ['explain vpc ovn-cluster', 'explain subnet web', 'explain pod web-0 -n shop', 'status', 'status -n shop'])
    await until(`an answer to kiln ${line}`, async () => (await asked(line)) !== undefined);
  // Nothing but the answers themselves wakes the controller.
  await until('a quiet controller', () => scene.controller.quiet);
  assert.deepEqual(look(), before);
});

test('what a command refuses or does not find, it says itself', { skip }, async () => {
  await scene.controller.untilQuiet();
  for (const line of ['explain vpc missing', 'explain nonsense web', 'status -o table -n missing', 'status -o nonsense'])
    assert.equal(await asked(line), undefined, line);
});

test('the answer is not of another database, nor of another version', { skip }, async () => {
  await answered('status');
  assert.equal(await asked('status', { KILN_OVN_NB: 'tcp:10.0.0.1:6641' }), undefined);
  const question = questionOf(['status'], env)?.question;
  assert.ok(question !== undefined);
  assert.equal(await exchange(sources.socket ?? '', { ...question, version: '0.0.1' }), undefined);
});

test('a controller that does not lead, or has a Lease elsewhere, answers nothing', { skip }, async () => {
  const session = northboundSession({ ovnNb: scene.ovnNb }, SILENT);
  const standby = makeController(scene.client, session, SILENT);
  const socket = join(folder, 'standby', 'a.sock');
  const question = questionOf(['status'], env)?.question;
  assert.ok(question !== undefined);
  await using served = new AsyncDisposableStack();
  served.defer(await serveLiveAnswers({ ...sources, controller: standby, session, socket }));
  assert.equal(await exchange(socket, question), undefined);
  standby.start();
  served.defer(() => standby.stop());
  await until('a standby', () => standby.status.phase === 'standby');
  assert.equal(await exchange(socket, question), undefined);
  const elsewhere = join(folder, 'elsewhere', 'a.sock');
  served.defer(await serveLiveAnswers({ ...sources, namespace: 'kiln', socket: elsewhere }));
  assert.equal(await exchange(elsewhere, question), undefined);
});
