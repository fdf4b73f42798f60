/** What all commands have in common: exit codes, help, completion. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { program } from '../program.ts';
import { runHere } from '../testing/command-here.ts';

test('exit codes: wrong usage 2, out of reach 3', async () => {
  for (const command of ['explain', 'completion'])
    assert.deepEqual(await runHere([command, '--nonsense']), {
      exit: 2,
      out: '',
      err: `error: kiln ${command} was not run\n  why: unknown option '--nonsense'\n  next: kiln ${command} --help\n`,
    });
  assert.match(
    (await runHere(['explian', 'vpc'])).err,
    /^error: kiln was not run\n {2}why: unknown command 'explian' .*explain.*\n {2}next: kiln --help\n$/,
  );
  assert.equal((await runHere(['completion', 'csh'])).exit, 2);
  const nowhere = { KUBECONFIG: '/nowhere/kubeconfig' };
  for (const args of [['delete', 'vpc', 'x'], ['diff', '--ovn-nb=tcp:127.0.0.1:1'], ['version']]) {
    const { exit, err } = await runHere(args, nowhere);
    assert.equal(exit, 3, `${args.join(' ')}: ${err}`);
    assert.match(err, /^error: .+\n {2}why: .+\n {2}next: .+\n$/m);
  }
  assert.equal((await runHere(['version', '--client'], nowhere)).exit, 0);
});

test('help of an unknown command names it; help of help is the general help', async () => {
  for (const args of [
    ['help', 'explian'],
    ['explian', '--help'],
    ['-h', 'explian'],
  ])
    assert.deepEqual(
      await runHere(args),
      {
        exit: 2,
        out: '',
        err: "error: kiln was not run\n  why: unknown command 'explian' (Did you mean explain?)\n  next: kiln --help\n",
      },
      args.join(' '),
    );
  const { out: all } = await runHere(['--help']);
  for (const args of [['help'], ['help', 'help'], ['-h']]) assert.deepEqual(await runHere(args), { exit: 0, out: all, err: '' });
  const { out: explain } = await runHere(['explain', '--help']);
  for (const args of [
    ['help', 'explain'],
    ['explain', 'vpc', '-h'],
  ])
    assert.deepEqual(await runHere(args), { exit: 0, out: explain, err: '' });
});

test('help begins with the usage, and ends with examples and exit codes', () => {
  for (const name of ['explain', 'delete', 'diff', 'status', 'version', 'uninstall']) {
    const command = program.commands.find((one) => one.name() === name) ?? assert.fail(name);
    let out = '';
    command.configureOutput({ writeOut: (text) => void (out += text) }).outputHelp();
    assert.match(out, new RegExp(`^Usage: kiln ${name} [^]*\nExamples:\n {2}kiln ${name}`));
    assert.match(out, /Exit codes: 0 /);
  }
});

test('the completion of bash completes commands, flags and kinds', async () => {
  const { out } = await runHere(['completion', 'bash']);
  const completed = (...words: readonly string[]): string =>
    spawnSync('bash', ['-c', `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kiln; echo "\${COMPREPLY[@]}"`, 'bash', ...words], {
      encoding: 'utf8',
    }).stdout.trim();
  assert.equal(completed('kiln', 'exp'), 'explain');
  assert.equal(completed('kiln', 'explain', 'sub'), 'subnet');
  assert.equal(completed('kiln', 'delete', '--casc'), '--cascade');
  assert.match((await runHere(['completion', 'fish'])).out, /complete -c kiln -n '__fish_seen_subcommand_from delete' -l cascade\n/);
  assert.match((await runHere(['completion', 'zsh'])).out, /^#compdef kiln\n/);
});
