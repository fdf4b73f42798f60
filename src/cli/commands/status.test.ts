/** `kiln status`, `diff`, `version` and `completion` as people run them, on a laboratory. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { findOvn } from '../../lab/programs/ovn.ts';
import { traitsOf } from '../../world/resources.ts';
import { CommandLab, runKiln } from '../testing/command-lab.ts';

const skip = findOvn('system') === undefined && 'OVN is not installed';
let lab: CommandLab;

before(async () => {
  if (skip === false) lab = await CommandLab.open();
});

after(async () => {
  if (skip === false) await lab[Symbol.asyncDispose]();
});

test('status of a cluster that is well: one screen, exit 0', { skip }, async () => {
  const { exit, out, said } = await lab.kiln('status');
  assert.equal(exit, 0, out + said);
  assert.match(
    out,
    /^leader +✔ \S+, renewed \d+s ago, term \d+\nnorthbound +✔ unix:\S+, schema \d[\d.]*, \d+ rows of Kiln\nobjects +Vpc 1 · Subnet 2 /,
  );
  assert.match(out, /\nfindings +✔ none\n$/);
});

test('status with findings: exit 1, each with the command that leads on', { skip }, async () => {
  await lab.make('subnets', { metadata: { name: 'lost' }, spec: { vpc: 'nowhere', cidrBlock: '10.97.0.0/24' } });
  await lab.controller.untilQuiet();
  const { exit, out } = await lab.kiln('status');
  assert.equal(exit, 1);
  assert.match(out, /findings +✖ 1\n {2}not ready {2}Vpc nowhere does not exist.* \(\d+s\)\n {4}kiln explain subnet lost\n$/);
  const json = JSON.parse((await lab.kiln('status', '-o', 'json')).out) as {
    readonly apiVersion: string;
    readonly kind: string;
    readonly leader: { readonly live: boolean };
    readonly findings: readonly { readonly what: string; readonly key: string }[];
  };
  assert.deepEqual([json.apiVersion, json.kind, json.leader.live], ['kiln.io/v1', 'Status', true]);
  assert.deepEqual(
    json.findings.map(({ what, key }) => [what, key]),
    [['not ready', 'lost']],
  );
  await lab.client.delete(traitsOf('subnets'), { name: 'lost' });
  await lab.controller.untilQuiet();
});

test('status with a database that cannot be reached: what was read, and exit 3', { skip }, async () => {
  const { exit, out } = await lab.kiln('status', '--ovn-nb=tcp:127.0.0.1:1');
  assert.equal(exit, 3, out);
  assert.match(out, /\nnorthbound +✖ OVSDB_CONNECT_FAILED: .*\nobjects +Vpc 1 /);
});

test('diff: empty where the controller has done its work, and what it would do where it has not', { skip }, async () => {
  await lab.controller.untilQuiet();
  const nothing = await lab.kiln('diff');
  assert.deepEqual([nothing.exit, nothing.out, nothing.said], [0, '', 'nothing to do\n']);
  await lab.controller.stop();
  await lab.make('vpcs', { metadata: { name: 'new' } });
  const { exit, out } = await lab.kiln('diff');
  assert.equal(exit, 1);
  assert.match(out, /^insert Logical_Router new: .*"name":"new"/m);
  assert.match(out, /^patch Vpc new: .*kube-ovn-controller/m);
  const json = JSON.parse((await lab.kiln('diff', '-o', 'json')).out) as {
    readonly kind: string;
    readonly rows: readonly { readonly table: string }[];
  };
  assert.equal(json.kind, 'Plan');
  assert.ok(json.rows.some(({ table }) => table === 'Logical_Router'));
  assert.deepEqual((await lab.client.get(traitsOf('vpcs'), { name: 'new' })).metadata.finalizers, undefined, 'nothing was written');
  assert.equal((await lab.kiln('status')).exit, 1, 'nobody leads');
});

test('version: all parts, and whether they fit', { skip }, async () => {
  const { exit, out } = await lab.kiln('version');
  assert.equal(exit, 0, out);
  assert.match(
    out,
    /^client +kiln \d\S*, Node\.js v\d.*\nkubernetes +v\d.*\ncontroller .*\ncrds +✔ kubeovn\.io\/v1, all 25 kinds\nnorthbound +✔ schema \d/,
  );
  const json = JSON.parse((await lab.kiln('version', '-o', 'json')).out) as { readonly kind: string; readonly fits: boolean };
  assert.deepEqual([json.kind, json.fits], ['Version', true]);
});

test('exit codes: wrong usage 2, out of reach 3', async () => {
  for (const command of ['explain', 'delete', 'diff', 'status', 'version', 'completion'])
    assert.deepEqual(await runKiln([command, '--nonsense']), {
      exit: 2,
      out: '',
      said: `error: kiln ${command} was not run\n  why: unknown option '--nonsense'\n  next: kiln ${command} --help\n`,
    });
  assert.match(
    (await runKiln(['explian', 'vpc'])).said,
    /^error: kiln was not run\n {2}why: unknown command 'explian' .*explain.*\n {2}next: kiln --help\n$/,
  );
  assert.equal((await runKiln(['completion', 'csh'])).exit, 2);
  const nowhere = { env: { KUBECONFIG: '/nowhere/kubeconfig' } };
  for (const args of [['explain', 'vpc', 'x'], ['delete', 'vpc', 'x'], ['diff', '--ovn-nb=tcp:127.0.0.1:1'], ['status'], ['version']]) {
    const { exit, said } = await runKiln(args, nowhere);
    assert.equal(exit, 3, `${args.join(' ')}: ${said}`);
    assert.match(said, /^error: .+\n {2}why: .+\n {2}next: .+\n$/m);
  }
  assert.equal((await runKiln(['version', '--client'], nowhere)).exit, 0);
});

test('help begins with an example, and says the exit codes', async () => {
  for (const command of ['explain', 'delete', 'diff', 'status', 'version']) {
    const { out } = await runKiln([command, '--help']);
    assert.match(out, new RegExp(`^Examples:\n {2}kiln ${command}`));
    assert.match(out, /Exit codes: 0 /);
  }
});

test('the completion of bash completes commands, flags and kinds', async () => {
  const { out } = await runKiln(['completion', 'bash']);
  const completed = (...words: readonly string[]): string =>
    spawnSync('bash', ['-c', `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kiln; echo "\${COMPREPLY[@]}"`, 'bash', ...words], {
      encoding: 'utf8',
    }).stdout.trim();
  assert.equal(completed('kiln', 'exp'), 'explain');
  assert.equal(completed('kiln', 'explain', 'sub'), 'subnet');
  assert.equal(completed('kiln', 'delete', '--casc'), '--cascade');
  assert.match((await runKiln(['completion', 'fish'])).out, /complete -c kiln -n '__fish_seen_subcommand_from delete' -l cascade\n/);
  assert.match((await runKiln(['completion', 'zsh'])).out, /^#compdef kiln\n/);
});
