import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { progress, SetupError } from './report.ts';

/** How a program is run; its output goes to `log` and is shown only when it fails. */
export interface RunOptions {
  /** What is being done, for the person waiting: "compiling kube-apiserver". */
  readonly what: string;
  /** One of many short steps: prints nothing unless it fails. */
  readonly quiet?: boolean;
  readonly log: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const REMINDER_MS = 20_000;
const TAIL_LINES = 25;

/** Runs a program to its end, with a line of progress now and then. Throws `SetupError` with the end of its output. */
export async function run(program: string, args: readonly string[], options: RunOptions): Promise<void> {
  if (options.quiet !== true) progress(options.what);
  const begun = Date.now();
  const log = openSync(options.log, 'w');
  const child = spawn(program, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['ignore', log, log] });
  closeSync(log);
  const reminder = setInterval(() => {
    progress(`  still ${options.what} (${Math.round((Date.now() - begun) / 1000)} s)`);
  }, REMINDER_MS);
  const failure = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `it ended with ${code ?? signal}`));
  });
  clearInterval(reminder);
  if (failure === undefined) return;
  const tail = readFileSync(options.log, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
  throw new SetupError(`${options.what} failed (${program}: ${failure})\n${tail}`);
}
