/** A process that npm started notices the end of npm, or of the shell between them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { watchAncestors } from './ancestor-watch.ts';

const SELF = join(import.meta.dirname, 'ancestor-watch.ts');
/** Prints when it has started, and when it notices the end. */
const WATCHER = `import { watchAncestors } from ${JSON.stringify(SELF)};
  watchAncestors(() => { console.log('gone'); process.exit(0); });
  console.log('there');
  setTimeout(() => process.exit(3), 60_000);`;
/** Does the same as npm: starts a shell that runs the program and waits. */
const STARTER = `const { spawn } = require('node:child_process');
  const shell = spawn('sh', ['-c', '"$NODE" --input-type=module -e "$WATCHER"; true'], { stdio: ['ignore', 'inherit', 'inherit'] });
  console.log('shell ' + shell.pid);
  shell.on('exit', () => process.exit(0));`;

for (const [whom, signal] of [
  ['npm', 'SIGKILL'],
  ['the shell', 'SIGTERM'],
] as const)
  test(`${whom} ends by ${signal}: it is noticed`, async () => {
    const starter = spawn(process.execPath, ['-e', STARTER], {
      env: { ...process.env, npm_lifecycle_event: 'start', NODE: process.execPath, WATCHER },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    const heard = (word: RegExp): Promise<string> =>
      new Promise((done, fail) => {
        const look = (): void => {
          const found = word.exec(output);
          if (found !== null) done(found[1] ?? '');
        };
        starter.stdout.on('data', look);
        starter.stdout.on('close', () => fail(new Error(`it ended and printed: ${output}`)));
        look();
      });
    starter.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const shell = Number(await heard(/shell (\d+)/));
    await heard(/(there)/);
    if (whom === 'npm') starter.kill(signal);
    else process.kill(shell, signal);
    await heard(/(gone)/);
    if (starter.exitCode === null && starter.signalCode === null) await once(starter, 'exit');
  });

test('a process that npm did not start continues when its parent ends', () => {
  let looks = 0;
  watchAncestors(assert.fail, { npm_lifecycle_event: 'test' }, () => [++looks, 1])();
  assert.equal(looks, 0);
});
