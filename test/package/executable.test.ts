/** The command line as one executable file, in an empty folder, without Node beside it: help, a cluster's status, and what it says where it cannot. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildExecutable } from '../../scripts/build/executable.ts';
import { programPlugins } from '../../scripts/build/programs.ts';
import { VERSION } from '../../src/runtime/version.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { InProcessCluster } from '../../src/testing/in-process-cluster.ts';
import { findOvn } from '../../lab/programs/ovn.ts';

const folder = mkdtempSync(join(tmpdir(), 'kiln-executable-'));
after(() => rmSync(folder, { recursive: true }));
const [file, empty] = [join(folder, 'kiln'), join(folder, 'empty')];
const MOST_MB = 150;

interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

function kiln(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((done) => {
    const options = { cwd: empty, env: { ...testEnvironment(), PATH: '/nowhere', ...env } };
    execFile(file, args, options, (error, out, err) => done({ exit: error === null ? 0 : Number(error.code ?? -1), out, err }));
  });
}

before(async () => {
  mkdirSync(empty);
  await buildExecutable('src/cli/executable.ts', file, programPlugins());
});

test('its version, its size, and help of all and of one command', async () => {
  assert.deepEqual(await kiln(['version', '--client']), {
    exit: 0,
    out: `client      kiln ${VERSION}, Node.js ${process.version}\n`,
    err: '',
  });
  assert.ok(statSync(file).size < MOST_MB * 1e6, `${statSync(file).size} bytes`);
  for (const [args, text] of [
    [['--help'], /^Commands:$/m],
    [['audit', '--help'], /^Usage: kiln audit /],
    [['migrate', 'plan', '--help'], /^Usage: kiln migrate plan /],
  ] as const) {
    const { exit, out, err } = await kiln(args);
    assert.deepEqual([exit, err], [0, '']);
    assert.match(out, text);
  }
});

test('wrong usage, and no laboratory in it', async () => {
  const unknown = await kiln(['statsu']);
  assert.equal(unknown.exit, 2);
  assert.match(unknown.err, /unknown command 'statsu'/);
  const start = await kiln(['start']);
  assert.equal(start.exit, 2);
  assert.match(start.err, /this installation does not contain the laboratory/);
});

test('status, diff and a backup of a cluster', { skip: findOvn('system') === undefined && 'OVN is not installed' }, async () => {
  await using cluster = await InProcessCluster.start();
  await cluster.withController({}, async (controller) => {
    await controller.untilQuiet();
    const env = { KILN_OVN_NB: cluster.ovn.unix, KUBECONFIG: cluster.kubeconfig };
    const status = await kiln(['status'], env);
    assert.match(status.out, /^leader +✔|^leader +\S/m);
    assert.match(status.out, /^objects +Vpc 1 /m);
    assert.deepEqual(await kiln(['diff', '-q'], env), { exit: 0, out: '', err: '' });
    const backup = await kiln(['backup', join(folder, 'backups')], env);
    assert.equal(backup.exit, 0, backup.err);
  });
});
