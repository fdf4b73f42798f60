/** A program that a member runs for as long as it runs itself. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '../runtime/log.ts';
import type { Command } from './databases.ts';

/** Between the end of a program and its next start. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A program that ran for so long had started well. */
const WELL_MS = 60_000;
/** A server writes what it has, and hands its leadership over. */
const TERMINATE_MS = 15_000;

/** Starts it again when it ends. Its output is that of this process. */
export class ChildProgram {
  readonly #name: string;
  readonly #log: Log;
  #command: Command | undefined;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = PAUSE_MS;

  constructor(name: string, log: Log) {
    this.#name = name;
    this.#log = log;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  /** Without effect if it runs with this command already; a program with another command is ended first. */
  async run(command: Command): Promise<void> {
    if (this.#command?.join('\0') === command.join('\0')) return;
    await this.stop();
    this.#command = command;
    this.#start(command);
  }

  async stop(): Promise<void> {
    this.#command = undefined;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) return;
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), TERMINATE_MS);
    await ended;
    clearTimeout(timer);
  }

  #start(command: Command): void {
    const [program, ...args] = command;
    const begun = performance.now();
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    this.#child = child;
    child.once('error', (error) => this.#log.error('a program cannot be started', { program: this.#name, error: error.message }));
    child.once('close', (code, signal) => {
      if (this.#child === child) this.#child = undefined;
      if (this.#command !== command) return;
      this.#pause = performance.now() - begun > WELL_MS ? PAUSE_MS : Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
      this.#log.error('a program ended; it starts again', { program: this.#name, code, signal, afterMs: this.#pause });
      this.#timer = setTimeout(() => this.#start(command), this.#pause);
    });
  }
}

const TOOL_MS = 60_000;

/** Runs a tool to its end. @throws Error with what it printed on standard error */
export async function runTool([program, ...args]: Command): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(program, args, { timeout: TOOL_MS }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${program} failed: ${stderr.trim() || error.message}`)),
    );
  });
}
