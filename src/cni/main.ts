/** The program `kiln-cni`. */
import { readFileSync } from 'node:fs';
import { call } from './plugin.ts';

const { output, exit } = await call(process.env, process.stdin.isTTY ? '' : readFileSync(0, 'utf8'));
process.stdout.write(output);
process.exitCode = exit;
