/** A lab in a process that can be killed, and started again over the same folder. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../lab/programs/free-port.ts';
import type { DurableServer } from '../list-watch.ts';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

export class LabProcess implements DurableServer {
  readonly #directory: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.#port = port;
  }

  static async start(): Promise<LabProcess> {
    const [port = 0] = await freePorts(1);
    const lab = new LabProcess(await mkdtemp(join(tmpdir(), 'kiln-lab-process-')), port);
    await lab.recover();
    return lab;
  }

  get kubeconfig(): string {
    return join(this.#directory, 'kubeconfig');
  }

  async crash(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** @throws Error if the lab does not start. */
  async recover(): Promise<void> {
    const child = fork(RUN, [this.#directory, String(this.#port)], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child = child;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the lab ended with ${String(code)} before it served`);
    });
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined);
  }

  async stop(): Promise<void> {
    await this.crash();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
