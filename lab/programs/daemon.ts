import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onPath } from './executable.ts';
import { openPrivate } from '../../src/runtime/private-file.ts';

/** The program to run. The log has its standard output and standard error, and is appended to across restarts. */
export interface DaemonOptions {
  /** The name in messages: "ovsdb-server of the Northbound database". */
  readonly name: string;
  /** The program and its arguments, one element each; no shell reads them. */
  readonly command: readonly [string, ...string[]];
  readonly log: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A daemon did not start, or ended by itself before it was ready. */
export class DaemonError extends Error {
  override name = 'DaemonError';
  readonly code = 'DAEMON_FAILED';
}

const LOG_TAIL_LINES = 20;
const TERMINATE_MS = 10_000;

/** Killed when this process exits. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * A program in the foreground as a direct child of this process, which never outlives it: on Linux the kernel kills the child when the
 * parent dies for any reason; elsewhere it ends at the parent's exit. It has its own session, so Ctrl-C in a terminal reaches only the
 * parent, which stops its children in the right order.
 */
export class Daemon {
  readonly #options: DaemonOptions;
  #child: ChildProcess | undefined;

  constructor(options: DaemonOptions) {
    this.#options = options;
  }

  /** The process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the program; without effect while it runs. The caller finds out when it is ready. */
  start(): void {
    if (this.#child !== undefined) return;
    const { command, cwd, env, log } = this.#options;
    const [program, ...args] = diesWithParent(command);
    const output = openPrivate(log, 'a');
    const child = spawn(program, args, { cwd, env: env ?? process.env, stdio: ['ignore', output, output], detached: true });
    closeSync(output);
    this.#child = child;
    running.add(child);
    const forget = (): void => {
      running.delete(child);
      if (this.#child === child) this.#child = undefined;
    };
    child.once('exit', forget);
    child.once('error', forget);
  }

  /** Polls `probe` until it returns true. Throws `DaemonError` when the program ends first, or after `timeoutMs`. */
  async waitUntil(probe: () => Promise<boolean> | boolean, timeoutMs = 120_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
      if (this.#child === undefined) throw this.#failure('ended before it was ready');
      if (await probe()) return;
      if (performance.now() > deadline) throw this.#failure(`was not ready after ${timeoutMs / 1000} s`);
      await sleep(pause);
    }
  }

  /** Sends a signal; if the signal ends the program, waits for its end. Without effect if it does not run. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    if (signal !== 'SIGKILL' && signal !== 'SIGTERM' && signal !== 'SIGINT') {
      child.kill(signal);
      return;
    }
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Ends the program gracefully, or with SIGKILL after ten seconds. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const timer = setTimeout(() => child.kill('SIGKILL'), TERMINATE_MS);
    await this.kill('SIGTERM');
    clearTimeout(timer);
  }

  #failure(what: string): DaemonError {
    const { name, log } = this.#options;
    const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
    return new DaemonError(`${name} ${what}; the end of ${log}:\n${tail}`);
  }
}

let guard: readonly string[] | undefined;

/** setpriv (util-linux) can request that the kernel kill a program when its parent dies. */
function diesWithParent(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (guard === undefined) {
    const setpriv = process.platform === 'linux' ? onPath('setpriv') : undefined;
    guard = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
  }
  const [program = command[0], ...args] = [...guard, ...command];
  return [program, ...args];
}
