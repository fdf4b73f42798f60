import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
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

test('a command that reads a World can ask it every query, though it is loaded alone', async () => {
  const reading = Object.keys(QUICK).filter((name) =>
    /cluster\/observe\.ts'/.test(readFileSync(new URL(`./commands/${name}.ts`, import.meta.url), 'utf8')),
  );
  assert.ok(reading.includes('delete') && reading.includes('explain') && reading.includes('status'), reading.join());
  for (const name of reading) {
    const program = `
      const { programFor } = await import(${JSON.stringify(new URL('quick-program.ts', import.meta.url).href)});
      await programFor(${JSON.stringify(name)});
      const { undefinedQueries } = await import(${JSON.stringify(new URL('../engine/any-world.ts', import.meta.url).href)});
      console.log([...undefinedQueries].join());`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    assert.equal(stdout, '\n', `${name} asks queries that it does not define`);
  }
});

test('any other word gets the whole program, which knows what is near to it', async () => {
  for (const name of [undefined, '--help', 'help', 'explian', 'toString', 'reserve']) assert.equal(await programFor(name), program);
});
