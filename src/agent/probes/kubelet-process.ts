/**
 * Kubelet among the processes of the node, and what tells its connections from those of others. A process that only has the name is not it: a
 * container may run one as root, but never outside of the cgroups of pods.
 */
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import type { Programs } from '../kernel/programs.ts';
import type { KubeletMark } from '../world/probe.ts';
import { type CgroupMount, cgroupMounts, cgroupPath } from './cgroup-text.ts';

/** Of the process; k3s and MicroK8s have kubelet in a process of their own. */
const NAMES: ReadonlySet<string> = new Set(['kubelet', 'kubelite', 'k3s-server', 'k3s-agent', 'k3s']);
/** Cgroups of pods, of every driver and version. */
const OF_PODS = /kubepods/;

export interface KubeletProcess {
  readonly pid: number;
  /** Its words. */
  readonly command: readonly string[];
}

export interface ProcessesOptions {
  readonly programs: Pick<Programs, 'run'>;
  /** Where processes are shown. */
  readonly proc: string;
}

/** Undefined: none is seen. The first of several. */
export async function findKubelet({ programs, proc }: ProcessesOptions): Promise<KubeletProcess | undefined> {
  const own = await programs.run(['readlink', '/proc/self/ns/net']);
  if (!own.ok) return undefined;
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids.toSorted((a, b) => a - b)) {
    const folder = `${proc}/${pid}`;
    const name = await textOf(`${folder}/comm`);
    if (!NAMES.has(name.trim())) continue;
    const [status, cgroups, namespace] = await Promise.all([
      textOf(`${folder}/status`),
      textOf(`${folder}/cgroup`),
      readlink(`${folder}/ns/net`).catch(() => ''),
    ]);
    if (!/^Uid:\s+0\s/m.test(status) || cgroups === '' || OF_PODS.test(cgroups) || namespace !== own.output.trim()) continue;
    return { pid, command: (await textOf(`${folder}/cmdline`)).split('\0').slice(0, -1) };
  }
  return undefined;
}

export async function markOf(process: KubeletProcess | undefined, { programs, proc }: ProcessesOptions): Promise<KubeletMark> {
  if (process === undefined)
    return { kind: 'none', reason: 'the agent sees no process of kubelet on this node: its pod needs hostPID: true (deploy/agent.yaml)' };
  const folder = `${proc}/${process.pid}`;
  const namespace = `${folder}/ns/cgroup`;
  // Seen from its own namespace: elsewhere the file has paths with `..`.
  const shown = await programs.run(['nsenter', `--cgroup=${namespace}`, '--', 'cat', `${folder}/cgroup`]);
  const mounts = cgroupMounts(await textOf(`${folder}/mountinfo`));
  const cgroups = shown.ok ? shown.output : '';
  const byVersion2 = await cgroupMark(folder, mounts, cgroupPath(cgroups, ''), namespace);
  return (
    byVersion2 ??
    (await classMark(folder, mounts, cgroupPath(cgroups, 'net_cls'))) ?? {
      kind: 'none',
      reason: `kubelet (process ${process.pid}) is in no cgroup of its own, so nothing tells its connections from those of other programs; start it as a service of systemd, or give it a class of net_cls (docs/operate/node-agent.md)`,
    }
  );
}

async function cgroupMark(
  folder: string,
  mounts: readonly CgroupMount[],
  path: string | undefined,
  namespace: string,
): Promise<KubeletMark | undefined> {
  const mount = mounts.find(({ version }) => version === 2);
  if (!isOwn(path) || mount === undefined) return undefined;
  const file = `${folder}/root${mount.at}${path}`;
  const id = await stat(file, { bigint: true }).then(
    ({ ino }) => String(ino),
    () => undefined,
  );
  return id === undefined ? undefined : { kind: 'cgroup', path: path.slice(1), file: `../../..${file}`, id, namespace };
}

async function classMark(folder: string, mounts: readonly CgroupMount[], path: string | undefined): Promise<KubeletMark | undefined> {
  const mount = mounts.find(({ controllers }) => controllers.includes('net_cls'));
  if (!isOwn(path) || mount === undefined) return undefined;
  const id = Number((await textOf(`${folder}/root${mount.at}${path}/net_cls.classid`)).trim());
  return id > 0 ? { kind: 'class', id } : undefined;
}

/** The root, and a slice as a whole, have other programs too. */
function isOwn(path: string | undefined): path is string {
  // nft has the path within quotes.
  return path !== undefined && path !== '/' && !path.endsWith('.slice') && !/["\\\n]/.test(path);
}

async function textOf(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}
