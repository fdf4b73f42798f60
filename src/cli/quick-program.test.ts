import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyCommand } from './arguments/every-command.ts';
import { program } from './program.ts';
import { programFor, QUICK } from './quick-program.ts';

test('a command that is loaded alone is the command of the whole program', async () => {
  for (const name of Object.keys(QUICK)) {
    const alone = everyCommand(await programFor(name));
    const whole = everyCommand(program).filter((one) => one.name === name || one.name.startsWith(`${name} `));
    assert.ok(alone.length > 0, name);
    assert.deepEqual(
      alone.map((one) => [one.name, one.command.helpInformation()]),
      whole.map((one) => [one.name, one.command.helpInformation()]),
    );
  }
});

test('any other word gets the whole program, which knows what is near to it', async () => {
  for (const name of [undefined, '--help', 'help', 'explian', 'toString', 'reserve']) assert.equal(await programFor(name), program);
});
