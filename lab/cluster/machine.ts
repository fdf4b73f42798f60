import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkNamespace } from '../node/namespace.ts';
import { Daemon } from '../programs/daemon.ts';
import { runProgram } from '../programs/run-program.ts';
import { Cgroups } from './cgroups.ts';

const INIT = join(import.meta.dirname, 'machine-init.sh');
const ENTER = join(import.meta.dirname, 'machine-enter.sh');

/**
 * A machine in the sense of a node: process ids, mounts (`/run`, `/var/lib` and `/var/log` are its own) and cgroups of its own, in a network
 * namespace. Whatever a program starts or mounts in it ends with it: containers, shims, volumes and the namespaces of pods.
 */
export class Machine {
  readonly #cgroups: Cgroups;
  readonly #init: Daemon;
  /** Of its first process. */
  readonly #pid: number;

  private constructor(cgroups: Cgroups, init: Daemon, pid: number) {
    this.#cgroups = cgroups;
    this.#init = init;
    this.#pid = pid;
  }

  /**
   * @param directory on a disk: contents of `/var/lib` and `/var/log`
   * @throws DaemonError without the right to make namespaces and mounts
   */
  static async start(namespace: NetworkNamespace, role: string, directory: string): Promise<Machine> {
    await mkdir(directory, { recursive: true });
    const cgroups = Cgroups.create(role);
    const isolate = ['unshare', '--cgroup', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
    const enterCgroups = [
      '-c',
      'for folder in $1; do echo 0 > "$folder/cgroup.procs"; done; shift; exec "$@"',
      'join',
      cgroups.folders.join(' '),
    ];
    const init = new Daemon({
      name: `machine ${role}`,
      command: namespace.command('sh', ...enterCgroups, ...isolate, 'sh', INIT, directory, ...cgroups.folders),
      log: join(directory, 'machine.log'),
    });
    init.start();
    try {
      await init.waitUntil(() => existsSync(join(directory, 'ready')));
    } catch (error) {
      await init.kill('SIGKILL');
      await cgroups.delete();
      throw error;
    }
    const children = readFileSync(`/proc/${init.pid}/task/${init.pid}/children`, 'utf8');
    return new Machine(cgroups, init, Number.parseInt(children, 10));
  }

  /** The command that runs a program on it; the program is killed with the process of this command. */
  command(...program: readonly [string, ...string[]]): readonly [string, ...string[]] {
    const enter = ['nsenter', `--target=${this.#pid}`, '--net', '--mount', '--pid', '--cgroup', '--'] as const;
    return [...enter, 'sh', ENTER, 'setpriv', '--pdeathsig', 'KILL', '--', ...program];
  }

  /** Runs a program on it to its end and returns what it prints. */
  async run(...program: readonly [string, ...string[]]): Promise<string> {
    return await runProgram(this.command(...program), { timeoutMs: 120_000 });
  }

  /** Ends it as a power failure does. */
  async delete(): Promise<void> {
    await this.#init.kill('SIGKILL');
    await this.#cgroups.delete();
  }
}
