/** A process that the agent takes for kubelet: its name, its namespace, and a cgroup of its own. What runs in that cgroup is kubelet's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { cgroupMounts } from '../../src/agent/probes/cgroup-text.ts';
import { until } from '../../src/testing/until.ts';

export class KubeletOfTest implements AsyncDisposable {
  readonly #namespace: NetworkNamespace;
  readonly #folder: string;
  readonly #cgroup: string;
  readonly #child: ChildProcess;

  private constructor(namespace: NetworkNamespace, folder: string, cgroup: string, child: ChildProcess) {
    this.#namespace = namespace;
    this.#folder = folder;
    this.#cgroup = cgroup;
    this.#child = child;
  }

  /** @throws Error on a machine without cgroups of version 2 */
  static async start(namespace: NetworkNamespace): Promise<KubeletOfTest> {
    const mount = cgroupMounts(await readFile('/proc/self/mountinfo', 'utf8')).find(({ version }) => version === 2);
    if (mount === undefined) throw new Error('there are no cgroups of version 2');
    const folder = await mkdtemp(join(tmpdir(), 'kiln-kubelet-'));
    const cgroup = join(mount.at, `${namespace.name}-kubelet`);
    await mkdir(cgroup);
    const program = join(folder, 'kubelet');
    await copyFile('/bin/sleep', program);
    const child = spawn('sh', ['-c', `echo $$ > ${cgroup}/cgroup.procs; exec ${namespace.command(program, '3600').join(' ')}`]);
    const named = async (): Promise<boolean> => (await readFile(`/proc/${child.pid}/comm`, 'utf8')).trim() === 'kubelet';
    await until('it runs', named);
    return new KubeletOfTest(namespace, folder, cgroup, child);
  }

  /** Runs a program as a child of kubelet. @returns what it prints */
  async run(...program: readonly [string, ...string[]]): Promise<string> {
    const entered = ['sh', '-c', `echo $$ > ${this.#cgroup}/cgroup.procs; exec "$@"`, 'sh', ...program] as const;
    return await runProgram(this.#namespace.command(...entered), { timeoutMs: 60_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
    await until('its cgroup is empty', async () => (await readFile(join(this.#cgroup, 'cgroup.procs'), 'utf8')) === '');
    await rmdir(this.#cgroup);
    await rm(this.#folder, { recursive: true });
  }
}
