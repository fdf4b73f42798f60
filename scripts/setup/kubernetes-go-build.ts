/**
 * Builds a current Kubernetes from Go modules, for machines that have Go: the control plane with its etcd, the programs of nodes, CoreDNS and Helm.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onPath } from '../../lab/programs/executable.ts';
import { HELM_BUILD } from '../../lab/programs/helm.ts';
import { KUBERNETES_BUILDS } from '../../lab/programs/kubernetes.ts';
import { goBuildCache } from './go-build-cache.ts';
import { progress, SetupError } from './report.ts';
import { run } from './run.ts';

const MODULE = join(import.meta.dirname, 'kubernetes-module');
const COREDNS_MODULE = join(import.meta.dirname, 'coredns-module');
const HELM_MODULE = join(import.meta.dirname, 'helm-module');
const { version } = KUBERNETES_BUILDS.current;
const SOURCES: Readonly<Record<string, string>> = { etcd: 'go.etcd.io/etcd/server/v3' };

/** A program, and the package that it is built from. */
interface GoProgram {
  readonly name: string;
  readonly source: string;
  /** What makes it print its version, where that is not `--version`. */
  readonly version?: string;
}

/** Builds the control plane into `folder`, which has nothing else. About six minutes on two cores, 2 GB of disk meanwhile. */
export async function buildCurrentKubernetes(folder: string): Promise<void> {
  await buildPrograms(folder, MODULE, programsOf('current'), KUBERNETES_FLAGS);
}

/** As `buildCurrentKubernetes`: kubelet and kube-proxy. */
export async function buildNodePrograms(folder: string): Promise<void> {
  await buildPrograms(folder, MODULE, programsOf('nodes'), KUBERNETES_FLAGS);
}

/** As `buildCurrentKubernetes`: CoreDNS. */
export async function buildCoredns(folder: string): Promise<void> {
  await buildPrograms(folder, COREDNS_MODULE, [{ name: 'coredns', source: '.' }], '');
}

/** As `buildCurrentKubernetes`: Helm. A minute of two cores where nothing of Kubernetes was compiled before. */
export async function buildHelm(folder: string): Promise<void> {
  await buildPrograms(folder, HELM_MODULE, [{ name: 'helm', source: 'helm.sh/helm/v3/cmd/helm', version: 'version' }], HELM_FLAGS);
}

const KUBERNETES_FLAGS = ` -X k8s.io/component-base/version.gitVersion=v${version}`;

/** Its own version, and the Kubernetes that `helm template` and `helm lint` without a cluster take for granted. */
const HELM_FLAGS = [
  `internal/version.version=v${HELM_BUILD.version}`,
  ...['chartutil', 'lint/rules'].flatMap((part) => [
    `pkg/${part}.k8sVersionMajor=1`,
    `pkg/${part}.k8sVersionMinor=${version.split('.')[1]}`,
  ]),
]
  .map((one) => ` -X helm.sh/helm/v3/${one}`)
  .join('');

function programsOf(build: 'current' | 'nodes'): readonly GoProgram[] {
  return KUBERNETES_BUILDS[build].programs.map((name) => ({ name, source: SOURCES[name] ?? `k8s.io/kubernetes/cmd/${name}` }));
}

async function buildPrograms(folder: string, module: string, programs: readonly GoProgram[], linkerFlags: string): Promise<void> {
  const work = join(folder, 'work');
  await mkdir(work);
  const env = goEnvironment(goBuildCache());
  const log = join(work, 'log');
  for (const { name, source, version: printed = '--version' } of programs) {
    const output = join(folder, name);
    const flags = ['-trimpath', '-ldflags', `-s -w${linkerFlags}`];
    await run('nice', ['go', 'build', ...flags, '-o', output, source], { what: `compiling ${name}`, log, cwd: module, env });
    await run(output, [printed], { what: `checking ${name}`, log });
    progress(`  ${(await readFile(log, 'utf8')).trim().split('\n')[0] ?? ''}`);
  }
  await rm(work, { recursive: true });
}

/** Throws a `SetupError` that says why if the modules cannot be built; `what` is what the caller builds. All modules need one Go. */
export function requireGo(what = `Kubernetes ${version}`): void {
  const needed = /^go (\d+\.\d+)/m.exec(readFileSync(join(MODULE, 'go.mod'), 'utf8'))?.[1] ?? '';
  const why = `${what} is built with Go ${needed} or newer`;
  if (onPath('go') === undefined) throw new SetupError(`${why}, and there is no Go in PATH`);
  // If Go may download the release that the module asks for, it does so, and reports that one.
  const { stdout, stderr, status } = spawnSync('go', ['env', 'GOVERSION'], { cwd: MODULE, env: goEnvironment(), encoding: 'utf8' });
  const found = /^go(\d+)\.(\d+)/.exec(stdout);
  if (status !== 0 || found === null) throw new SetupError(`${why}: ${stderr.trim()}`);
  const [major = 0, minor = 0] = needed.split('.').map(Number);
  if (Number(found[1]) < major || (Number(found[1]) === major && Number(found[2]) < minor))
    throw new SetupError(`${why}, and the one in PATH is ${stdout.trim()}`);
}

/** The user's variables that would change the program that is built. Those for proxies, caches and toolchains keep their effect. */
const OTHER_BUILD: ReadonlySet<string> = new Set([
  'GOOS',
  'GOARCH',
  'GOAMD64',
  'GO111MODULE',
  'GOEXPERIMENT',
  'GODEBUG',
  'GOWORK',
  'GOFLAGS',
]);

function goEnvironment(buildCache?: string): Readonly<Record<string, string | undefined>> {
  const inherited = Object.entries(process.env).filter(([name]) => !OTHER_BUILD.has(name));
  const cache = buildCache === undefined ? {} : { GOCACHE: buildCache };
  return { ...Object.fromEntries(inherited), ...cache, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false', GOWORK: 'off' };
}
