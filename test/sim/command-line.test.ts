import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { flagsOf } from './command-line.ts';

test('the error of an invalid or useless number has its flag, value, rule and an example', () => {
  for (const [option, values, rule] of [
    ['minutes', ['0', '-1', 'ten', '', ' ', '0x10', 'Infinity', 'NaN'], 'a number above 0, such as --minutes 10;'],
    ['hours', ['0', '-0.5', '1h'], 'a number above 0, such as --hours 8;'],
    ['operations', ['0', '-5', '2.5', '1e3', 'many', ''], 'a whole number of at least 1, such as --operations 100000;'],
    ['life', ['0', '-1', '0.5'], 'a whole number of at least 1, such as --life 500;'],
    ['workers', ['0', '-1', '1.5'], 'a whole number of at least 1, such as --workers 2;'],
    ['seed', ['-1', '1.5', 'seven', '', '9007199254740993'], 'a whole number of at least 0, such as --seed 7;'],
  ] as const)
    for (const value of values)
      for (const args of [[`--${option}`, value], [`--${option}=${value}`]])
        assert.throws(
          () => flagsOf(args),
          ({ message }: Error) => message.startsWith(`--${option} "${value}": it is ${rule}`) && !message.includes('\n'),
          args.join(' '),
        );
});

test('valid flags are parsed', () => {
  const flags = flagsOf(['--seed', '0', '--minutes', '0.5', '--hours', '1', '--life', '50', '--workers', '3', '--namespaced']);
  assert.ok(flags !== 'help');
  assert.deepEqual([flags.seed, flags.forMs, flags.life, flags.workers, flags.namespaced], [0, 3_630_000, 50, 3, true]);
  const plain = flagsOf(['--operations', '1']);
  assert.ok(plain !== 'help');
  assert.deepEqual([plain.operations, plain.forMs, plain.life, plain.shrink], [1, undefined, 500, true]);
});

test('an invalid command line ends with exit code 2 and one line', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/sim/main.ts', '--minutes', '0'], { encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr.trimEnd().split('\n').length], [2, '', 1]);
});
