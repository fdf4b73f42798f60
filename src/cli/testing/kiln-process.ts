/** Runs `bin/kiln` in its own process, as for a user. Each takes a second of CPU time, so most tests of commands use `runHere`. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { testEnvironment } from '../../testing/environment.ts';
import type { Ended } from './command-here.ts';

export const KILN = join(import.meta.dirname, '../../../bin/kiln');

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Sends Ctrl-C after this text appears on standard error or standard output. */
  readonly interruptAt?: RegExp;
  /** Called at each output with everything printed so far. */
  readonly heard?: (out: string) => void;
}

export function runKiln(args: readonly string[], { env = {}, interruptAt, heard }: RunOptions = {}): Promise<Ended> {
  const child = spawn(KILN, args, { env: { ...testEnvironment(), LC_ALL: 'C.UTF-8', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  let interrupted = false;
  const interruptAtLast = (): void => {
    // Only once: a second Ctrl-C would end the process before its final output.
    if (interrupted || interruptAt === undefined || !(interruptAt.test(err) || interruptAt.test(out))) return;
    interrupted = true;
    child.kill('SIGINT');
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    heard?.(out);
    interruptAtLast();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    interruptAtLast();
  });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (exit) => done({ exit, out, err }));
  });
}
