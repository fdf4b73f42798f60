import { execFile } from 'node:child_process';

/** A program failed; `stderr` has the reason. */
export class ProgramError extends Error {
  override name = 'ProgramError';
  readonly code = 'PROGRAM_FAILED';
  readonly stderr: string;
  readonly exitCode: number | undefined;
  readonly stdout: string;

  constructor(message: string, stderr: string, exitCode: number | undefined, stdout = '') {
    super(message);
    this.stderr = stderr;
    this.exitCode = exitCode;
    this.stdout = stdout;
  }
}

/** Options for a program that runs to its end. */
export interface RunProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly timeoutMs?: number;
}

/**
 * Environment for a short-lived Go program such as kubectl. With the defaults a third of its processor time goes to a second thread and to
 * garbage collection.
 */
export const SHORT_GO_PROGRAM = { GOGC: 'off', GOMAXPROCS: '1' } as const;

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Runs a program to its end and returns its standard output. Throws `ProgramError` when it fails or takes too long. */
export async function runProgram(command: readonly [string, ...string[]], options: RunProgramOptions = {}): Promise<string> {
  const [program, ...args] = command;
  const { env, input, timeoutMs = 300_000 } = options;
  return await new Promise((resolve, reject) => {
    const settings = { env: env ?? process.env, timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES };
    const child = execFile(program, args, settings, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const reason = error.killed === true ? `no end after ${timeoutMs / 1000} s` : stderr.trim() || error.message;
      const exitCode = typeof error.code === 'number' ? error.code : undefined;
      reject(new ProgramError(`${command.join(' ')}: ${reason}`, stderr, exitCode, stdout));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}
