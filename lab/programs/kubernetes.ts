import { join } from 'node:path';
import { cacheDirectory, type Environment } from '../../src/runtime/cache-directory.ts';
import { isExecutable, onPath } from './executable.ts';

/** The programs of a real control plane and of its nodes; `kubectl` is for users and tests. */
export type KubernetesProgram =
  'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubelet' | 'kube-proxy' | 'kubectl';

/** A release that the set-up builds, and the programs of the build in the cache. */
export interface KubernetesBuild {
  readonly version: string;
  /** The number of the build recipe (overlay, flags): a new recipe uses a new folder in the cache. */
  readonly recipe: number;
  readonly programs: readonly KubernetesProgram[];
}

/**
 * The current release is built from Go modules, the oldest supported one from Debian's sources. The programs of nodes are a build of their own:
 * few tests need them.
 */
export const KUBERNETES_BUILDS = {
  current: { version: '1.34.4', recipe: 1, programs: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] },
  oldest: { version: '1.20.2', recipe: 1, programs: ['kube-apiserver', 'kube-controller-manager'] },
  nodes: { version: '1.34.4', recipe: 1, programs: ['kubelet', 'kube-proxy'] },
} as const satisfies Readonly<Record<string, KubernetesBuild>>;
export type KubernetesBuildName = keyof typeof KUBERNETES_BUILDS;

/** In order of preference. */
const NAMES = ['current', 'oldest'] as const satisfies readonly KubernetesBuildName[];

/** The folder of the build in the cache. */
export function kubernetesBuildDirectory(name: KubernetesBuildName, env: Environment = process.env): string {
  const { version, recipe } = KUBERNETES_BUILDS[name];
  return join(cacheDirectory(env), `kubernetes-${name === 'nodes' ? 'nodes-' : ''}${version}-${recipe}`);
}

/** The variable with the path of a program, as in envtest: `TEST_ASSET_KUBE_APISERVER`. */
export function assetVariable(program: KubernetesProgram): string {
  return `TEST_ASSET_${program.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Finds a program: `TEST_ASSET_<PROGRAM>`, `$KUBEBUILDER_ASSETS/<program>` (both conventions of envtest), PATH, then the builds in the
 * cache. A variable that does not name an executable file is ignored.
 * With `TEST_KUBERNETES=current` or `oldest`, its programs come only from that build.
 */
export function findKubernetesProgram(program: KubernetesProgram, env: Environment = process.env): string | undefined {
  const wanted = wantedBuild(env);
  if (wanted !== undefined && isBuilt(wanted, program)) return inBuild(wanted, program, env);
  const asset = env[assetVariable(program)];
  if (asset && isExecutable(asset)) return asset;
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets && isExecutable(join(assets, program))) return join(assets, program);
  const found = onPath(program, env);
  const builds = wanted === undefined ? NAMES.filter((name) => inBuild(name, 'kube-apiserver', env) !== undefined) : [wanted];
  // A distribution's etcd may be too old for the API server of the build, which therefore has its own.
  const own = wanted === undefined && onPath('kube-apiserver', env) === undefined ? builds.slice(0, 1) : [];
  const etcd = program === 'etcd' ? own.map((name) => inBuild(name, program, env)).at(0) : undefined;
  return (
    etcd ?? found ?? [...builds, ...NAMES, 'nodes' as const].map((name) => inBuild(name, program, env)).find((path) => path !== undefined)
  );
}

/** The build that `TEST_KUBERNETES` names. Throws `RangeError` for an unknown name. */
function wantedBuild(env: Environment): KubernetesBuildName | undefined {
  const name = env['TEST_KUBERNETES'];
  if (!name) return undefined;
  const found = NAMES.find((known) => known === name);
  if (found === undefined) throw new RangeError(`TEST_KUBERNETES is "${name}", not one of ${NAMES.join(', ')}`);
  return found;
}

function isBuilt(name: KubernetesBuildName, program: KubernetesProgram): boolean {
  const { programs }: KubernetesBuild = KUBERNETES_BUILDS[name];
  return programs.includes(program);
}

function inBuild(name: KubernetesBuildName, program: KubernetesProgram, env: Environment): string | undefined {
  const path = join(kubernetesBuildDirectory(name, env), program);
  return isExecutable(path) ? path : undefined;
}
