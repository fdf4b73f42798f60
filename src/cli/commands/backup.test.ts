/** `kiln backup` and `kiln restore` against two databases: the cluster's own, and another one. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { runHere } from '../testing/command-here.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

let scene: CommandScene;
let directory: string;
let path: string;
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  await scene.nbctl('ls-add', 'theirs', '--', 'lsp-add', 'theirs', 'their-port');
});
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kiln-backup-'));
  path = join(directory, 'nb.db.gz');
});
after(async () => {
  await rm(directory, { recursive: true, force: true });
});

test('a backup, what it has, and that it overwrites nothing', { skip }, async () => {
  const done = await scene.kiln('backup', path);
  assert.equal(done.exit, 0, done.err);
  assert.match(done.out, /\n {2}rows +\d+: .*\d+ Logical_Router,/);
  const again = await scene.kiln('backup', path);
  assert.equal(again.exit, 2);
  assert.match(again.err, /exists, and a backup overwrites nothing/);
  const looked = await runHere(['backup', '--verify', path], { KUBECONFIG: '/absent' });
  assert.equal(looked.exit, 0, looked.err);
  assert.match(looked.out, /is whole\n/);
  const alone = await runHere(['backup', join(directory, 'alone/'), `--ovn-nb=${scene.ovnNb}`], { HOME: directory });
  assert.equal(alone.exit, 0, alone.err);
  assert.match(alone.err, /no Kubernetes cluster is configured here/);
  assert.equal((await readdir(join(directory, 'alone'))).length, 1);
});

test('a running controller, rows of others that are lost, and a restore', { skip }, async () => {
  await scene.nbctl('ls-del', 'theirs');
  const planned = await scene.kiln('restore', path, '--dry-run');
  assert.equal(planned.exit, 0, planned.err);
  assert.equal(planned.out, 'restore    Logical_Switch theirs of unmarked\nrestore    Logical_Switch_Port their-port of unmarked\n');
  const unasked = await scene.kiln('restore', path);
  assert.equal(unasked.exit, 2);
  assert.match(unasked.err, /there is no terminal for the confirmation/);
  const done = await scene.kiln('restore', path, '--yes');
  assert.equal(done.exit, 0, done.err);
  assert.match(await scene.nbctl('lsp-list', 'theirs'), /their-port/);
  await scene.controller.untilQuiet();
  const [, before = ''] = /take back 2 rows of other programs .*: kiln restore (\S+) --others exact/.exec(done.err) ?? [];
  const taken = await scene.kiln('restore', before, '--others=exact', '--yes');
  assert.equal(taken.exit, 0, taken.err);
  assert.doesNotMatch(await scene.nbctl('ls-list'), /theirs/);
  assert.equal((await scene.kiln('restore', path, '--yes')).exit, 0);
  const nothing = await scene.kiln('restore', path, '--yes');
  assert.equal(nothing.exit, 1);
  assert.match(nothing.err, /nothing to restore/);
});

test('what a restore overwrites and deletes is in the journal, and an undo brings it back', { skip }, async () => {
  const journal = `--journal=${join(directory, 'journal')}`;
  await scene.nbctl('set', 'Logical_Switch', 'theirs', 'other_config:mcast_snoop=true', '--', 'ls-add', 'newer');
  await writeFile(join(directory, 'file'), '');
  const refused = await scene.kiln('restore', path, '--others=exact', '--yes', `--journal=${join(directory, 'file')}`);
  assert.equal(refused.exit, 1, refused.err);
  assert.match(refused.err, /nothing was restored\n.*journal first, and --journal=\S+ cannot be written: /);
  const done = await scene.kiln('restore', path, '--others=exact', '--yes', journal);
  assert.equal(done.exit, 0, done.err);
  assert.doesNotMatch(await scene.nbctl('ls-list'), /newer/);
  const tx = /kiln undo (restore-\S+)/.exec(done.err)?.[1] ?? assert.fail(done.err);
  const told = await runHere(['history', '--row=newer', journal]);
  assert.match(told.out, /delete {2}Logical_Switch newer .*kiln restore made it as a backup has it/);
  const undone = await scene.kiln('undo', tx, '--yes', journal);
  assert.equal(undone.exit, 0, undone.err);
  assert.match(await scene.nbctl('ls-list'), /newer/);
  assert.match(await scene.nbctl('get', 'Logical_Switch', 'theirs', 'other_config'), /mcast_snoop="true"/);
  await scene.nbctl('ls-del', 'newer');
});

test('a database of another identity, and a truncated file: it tells what they are and does nothing', { skip }, async (t) => {
  const other = await OvsdbServerProcess.start();
  t.after(() => other.stop());
  await other.nbctl('init', '--', 'ls-add', 'of-another');
  const into = (await other.nbctl('--bare', '--columns=_uuid', 'list', 'NB_Global')).trim();
  const refused = await scene.kiln('restore', path, '--yes', `--ovn-nb=${other.unix}`);
  assert.equal(refused.exit, 1);
  assert.match(refused.err, new RegExp(`nothing was restored\n.*the backup is of the database .*; here is ${into}, which is not empty`));
  assert.match(refused.err, new RegExp(`--into ${into}`));
  assert.equal(await other.nbctl('--bare', '--columns=name', 'list', 'logical_switch'), 'of-another');
  const meant = await scene.kiln('restore', path, '--dry-run', `--into=${into}`, `--ovn-nb=${other.unix}`);
  assert.equal(meant.exit, 0, meant.err);
  assert.match(meant.out, /restore {4}Logical_Router ovn-cluster of vpc\/ovn-cluster/);

  const cut = join(directory, 'cut.db.gz');
  await writeFile(cut, (await readFile(path)).subarray(0, 900));
  const truncated = await scene.kiln('restore', cut, '--yes');
  assert.equal(truncated.exit, 1);
  assert.match(truncated.err, /is not a whole backup; nothing was changed\n.*it is truncated/);
  const missing = await scene.kiln('restore', `${path}.gone`, '--yes');
  assert.match(missing.err, /\.gone cannot be read; nothing was changed\n.*ENOENT/);
});
