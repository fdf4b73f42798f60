import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { HostedCommand } from './command-host.ts';
import type { Ended } from './command-lab.ts';

const HOST = join(import.meta.dirname, 'command-host.ts');

/** Processes that run commands, as many as run at a time; each goes on with the next one. */
export class CommandHosts implements AsyncDisposable {
  readonly #all: ChildProcess[] = [];
  readonly #free: ChildProcess[] = [];

  async run(command: HostedCommand): Promise<Ended> {
    const host = this.#free.pop() ?? this.#start();
    const ended = await new Promise<Ended>((done, fail) => {
      const died = (code: number | null, signal: string | null): void =>
        fail(new Error(`kiln ${command.args.join(' ')} ended the process it ran in with ${signal ?? code}`));
      host.once('exit', died);
      host.once('message', (message) => {
        host.off('exit', died);
        done(message as Ended);
      });
      host.send(command);
    });
    this.#free.push(host);
    return ended;
  }

  #start(): ChildProcess {
    const host = fork(HOST, [], {
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#all.push(host);
    return host;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#all.map(async (host) => {
        const ended = host.exitCode === null && host.signalCode === null ? once(host, 'exit') : undefined;
        host.kill('SIGKILL');
        await ended;
      }),
    );
  }
}
