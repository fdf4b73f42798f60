/** The program `kiln-cni`. Built as one file it is CommonJS, which cannot wait at its top level. */
import { readFileSync } from 'node:fs';
import { call } from './plugin.ts';

void call(process.env, process.stdin.isTTY ? '' : readFileSync(0, 'utf8')).then(({ output, exit }) => {
  process.stdout.write(output);
  process.exitCode = exit;
});
