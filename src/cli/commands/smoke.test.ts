/**
 * Runs each command once as a user does: in its own process, on a whole laboratory. Decisions and messages are tested beside their code;
 * here, that the commands connect, print, and exit with the right code.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Controller } from '../../controller/controller.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { until } from '../../testing/until.ts';
import { Laboratory } from '../../../lab/laboratory.ts';
import { findOvn } from '../../../lab/programs/ovn.ts';
import { SILENT } from '../../runtime/log.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import { northboundSession } from '../connection/connect.ts';
import { makeController } from '../connection/make-controller.ts';
import { demoObjects, demoPods } from '../laboratory/demo.ts';
import type { Ended } from '../testing/command-here.ts';
import { KILN, runKiln } from '../testing/kiln-process.ts';

interface DemoEvent extends KubeObject {
  readonly type: string;
  readonly message: string;
  readonly involvedObject: { readonly name: string };
}

const EVENTS: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
const skip = findOvn('system') === undefined && 'OVN is not installed';
let directory: string;
let lab: Laboratory;
let controller: Controller;

before(async () => {
  if (skip !== false) return;
  directory = await mkdtemp(join(tmpdir(), 'kiln-commands-'));
  lab = new Laboratory({ directory, nodes: 1, step: (_what, done) => done.then(() => undefined) });
  await lab.start();
  controller = makeController(lab.client, northboundSession({ ovnNb: lab.ovn.nbEndpoint }, SILENT), SILENT, { collectionLimit: false });
  controller.start();
  await controller.untilQuiet();
  await make('vpcs', { metadata: { name: 'blue' } });
  await make('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock: '10.92.0.0/24' } });
  await controller.untilQuiet();
});

after(async () => {
  if (skip !== false) return;
  await controller.stop();
  await lab.stop();
  await rm(directory, { recursive: true, force: true });
});

function make(resource: ResourceName, object: object): Promise<KubeObject> {
  return lab.client.create(traitsOf(resource), object as KubeObject);
}

function kiln(...args: readonly string[]): Promise<Ended> {
  return runKiln([...args, `--kubeconfig=${lab.kubeconfig}`], { env: { KILN_OVN_NB: lab.ovn.nbEndpoint } });
}

test('read-only commands: explain, status, diff, version', { skip }, async () => {
  const [explain, status, diff, version] = await Promise.all([
    kiln('explain', 'vpc', 'blue'),
    kiln('status'),
    kiln('diff'),
    kiln('version'),
  ]);
  assert.deepEqual([explain.exit, explain.err], [0, '']);
  assert.match(explain.out, /^NAME +READY +REASON +AGE\nVpc\/blue +True .*\n(.*\n)*.*Subnet\/red {2}10\.92\.0\.0\/24 /);
  assert.equal(status.exit, 0, status.out + status.err);
  assert.match(status.out, /\nfindings +✔ none\n$/);
  assert.deepEqual([diff.exit, diff.out, diff.err], [0, '', 'nothing to do\n']);
  assert.equal(version.exit, 0, version.err);
  assert.match(version.out, /\nnorthbound +✔ schema \d[\d.]*, OVN \d[\d.]+/);
});

test('an address is reserved and released', { skip }, async () => {
  const reserved = await kiln('reserve', 'cli', '-n', 'shop', '--subnet', 'red', '-o', 'name', '-q');
  assert.deepEqual(reserved, { exit: 0, out: 'ip.kubeovn.io/cli.shop\n', err: '' });
  const released = await kiln('release', 'cli.shop', '--yes', '-o', 'name', '-q');
  assert.deepEqual(released, { exit: 0, out: 'ip.kubeovn.io/cli.shop\n', err: '' });
});

test('bundle writes its archive, and uninstall shows what it would delete', { skip }, async () => {
  const file = join(directory, 'kiln.tar.gz');
  const [bundle, uninstall] = await Promise.all([kiln('bundle', '--file', file), kiln('uninstall', '--dry-run=client')]);
  // No pod of the laboratory runs the controller, so there is no log to fetch.
  assert.deepEqual([bundle.exit, bundle.out], [1, `${file}\n`], bundle.err);
  assert.equal(uninstall.exit, 0, uninstall.err);
  assert.match(uninstall.out, /rows/);
});

test('status --watch prints a screen with each change until Ctrl-C, and none without one', { skip }, async () => {
  await make('subnets', { metadata: { name: 'later' }, spec: { vpc: 'nowhere', cidrBlock: '10.98.0.0/24' } });
  await controller.untilQuiet();
  let removed: Promise<unknown> | undefined;
  const { exit, out } = await runKiln(['status', '--watch', `--kubeconfig=${lab.kubeconfig}`], {
    env: { KILN_OVN_NB: lab.ovn.nbEndpoint },
    heard: () => {
      removed ??= lab.client.delete(traitsOf('subnets'), { name: 'later' });
    },
    interruptAt: /findings +✔ none\n$/,
  });
  await removed;
  assert.equal(exit, 130);
  const findings = [...out.matchAll(/^findings +(.*)$/gm)].map(([, text = '']) => text);
  assert.deepEqual([findings[0], findings.at(-1)], ['✖ 1', '✔ none']);
  assert.ok(findings.length <= 4, out);
});

/**
 * Runs `kiln` on a terminal of its own and types an answer to its question.
 * @returns the exit code and the whole output
 */
function answered(typed: string, ...args: readonly string[]): Promise<readonly [number | null, string]> {
  const command = [KILN, ...args, `--kubeconfig=${lab.kubeconfig}`].join(' ');
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  let asked = false;
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (asked || !shown.includes('[y/N]')) return;
    asked = true;
    terminal.stdin.write(typed);
  });
  return new Promise((done, fail) => {
    terminal.on('error', fail);
    terminal.on('close', (exit) => done([exit, shown]));
  });
}

test('at the question of delete Ctrl-C ends it with 130, Ctrl-D and no change nothing, and yes deletes', { skip }, async () => {
  await make('vpcs', { metadata: { name: 'asked' } });
  await controller.untilQuiet();
  const [interrupted, last] = await answered('\u0003', 'delete', 'vpc', 'asked');
  assert.deepEqual([interrupted, last.includes('interrupted: nothing was deleted')], [130, true], last);
  for (const no of ['\u0004', 'n\r']) {
    const [exit, shown] = await answered(no, 'delete', 'vpc', 'asked');
    assert.deepEqual([exit, shown.includes('nothing was changed')], [1, true], shown);
  }
  const [yes, gone] = await answered('y\r', 'delete', 'vpc', 'asked');
  assert.deepEqual([yes, gone.includes('vpc.kubeovn.io/asked deleted')], [0, true], gone);
});

test('the demo of a fresh laboratory warns of nothing', { skip }, async () => {
  for (const [resource, name] of [
    ['subnets', 'red'],
    ['vpcs', 'blue'],
  ] as const) {
    const there = async (): Promise<boolean> => (await lab.client.find(traitsOf(resource), { name })) !== undefined;
    if (await there()) await lab.client.delete(traitsOf(resource), { name });
    await until(`${name} is gone`, async () => !(await there()));
  }
  for (const { resource, object } of demoObjects()) await lab.client.create(resource, object);
  const isRunning = async ({ namespace, name }: { readonly namespace: string; readonly name: string }): Promise<boolean> =>
    ((await lab.client.get(traitsOf('pods'), { namespace, name })) as { status?: { phase?: string } }).status?.phase === 'Running';
  await until('the demo runs', async () => (await Promise.all(demoPods().map(isRunning))).every(Boolean));
  await controller.untilQuiet();
  const mine = new Set(['kubernetes', 'ovn-default', 'join', 'ovn-cluster', ...demoObjects().map(({ object }) => object.metadata.name)]);
  const events = await lab.client.listAll<DemoEvent>(EVENTS);
  assert.ok(events.some(({ type }) => type === 'Normal'));
  assert.deepEqual(
    events.filter(({ type, involvedObject }) => type === 'Warning' && mine.has(involvedObject.name)).map(({ message }) => message),
    [],
  );
});
