/** The program `kiln-cni`. Built as one file it is CommonJS, which cannot wait at its top level. */
import { text } from 'node:stream/consumers';
import { call } from './plugin.ts';

// Not with a synchronous read: a runtime may give a pipe that does not block, and write to it later.
const input = process.stdin.isTTY ? Promise.resolve('') : text(process.stdin);
void input
  .then((configuration) => call(process.env, configuration))
  .then(({ output, exit }) => {
    process.stdout.write(output);
    process.exitCode = exit;
  });
