import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

/** The end of a program of the host. */
export type Ran =
  | { readonly ok: true; readonly output: string }
  /** `message` is what it printed on standard error. */
  | { readonly ok: false; readonly message: string };

/** Runs programs of the host: arguments are a list, and no shell reads them. */
export interface Programs {
  run(command: readonly [string, ...string[]], input?: string): Promise<Ran>;
  /** Between two programs. */
  sleep(ms: number): Promise<void>;
}

const TIMEOUT_MS = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;

export const hostPrograms: Programs = {
  sleep: (ms) => setTimeout(ms),
  run: async ([program, ...args], input = '') =>
    await new Promise((resolve) => {
      const child = execFile(program, args, { timeout: TIMEOUT_MS, maxBuffer: MOST_BYTES }, (error, stdout, stderr) => {
        if (error === null) resolve({ ok: true, output: stdout });
        else
          resolve({ ok: false, message: stderr.trim() || (error.killed === true ? `no end after ${TIMEOUT_MS / 1000} s` : error.message) });
      });
      // It may end before it has read all.
      child.stdin?.on('error', () => {});
      child.stdin?.end(input);
    }),
};

/** The command in a network namespace. Unlike `ip netns exec`, `nsenter` leaves mounts as they are. */
export function inNamespace(path: string, ...command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return ['nsenter', `--net=${path}`, '--', ...command];
}
